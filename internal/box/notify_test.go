package box_test

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
)

// A supervisor hears that a box is ready, that it turns, and that it stops.
func TestSupervisor(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, true)
	socket := filepath.Join(f.dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	check(t, err)
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	c := f.config(0, 1)
	c.World = box.World{Kind: box.WorldLines}
	k := open(t, f.load(t, c))
	check(t, conn.SetDeadline(time.Now().Add(patience)))
	hear := func(want string) {
		t.Helper()
		buffer := make([]byte, 100)
		n, err := conn.Read(buffer)
		check(t, err)
		if got := string(buffer[:n]); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	hear("READY=1")
	hear("WATCHDOG=1")
	k.stop()
	check(t, k.end())
	hear("STOPPING=1")
}
