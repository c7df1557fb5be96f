package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/clocktest"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// yard is five boxes of two nodes in a ring, nodes 0 to 9, as a user starts them, and a
// sixth that comes later. Each has a world of lines that speaks again when it is
// answered, and nobody else paces them.
type yard struct {
	*testing.T
	dir, bus  string
	server    string
	addresses []string
	boxes     []*yardBox
}

// yardBox is a process and its world.
type yardBox struct {
	yard  *yard
	id    int
	nodes atomic.Pointer[[]int] // that its world speaks of
	cmd   *exec.Cmd
	in    io.WriteCloser
	log   syncLog
	next  uint64        // step of the next line
	step  atomic.Int64  // the latest that was answered without an error
	spoke atomic.Int64  // outputs of that answer
	held  atomic.Bool   // its world says nothing
	done  chan struct{} // closed when its world has ended
}

// syncLog keeps what a process logs.
type syncLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *syncLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *syncLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newYard(t *testing.T, bus string) *yard {
	t.Helper()
	if testing.Short() {
		t.Skipf("SKIPPED %s: with -short no boxes are started; without, they are", t.Name())
	}
	y := &yard{T: t, dir: t.TempDir(), bus: bus, server: free(t)}
	for range 6 {
		y.addresses = append(y.addresses, free(t))
	}
	net, err := gnn.NewRandom(gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}}, random.Stream(1, "yard"))
	y.check(err)
	y.check(modelfile.Save(filepath.Join(y.dir, "model.safetensors"),
		&modelfile.Model{Network: net, Meta: modelfile.Meta{Shift: graph.ShiftRowStochastic, Task: "classify"}}))
	ring := "src,dst\n"
	for node := range 10 {
		ring += fmt.Sprintf("%d,%d\n", node, (node+1)%10)
	}
	y.check(os.WriteFile(filepath.Join(y.dir, "ring.csv"), []byte(ring), 0o644))
	return y
}

func (y *yard) check(err error) {
	y.Helper()
	if err != nil {
		y.Fatal(err)
	}
}

// wdgnn runs the program and returns what it printed.
func (y *yard) wdgnn(args ...string) string {
	y.Helper()
	dir, err := programs()
	y.check(err)
	cmd := exec.Command(filepath.Join(dir, "wdgnn"), args...)
	cmd.Dir = y.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		y.Fatalf("wdgnn %v: %v: %s", args, err, out)
	}
	return string(out)
}

// configure writes the file of a box, which lists so many hosts, with more.
func (y *yard) configure(id, hosts int, more string) {
	y.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "run: yard\nhost: %d\nhosts:\n", id)
	for h := range hosts {
		nodes := fmt.Sprintf("%d-%d", 2*h, 2*h+1)
		if h == 5 {
			nodes = "10-11"
		}
		fmt.Fprintf(&text, "  %d: {nodes: %s, address: %q}\n", h, nodes, y.addresses[h])
	}
	bus := "bus: {kind: tcp, keys: keys}\n"
	if y.bus == "nats" {
		bus = fmt.Sprintf("bus: {kind: nats, url: \"tls://%s\", keys: keys}\n", y.server)
	}
	fmt.Fprintf(&text, "model: model.safetensors\nlearn: {preset: paper}\n%sworld: {kind: lines}\n", bus)
	fmt.Fprintf(&text, "pace: {deadline: 300ms, first: 1m}\nstate: state-%d\ncheckpoint_every: 10ms\n%s", id, more)
	y.check(os.WriteFile(filepath.Join(y.dir, fmt.Sprintf("agent-%d.yaml", id)), []byte(text.String()), 0o644))
}

