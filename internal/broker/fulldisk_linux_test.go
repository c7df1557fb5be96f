package broker_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wdgnn/wdgnn/internal/mqtttest"
)

// A disk that is full takes nothing that would have to be kept, and the log says so. When there
// is room again the server takes it, and has what it had; it is where it was.
func TestMQTTFullDisk(t *testing.T) {
	mqtttest.Need(t)
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("SKIPPED %s: %v; it runs where a test may mount a small disk, such as for root", t.Name(), err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	s := newMQTTOn(t, 4<<20, filepath.Join(disk, "store"))
	var log lines
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { s.Follow(ctx, s.dir, slog.New(slog.NewTextHandler(&log, nil))) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	s.pub("box", "-q", "1", "-r", "-t", "answers/kept", "-m", "here")
	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	long := filepath.Join(t.TempDir(), "payload")
	if err := os.WriteFile(long, make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	mqtttest.Await(t, "the log says that the store cannot be written", func() bool {
		// With QoS 0 nobody waits for the store. A server that is busy with it may also end the connection, as refusals go.
		_, _ = mqtttest.Pub(s.port, s.as("box", "-r", "-t", "answers/lost", "-f", long)...)
		return strings.Contains(log.String(), "cannot be written")
	})
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	mqtttest.Await(t, "the store is taken up again", func() bool { return strings.Contains(log.String(), "can be written again") })
	s.pub("box", "-q", "1", "-r", "-t", "answers/later", "-m", "too")
	for topic, want := range map[string]string{"answers/kept": "here\n", "answers/later": "too\n"} {
		if out, err := mqtttest.Sub(s.port, s.as("box", "-t", topic, "-C", "1", "-W", "20")...); err != nil || out != want {
			t.Errorf("%s: got %q (%v), want %q", topic, out, err, want)
		}
	}
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
}

// lines is a log that tests read.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
