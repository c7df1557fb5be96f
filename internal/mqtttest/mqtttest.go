// Package mqtttest starts mosquitto, the MQTT broker of Debian, and its clients, for tests
// of what speaks MQTT. Outside CI tests without them are skipped by name.
package mqtttest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/clocktest"
)

// patience is for what takes milliseconds on an idle machine.
const patience = time.Minute

// Need skips a test, loudly, where the programs are missing; in CI it fails.
func Need(t testing.TB) {
	t.Helper()
	os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+"/usr/sbin") // where Debian has mosquitto
	for _, program := range []string{"mosquitto", "mosquitto_pub", "mosquitto_sub"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%v; Try: apt-get install mosquitto mosquitto-clients", err)
			}
			t.Skipf("SKIPPED %s: %v; the packages mosquitto and mosquitto-clients have it", t.Name(), err)
		}
	}
}

// FreePort returns a port of the loopback address on which nobody listens.
func FreePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// Broker is a mosquitto on the loopback address that keeps what it has to in a folder.
type Broker struct {
	t    testing.TB
	Port int
	Dir  string
	cmd  *exec.Cmd
	log  bytes.Buffer
}

// Start starts a mosquitto with further lines of configuration; without any, everybody may
// do everything. It is killed at the end of the test.
func Start(t testing.TB, lines ...string) *Broker {
	t.Helper()
	return StartAt(t, FreePort(t), lines...)
}

// StartAt is Start at a port of one's own choosing.
func StartAt(t testing.TB, port int, lines ...string) *Broker {
	t.Helper()
	b := NewAt(t, port, lines...)
	b.Restart()
	return b
}

// NewAt is StartAt for a broker that Restart starts.
func NewAt(t testing.TB, port int, lines ...string) *Broker {
	t.Helper()
	Need(t)
	b := &Broker{t: t, Port: port, Dir: t.TempDir()}
	if len(lines) == 0 {
		lines = []string{"allow_anonymous true"}
	}
	own := []string{
		fmt.Sprintf("listener %d 127.0.0.1", b.Port), "persistence true", "persistence_location " + b.Dir + "/",
		"autosave_interval 1", "autosave_on_changes true",
	}
	if os.Geteuid() == 0 {
		own = append(own, "user root") // the folder of the test is its
	}
	text := strings.Join(append(own, lines...), "\n") + "\n"
	if err := os.WriteFile(filepath.Join(b.Dir, "mosquitto.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	return b
}

// Restart starts the broker, at the same address and with what it kept, and waits until it
// takes connections.
func (b *Broker) Restart() {
	b.t.Helper()
	b.cmd = exec.Command("mosquitto", "-c", filepath.Join(b.Dir, "mosquitto.conf"))
	b.cmd.Stderr = &b.log
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	Await(b.t, "mosquitto takes connections", func() bool {
		conn, err := net.Dial("tcp", b.Addr())
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// Kill kills the broker, as kill -9 does.
func (b *Broker) Kill() {
	if b.cmd != nil {
		b.cmd.Process.Kill()
		b.cmd.Wait()
		b.cmd = nil
	}
}

// Saved waits until the broker has saved what it knows now: it does so when something
// changes, a moment later.
func (b *Broker) Saved() {
	b.t.Helper()
	asked := time.Now()
	Await(b.t, "mosquitto has saved what it knows", func() bool {
		if err := b.cmd.Process.Signal(save); err != nil {
			b.t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(b.Dir, "mosquitto.db"))
		return err == nil && info.ModTime().After(asked)
	})
}

// Addr is the address of the broker.
func (b *Broker) Addr() string { return fmt.Sprintf("127.0.0.1:%d", b.Port) }

// Pub runs mosquitto_pub and returns what it says. Exit codes are errors.
func (b *Broker) Pub(args ...string) (string, error) { return Pub(b.Port, args...) }

// Sub runs mosquitto_sub and returns what it says.
func (b *Broker) Sub(args ...string) (string, error) { return Sub(b.Port, args...) }

// Pub runs mosquitto_pub with a broker at a port of this machine.
func Pub(port int, args ...string) (string, error) { return run("mosquitto_pub", port, args) }

// Sub runs mosquitto_sub with a broker at a port of this machine. Without -W it may run
// for half a minute.
func Sub(port int, args ...string) (string, error) { return run("mosquitto_sub", port, args) }

func run(program string, port int, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	all := append([]string{"-h", "localhost", "-p", fmt.Sprint(port)}, args...)
	out, err := exec.CommandContext(ctx, program, all...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", program, strings.Join(all, " "), err, out)
	}
	return string(out), err
}

// Await waits until something is so, half a minute at most.
func Await(t testing.TB, what string, done func() bool) {
	t.Helper()
	for from := time.Now(); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Since(from) > patience {
			clocktest.Need(t)
			t.Fatalf("not after %v: %s", patience, what)
		}
	}
}