// start starts a box whose world begins at a step.
func (y *yard) start(id int, next uint64, nodes ...int) *yardBox {
	y.Helper()
	dir, err := programs()
	y.check(err)
	b := &yardBox{yard: y, id: id, next: next, done: make(chan struct{})}
	b.nodes.Store(&nodes)
	b.step.Store(-1)
	b.cmd = exec.Command(filepath.Join(dir, "wdgnn-agent"), "--config", fmt.Sprintf("agent-%d.yaml", id))
	b.cmd.Dir, b.cmd.Stderr = y.dir, &b.log
	b.in, err = b.cmd.StdinPipe()
	y.check(err)
	out, err := b.cmd.StdoutPipe()
	y.check(err)
	y.check(b.cmd.Start())
	y.Cleanup(b.kill)
	go b.live(out)
	return b
}

func (b *yardBox) kill() {
	b.cmd.Process.Kill()
	<-b.done
	b.cmd.Wait()
}

// live is the world of a box: a line, and the next when it is answered. A step that is
// refused is left out.
func (b *yardBox) live(out io.Reader) {
	defer close(b.done)
	b.say()
	for s := bufio.NewScanner(out); s.Scan(); {
		var a struct {
			host.Answer
			Report json.RawMessage `json:"report"`
		}
		if json.Unmarshal(s.Bytes(), &a) != nil || a.Report != nil {
			continue
		}
		if a.Error == "" {
			b.spoke.Store(int64(len(a.Outputs)))
			b.step.Store(int64(a.Time))
		}
		b.next = max(b.next, a.Time+1)
		b.say()
	}
}

// say writes a line of the world.
func (b *yardBox) say() {
	for b.held.Load() {
		time.Sleep(time.Millisecond)
	}
	l := host.Line{Time: b.next}
	for _, node := range *b.nodes.Load() {
		row := float32(math.Sin(float64(b.next)/7 + float64(node)))
		n := host.NodeLine{Node: agent.NodeID(node), Row: []float32{row}, Target: []float32{0}}
		if row > 0 {
			n.Target[0] = 1
		}
		l.Nodes = append(l.Nodes, n)
	}
	text, err := json.Marshal(&l)
	if err == nil {
		b.in.Write(append(text, '\n'))
	}
}

// await waits until all of something holds, by what is not yet so.
func (y *yard) await(what string, missing func() string) {
	y.Helper()
	from := time.Now()
	why := missing()
	for ; why != ""; why = missing() {
		if ended := y.ended(); ended || time.Since(from) > patience {
			if !ended {
				clocktest.Need(y)
			}
			for _, b := range y.boxes {
				y.Logf("box %d is at step %d: %s", b.id, b.step.Load(), tail(b.log.String()))
			}
			y.Fatalf("not after %v: %s: %s", patience, what, why)
		}
		time.Sleep(5 * time.Millisecond)
	}
	y.Logf("%.1f s: %s", time.Since(from).Seconds(), what)
}

// ended says whether a process has.
func (y *yard) ended() bool {
	return slices.ContainsFunc(y.boxes, func(b *yardBox) bool {
		select {
		case <-b.done:
			return true
		default:
			return false
		}
	})
}

// goOn waits until every box has made so many steps more.
func (y *yard) goOn(steps int64) {
	y.Helper()
	var from []int64
	for _, b := range y.boxes {
		from = append(from, b.step.Load())
	}
	y.await(fmt.Sprintf("%d boxes make %d steps", len(y.boxes), steps), func() string {
		for k, b := range y.boxes {
			if b.step.Load() < from[k]+steps {
				return fmt.Sprintf("box %d is at step %d", b.id, b.step.Load())
			}
		}
		return ""
	})
}

// logged waits until boxes have logged something.
func (y *yard) logged(boxes []*yardBox, words ...string) {
	y.Helper()
	y.await(strings.Join(words, " "), func() string {
		for _, b := range boxes {
			if !b.says(words...) {
				return fmt.Sprintf("box %d does not say so", b.id)
			}
		}
		return ""
	})
}

// says says whether one line of a box's log holds all words.
func (b *yardBox) says(words ...string) bool {
	for line := range strings.Lines(b.log.String()) {
		found := true
		for _, w := range words {
			found = found && strings.Contains(line, w)
		}
		if found {
			return true
		}
	}
	return false
}

