//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wdgnn/wdgnn/host"
)

// box is one box of a deployment, whatever process it is at the moment.
type box struct {
	number  int
	yard    *yard
	nodes   []int
	metrics string // address
	program []string

	mu      sync.Mutex
	process *process // nil while it is down
	books   Account  // of processes that are gone, and of lines that none could be given
	errs    []error  // of processes that ended though nobody had ended them
}

// process is one life of a box.
type process struct {
	cmd    *exec.Cmd
	log    string // file
	began  time.Time
	in     io.WriteCloser
	lines  chan line
	ledger ledger
	end    ending // guarded by box.mu
	done   chan struct{}
}

// line is what a feeder says.
type line struct {
	step uint64
	text []byte
}

// ending is why a process ends.
type ending int

const (
	byItself ending = iota // which nobody asked for
	killed
	told       // by a signal
	worldEnded // by the end of its standard input
)

const mostAnswer = 16 << 20 // bytes of a line that a box prints

// start starts a process of the box, which must be down.
func (b *box) start() error {
	args := append(append(b.yard.net.enter(b.number), b.program...), "--config", b.config())
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	log, err := os.OpenFile(b.yard.path(fmt.Sprintf("box-%d.log", b.number)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p := &process{cmd: cmd, log: log.Name(), began: time.Now(), in: in, lines: make(chan line, 1), done: make(chan struct{})}
	b.mu.Lock()
	b.process = p
	b.mu.Unlock()
	go p.write()
	go func() {
		b.listen(p, out)
		b.bury(p, cmd.Wait())
	}()
	return nil
}

func (b *box) config() string {
	return filepath.Join(b.yard.dir, fmt.Sprintf("box-%d", b.number), "agent.yaml")
}

// write gives the process its lines, until the channel is closed or it is gone.
func (p *process) write() {
	defer p.in.Close()
	for {
		select {
		case l, ok := <-p.lines:
			if !ok {
				return
			}
			p.ledger.write(l.step)
			if _, err := p.in.Write(l.text); err != nil {
				p.ledger.unwrite(l.step)
				return
			}
		case <-p.done:
			return
		}
	}
}

// listen takes in what a process prints.
func (b *box) listen(p *process, out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 64<<10), mostAnswer)
	for lines.Scan() {
		var s struct {
			host.Answer
			Report *host.Report `json:"report"`
		}
		switch err := json.Unmarshal(lines.Bytes(), &s); {
		case err != nil:
			b.fail(fmt.Errorf("box %d: %w: %.100s", b.number, err, lines.Bytes()))
		case s.Report != nil:
			p.ledger.hear(s.Report, time.Now())
		default:
			p.ledger.take(&s.Answer, len(b.nodes), func(node int) int { return b.yard.class(s.Time, node) })
		}
	}
}

func (b *box) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errs = append(b.errs, err)
}

// bury closes the books of a process that is gone.
func (b *box) bury(p *process, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.books.add(p.ledger.account(p.end == worldEnded))
	if p.end == byItself || err != nil && p.end != killed {
		b.errs = append(b.errs, fmt.Errorf("box %d ended: %v; the end of its log:\n%s", b.number, err, lastLines(p.log)))
	}
	if b.process == p {
		b.process = nil
	}
	close(p.done)
}

// lastWords is how many lines of a log are shown of a process that ended by itself, and
// lastBytes how much of it is read for them.
const (
	lastWords = 10
	lastBytes = 16 << 10
)

// lastLines returns the last lines of a log, or why there are none.
func lastLines(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if _, err := f.Seek(-lastBytes, io.SeekEnd); err != nil { // it is shorter
		_, _ = f.Seek(0, io.SeekStart)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-lastWords):], "\n")
}

// live returns the process of the box, nil if it is down.
func (b *box) live() *process {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.process
}

// report returns what the process of the box last said of itself, nil if nothing.
func (b *box) report() *host.Report {
	p := b.live()
	if p == nil {
		return nil
	}
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	return p.ledger.report
}

// say gives the box a line, if it listens.
func (b *box) say(l line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.process == nil || b.process.end != byItself {
		b.books.Down++
		return
	}
	select {
	case b.process.lines <- l:
	default:
		b.books.Full++
	}
}

// leave ends the process of the box and waits until it is gone; one that takes too
// long is killed, which is an error.
func (b *box) leave(how ending) error {
	b.mu.Lock()
	p := b.process
	if p == nil {
		b.mu.Unlock()
		return fmt.Errorf("box %d is not running", b.number)
	}
	p.end = how
	switch how {
	case killed:
		p.cmd.Process.Kill()
	case told:
		p.cmd.Process.Signal(syscall.SIGTERM)
	default:
		close(p.lines)
	}
	b.mu.Unlock()
	select {
	case <-p.done:
		return nil
	case <-time.After(endWithin):
		p.cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("box %d did not end within %v", b.number, endWithin)
	}
}

// endWithin is how long a process may take to end in order.
const endWithin = 15 * time.Second

// signal sends the process of the box a signal.
func (b *box) signal(s syscall.Signal) error {
	if p := b.live(); p != nil {
		return p.cmd.Process.Signal(s)
	}
	return fmt.Errorf("box %d is not running", b.number)
}
