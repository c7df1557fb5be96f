//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wdgnn/wdgnn/random"
)

// setting is how boxes are deployed.
type setting struct {
	Bus   string  `json:"bus"`   // nats or tcp
	Pace  string  `json:"pace"`  // lockstep, real-time, answered, or another that the program knows
	Boxes int     `json:"boxes"` //
	Rate  float64 `json:"rate"`  // lines a second, of each feeder

	reminds bool // feeders name links in every line, for programs that forget them when they are started again
}

const (
	busNATS = "nats"
	busTCP  = "tcp"

	lockstep = "lockstep"
	realTime = "real-time"
	answered = "answered" // lockstep, and a line follows the answer to the one before

	portServer = 4222
	portBox    = 7411
	portStatus = 9100

	diskSize = "1m" // of a box, for its checkpoints
)

// yard is one deployment: boxes, each with its feeder, and over NATS a server.
type yard struct {
	*field
	setting
	dir    string
	net    network
	boxes  []*box
	disks  []string // mounted
	began  time.Time
	period time.Duration

	mu     sync.Mutex
	server *exec.Cmd // nil while it is down

	silence context.CancelFunc // ends the feeders
	feeders sync.WaitGroup
}

// newYard makes everything that boxes need, and starts nothing.
func newYard(ctx context.Context, f *field, s setting, dir string, n network) (*yard, error) {
	y := &yard{field: f, setting: s, dir: dir, net: n, period: time.Duration(float64(time.Second) / s.Rate), silence: func() {}}
	for k := range s.Boxes {
		b := &box{number: k, yard: y, program: f.agent, metrics: n.listen(k, portStatus)}
		for node := k * fieldNodes / s.Boxes; node < (k+1)*fieldNodes/s.Boxes; node++ {
			b.nodes = append(b.nodes, node)
		}
		y.boxes = append(y.boxes, b)
	}
	for _, b := range y.boxes {
		if err := y.furnish(b); err != nil {
			return nil, errors.Join(err, y.clear())
		}
	}
	host, _, _ := strings.Cut(n.reach(0, s.Boxes, portServer), ":")
	if err := f.call(ctx, "swarm", "keys", "--config", y.boxes[0].config(), "--server", host, "--out", y.path("keys")); err != nil {
		return nil, errors.Join(err, y.clear())
	}
	return y, nil
}

func (y *yard) path(parts ...string) string {
	return filepath.Join(append([]string{y.dir}, parts...)...)
}

// furnish writes the folder of a box: its configuration, a model, and a small disk
// for checkpoints where that can be had.
func (y *yard) furnish(b *box) error {
	folder := filepath.Dir(b.config())
	state := filepath.Join(folder, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	if syscall.Mount("tmpfs", state, "tmpfs", 0, "mode=700,size="+diskSize) == nil {
		y.disks = append(y.disks, state)
	}
	model, err := os.ReadFile(y.model())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "model.safetensors"), model, 0o644); err != nil {
		return err
	}
	return os.WriteFile(b.config(), []byte(y.config(b)), 0o644)
}

// config returns agent.yaml of a box.
func (y *yard) config(b *box) string {
	var text strings.Builder
	fmt.Fprintf(&text, "run: soak\nhost: %d\nhosts:\n", b.number)
	for _, o := range y.boxes {
		address := ""
		if y.Bus == busTCP {
			address = fmt.Sprintf(", address: %q", y.net.reach(b.number, o.number, portBox))
		}
		fmt.Fprintf(&text, "  %d: {nodes: %d-%d%s}\n", o.number, o.nodes[0], o.nodes[len(o.nodes)-1], address)
	}
	text.WriteString("model: model.safetensors\nlearn: {preset: auto}\n")
	keys := fmt.Sprintf("../keys/host-%d", b.number)
	if y.Bus == busTCP {
		fmt.Fprintf(&text, "bus: {kind: tcp, listen: %q, keys: %s}\n", y.net.listen(b.number, portBox), keys)
	} else {
		fmt.Fprintf(&text, "bus: {kind: nats, url: \"tls://%s\", keys: %s}\n", y.net.reach(b.number, y.Boxes, portServer), keys)
	}
	fmt.Fprintf(&text, "world: {kind: lines}\nstate: state\nmetrics: %q\n", b.metrics)
	switch y.Pace {
	case lockstep, answered: // as a box does without a word
	case realTime:
		fmt.Fprintf(&text, "pace: {mode: real-time, deadline: %v}\n", y.period*8/10)
	default:
		fmt.Fprintf(&text, "pace: {mode: %s}\n", y.Pace)
	}
	return text.String()
}