// Five boxes run. A sixth joins with keys that were made while they did, a box gets one
// more node, one is killed and started again, and nobody else is.
func TestBoxesJoin(t *testing.T) {
	for _, bus := range []string{"nats", "tcp"} {
		t.Run(bus, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, bus)
			for id := range 5 {
				a, b := 2*id, 2*id+1
				y.configure(id, 5, fmt.Sprintf("links: {%d: [%d, %d], %d: [%d, %d]}\n", a, min(b, (a+9)%10), max(b, (a+9)%10),
					b, min(a, (b+1)%10), max(a, (b+1)%10)))
			}
			y.wdgnn("swarm", "keys", "--config", "agent-0.yaml", "--graph", "ring.csv", "--server", "127.0.0.1")
			if bus == "nats" {
				y.serve()
			}
			for id := range 5 {
				y.boxes = append(y.boxes, y.start(id, 0, 2*id, 2*id+1))
			}
			y.goOn(50)

			y.configure(5, 6, "links: {10: [0, 11], 11: [9, 10]}\n")
			t.Logf("%s", y.wdgnn("swarm", "keys", "join", "--config", "agent-5.yaml"))
			newcomer := y.start(5, 0, 10, 11)
			y.logged(y.boxes, "a host has joined", "host=5", "nodes=10-11")
			y.boxes = append(y.boxes, newcomer)
			y.logged([]*yardBox{y.boxes[0], y.boxes[4]}, "a node that came later is heard")
			y.goOn(50)

			newcomer.held.Store(true) // who has a link with it misses it, and only those
			y.logged([]*yardBox{y.boxes[0]}, "a neighbour is silent", "node=10")
			y.logged([]*yardBox{y.boxes[4]}, "a neighbour is silent", "node=11")
			newcomer.held.Store(false)
			y.logged([]*yardBox{y.boxes[0]}, "a neighbour is back", "node=10")

			y.wdgnn("swarm", "keys", "join", "--config", "agent-2.yaml", "--nodes", "12", "--links", "12-5,12-7")
			y.logged(y.boxes, "a host has joined", "host=2", "nodes=12")
			y.boxes[2].nodes.Store(&[]int{4, 5, 12})
			y.logged([]*yardBox{y.boxes[2]}, "nodes were made", "nodes=12")
			y.logged([]*yardBox{y.boxes[3]}, "a node that came later is heard", "node=12")
			y.goOn(20)
			if n := y.boxes[2].spoke.Load(); n != 3 {
				t.Errorf("box 2 answers for %d nodes, want 3", n)
			}

			y.boxes[0].kill()
			y.boxes[0] = y.start(0, uint64(y.boxes[0].step.Load())+1, 0, 1)
			y.logged(y.boxes[:1], "a host that joined is known", "host=5")
			y.goOn(50)
			y.collect()
		})
	}
}

// collect ends the boxes, and gathers what the nodes learned that were there from the
// start and those that came later.
func (y *yard) collect() {
	y.Helper()
	args := []string{"swarm", "collect", "--partial", "--model", "model.safetensors", "--out", "adapted.safetensors"}
	for _, b := range y.boxes {
		b.kill()
		args = append(args, fmt.Sprintf("state-%d", b.id))
	}
	if got := y.wdgnn(args...); !strings.Contains(got, "learned  13 nodes on 6 boxes") {
		y.Errorf("got %q, want what 13 nodes on 6 boxes learned", got)
	}
}

// serve starts a server with the keys.
func (y *yard) serve() {
	y.Helper()
	dir, err := programs()
	y.check(err)
	cmd := exec.Command(filepath.Join(dir, "wdgnn"), "swarm", "server", "--keys", "keys", "--addr", y.server)
	cmd.Dir = y.dir
	y.check(cmd.Start())
	y.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
}

// tail returns the end of a text.
func tail(text string) string { return text[max(0, len(text)-3000):] }
