package box_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/mat"
)

// Limits of the small program.
const (
	mostBinary   = 20 << 20 // bytes, stripped
	mostResident = 30 << 20
)

// program builds wdgnn-agent as it is released.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skipf("SKIPPED %s: it starts processes, and -short is set", t.Name())
	}
	if native, err := exec.Command("go", "env", "GOHOSTARCH").Output(); err == nil && strings.TrimSpace(string(native)) != runtime.GOARCH {
		t.Skipf("SKIPPED %s: an emulated test cannot start programs", t.Name())
	}
	path := filepath.Join(t.TempDir(), "wdgnn-agent")
	args := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", path}
	if mat.Family() == "portable" { // the same bits as in this process
		args = append(args, "-tags", "purego")
	}
	build := exec.Command("go", append(args, "github.com/wdgnn/wdgnn/cmd/wdgnn-agent")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// process is wdgnn-agent, running.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out chan spoken
	log syncBuffer
}

// syncBuffer keeps what a process logs.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func launch(t *testing.T, path, config string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(path, "--config", config), out: make(chan spoken, 1000)}
	p.Stderr = &p.log
	var err error
	p.in, err = p.StdinPipe()
	check(t, err)
	out, err := p.StdoutPipe()
	check(t, err)
	check(t, p.Start())
	t.Cleanup(func() { p.Process.Kill() })
	go func() {
		defer close(p.out)
		for s := bufio.NewScanner(out); s.Scan(); {
			var line spoken
			if json.Unmarshal(s.Bytes(), &line) == nil && line.Report == nil {
				p.out <- line
			}
		}
	}()
	return p
}

// answer returns the next answer, and false at the end.
func (p *process) answer(t *testing.T) (*spoken, bool) {
	t.Helper()
	select {
	case s, ok := <-p.out:
		return &s, ok
	case <-time.After(patience):
		t.Fatalf("no answer; the process said: %s", p.log.String())
		return nil, false
	}
}

// resumed finds the step that a process begins with in its log.
var resumed = regexp.MustCompile(`msg=running .* next=(\d+)`)

// A process that is killed at any point and started again goes on from its
// checkpoint, and ends with the bits of one that was never killed.
func TestKill(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, false)
	c := f.config(0, 1)
	c.World = box.World{Kind: box.WorldLines}
	c.State, c.CheckpointEvery = "state", time.Millisecond
	path, config := program(t), f.write(t, c)
	if info, err := os.Stat(path); err != nil || info.Size() > mostBinary {
		t.Errorf("the program has %d bytes, want at most %d; %v", info.Size(), mostBinary, err)
	}
	kills := []int{0, 3, 7, 12, 18}
	for k, kill := range kills {
		p := launch(t, path, config)
		next := 0
		for s := range kill + 1 {
			io.WriteString(p.in, f.line(s, everybody()...)+"\n")
		}
		for { // what is behind the checkpoint is answered, the rest is stale
			a, ok := p.answer(t)
			if !ok {
				t.Fatalf("the process ended: %s", p.log.String())
			}
			next = int(a.Time) + 1
			if next > kill {
				break
			}
		}
		for began := time.Now(); k == len(kills)-1 && !checkpointed(f.path("state")); time.Sleep(time.Millisecond) {
			if time.Since(began) > patience { // a disk that others keep busy takes its time
				t.Fatalf("no checkpoint; the process said: %s", p.log.String())
			}
		}
		check(t, p.Process.Kill())
		p.Wait()
	}
	p := launch(t, path, config)
	for s := range steps {
		_, err := io.WriteString(p.in, f.line(s, everybody()...)+"\n")
		check(t, err)
	}
	for a, ok := p.answer(t); ok && a.Time < steps-1; a, ok = p.answer(t) {
	}
	checkResident(t, p.Process.Pid)
	check(t, p.Process.Signal(syscall.SIGTERM))
	check(t, p.Wait())
	m := resumed.FindStringSubmatch(p.log.String())
	if m == nil {
		t.Fatalf("the process does not say where it begins: %s", p.log.String())
	}
	if next, _ := strconv.Atoi(m[1]); next == 0 {
		t.Errorf("the process began anew, want from a checkpoint: %s", p.log.String())
	}
	f.reference(t).checkParams(t, f.memory(t, "state"))
}

// checkpointed says whether a state has a checkpoint: a file that is written whole and then renamed.
func checkpointed(state string) bool {
	paths, _ := filepath.Glob(filepath.Join(state, "snapshot-"+strings.Repeat("[0-9a-f]", 16)))
	return len(paths) > 0
}

// checkResident looks at the memory of a process, where the system shows it.
func checkResident(t *testing.T, pid int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Logf("memory not checked: %v", err)
		return
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("no VmHWM in %s", text)
	}
	kB, _ := strconv.Atoi(string(m[1]))
	t.Logf("largest resident size %d kB", kB)
	if kB<<10 > mostResident {
		t.Errorf("%d kB resident, want at most %d", kB, mostResident>>10)
	}
}
