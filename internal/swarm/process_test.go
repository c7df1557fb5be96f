package swarm

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// Processes that do not end when they are told to are killed, however many, and
// one that failed on its own is not forgotten.
func TestProcessesClose(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it starts processes, and -short is set", t.Name())
	}
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skipf("SKIPPED %s: %v", t.Name(), err)
	}
	p := newProcesses(t.TempDir(), func(id transport.HostID) *exec.Cmd {
		cmd := exec.Command("sleep", "600")
		if id == 0 {
			cmd = exec.Command("sleep", "nonsense") // it fails
		}
		Share(cmd, 4)
		return cmd
	})
	for id := range transport.HostID(4) {
		if err := p.start(id); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(p.ports()); n != 0 {
		t.Errorf("%d hosts hear the world, want none before their first report", n)
	}
	for began := time.Now(); p.running() == 4; time.Sleep(time.Millisecond) {
		if time.Since(began) > fieldTimeout {
			t.Fatal("the process that fails does not end")
		}
	}
	if err := p.kill(1); err != nil {
		t.Error(err)
	}
	began := time.Now()
	err := p.close(50 * time.Millisecond)
	if took := time.Since(began); took > fieldTimeout/2 {
		t.Errorf("close took %v, want 50 ms and a little", took)
	}
	if err == nil || !strings.Contains(err.Error(), "host 0: exit status") || !strings.Contains(err.Error(), "host 2: signal") ||
		strings.Contains(err.Error(), "host 1") {
		t.Errorf("got %v, want how hosts 0, 2 and 3 ended", err)
	}
}