// start starts the server, all boxes and their feeders.
func (y *yard) start(ctx context.Context, seed uint64) error {
	if y.Bus == busNATS {
		if err := y.startServer(); err != nil {
			return err
		}
	}
	for _, b := range y.boxes {
		if err := b.start(); err != nil {
			return err
		}
	}
	ctx, y.silence = context.WithCancel(ctx)
	y.began = time.Now()
	for _, b := range y.boxes {
		y.feeders.Go(func() {
			if y.Pace == answered {
				y.follow(ctx, b)
			} else {
				y.feed(ctx, b, seed)
			}
		})
	}
	return nil
}

// startServer starts the server, which must be down.
func (y *yard) startServer() error {
	args := append(y.net.enter(y.Boxes), y.program...)
	args = append(args, "swarm", "server", "--keys", y.path("keys", "server"), "--addr", y.net.listen(y.Boxes, portServer))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	log, err := os.OpenFile(y.path("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.server = cmd
	return nil
}

// endServer ends the server by a signal, and waits until it is gone.
func (y *yard) endServer(s syscall.Signal) {
	y.mu.Lock()
	cmd := y.server
	y.server = nil
	y.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(s) // it may be gone
	late := time.AfterFunc(endWithin, func() { cmd.Process.Kill() })
	_ = cmd.Wait() // however it ended
	late.Stop()
}

// serverPID returns the number of the server's process, 0 while it is down.
func (y *yard) serverPID() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.server == nil {
		return 0
	}
	return y.server.Process.Pid
}

// step returns the step whose time it is.
func (y *yard) step(now time.Time) uint64 { return uint64(now.Sub(y.began) / y.period) }

// due returns the step that boxes should have answered: that whose time it is or, where no
// clock tells, the last of the farthest.
func (y *yard) due(now time.Time) (step uint64) {
	if y.Pace != answered {
		return y.step(now)
	}
	for _, b := range y.boxes {
		if p := b.live(); p != nil {
			step = max(step, p.ledger.latest())
		}
	}
	return step
}

// leftOut is the share of the lines that a feeder has no reading for and leaves out.
const leftOut = 0.01

// feed says the lines of one box, each at its time, until ctx ends. It has a phase
// of its own, is a little early or late, leaves one out now and then, and waits for
// nobody.
func (y *yard) feed(ctx context.Context, b *box, seed uint64) {
	rng := random.Stream(seed, "feeder", b.number)
	phase := rng.Float64() / 2
	tell := y.teller(b)
	for {
		step := y.step(time.Now()) + 1
		at := y.began.Add(time.Duration((float64(step) + phase + rng.Float64()/4) * float64(y.period)))
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(at)):
		}
		if rng.Float64() >= leftOut && !tell(step) {
			return
		}
	}
}

// follow says the lines of one box, each when the one before was answered: at most as
// many as by the clock, but for those that the box leaves out.
func (y *yard) follow(ctx context.Context, b *box) {
	ticks := time.NewTicker(time.Millisecond)
	defer ticks.Stop()
	tell := y.teller(b)
	var asked *process
	var said time.Time
	for step := uint64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		p := b.live()
		if p == nil || p == asked && !p.ledger.over(step, time.Since(said) >= y.period) {
			continue
		}
		step++
		asked, said = p, time.Now()
		if !tell(step) {
			return
		}
	}
}

// teller returns what says a line to a box. It names links when they change and, if it
// need not remind, not otherwise: it does not know that a box was started again.
func (y *yard) teller(b *box) func(step uint64) bool {
	graph := y.stream.Graphs[0] // whose links were named last
	named := false
	return func(step uint64) bool {
		now := y.stream.Graph(int(step % uint64(y.stream.Steps)))
		text, err := y.say(step, b.nodes, y.reminds || !named || now != graph)
		graph, named = now, true
		if err != nil {
			b.fail(err)
			return false
		}
		b.say(line{step, text})
		return true
	}
}

// stop ends the worlds of all boxes, waits for them and closes the books.
func (y *yard) stop() (Account, error) {
	y.silence()
	y.feeders.Wait()
	var ends sync.WaitGroup
	for _, b := range y.boxes {
		if b.live() == nil {
			continue
		}
		ends.Go(func() {
			_ = b.signal(syscall.SIGCONT) // Ctrl-C may have come while it was stopped
			if err := b.leave(worldEnded); err != nil {
				b.fail(err)
			}
		})
	}
	ends.Wait()
	y.endServer(syscall.SIGTERM)
	var all Account
	var errs []error
	for _, b := range y.boxes {
		b.mu.Lock()
		all.add(b.books)
		errs = append(errs, b.errs...)
		b.mu.Unlock()
	}
	return all, errors.Join(errs...)
}

// clear takes down what newYard put up.
func (y *yard) clear() error {
	var errs []error
	for _, disk := range y.disks {
		errs = append(errs, syscall.Unmount(disk, syscall.MNT_DETACH))
	}
	y.disks = nil
	return errors.Join(errs...)
}
