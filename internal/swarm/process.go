package swarm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/transport"
)

// Processes are hosts that run as processes of their own, which hear the world
// on their standard input and answer on their standard output.
type Processes struct {
	// Command returns what runs host id; see [Share].
	Command func(id transport.HostID) *exec.Cmd

	// Logs is the folder for what they print to standard error.
	Logs string

	Answers chan *host.Answer
	Reports chan *host.Report

	mu      sync.Mutex
	running map[transport.HostID]*process
	broken  []error // how processes ended that nobody had ended
	readers sync.WaitGroup
}

// NewProcesses returns a crew without processes.
func NewProcesses(logs string, command func(transport.HostID) *exec.Cmd) *Processes {
	return &Processes{
		Command: command, Logs: logs, Answers: make(chan *host.Answer, 4096), Reports: make(chan *host.Report, 4096),
		running: map[transport.HostID]*process{},
	}
}

// process is one running host.
type process struct {
	id    transport.HostID
	cmd   *exec.Cmd
	lines chan []byte // to its standard input
	up    bool        // it has reported; guarded by Processes.mu, as is the next
	meant bool        // it was told to end
	done  chan struct{}
	err   error // how it ended; valid once done is closed
}

// spoken is what a process prints: an answer, or a report.
type spoken struct {
	host.Answer
	Report *host.Report `json:"report"`
}

// Start implements [Crew]. The host must not be running.
func (p *Processes) Start(id transport.HostID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[id] != nil {
		return fmt.Errorf("swarm: host %d is running", id)
	}
	cmd := p.Command(id)
	log, err := os.OpenFile(filepath.Join(p.Logs, fmt.Sprintf("host-%d.log", id)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("swarm: %w", err)
	}
	defer log.Close()
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("swarm: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("swarm: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("swarm: host %d: %w", id, err)
	}
	r := &process{id: id, cmd: cmd, lines: make(chan []byte, 8), done: make(chan struct{})}
	p.running[id] = r
	go r.speak(in)
	p.readers.Go(func() {
		p.listen(r, out)
		err := cmd.Wait()
		if err != nil {
			r.err = fmt.Errorf("swarm: host %d: %w; its last words are in %s", id, err, log.Name())
		}
		p.mu.Lock()
		if p.running[id] == r {
			delete(p.running, id)
		}
		if err != nil && !r.meant {
			p.broken = append(p.broken, r.err)
		}
		p.mu.Unlock()
		close(r.done)
	})
	return nil
}

// speak writes lines until the channel is closed or the process is gone.
func (r *process) speak(in io.WriteCloser) {
	defer in.Close()
	for {
		select {
		case line, ok := <-r.lines:
			if !ok {
				return
			}
			if _, err := in.Write(line); err != nil {
				return // it is gone, and its reader notices
			}
		case <-r.done:
			return
		}
	}
}

// mostLine bounds a line that a process prints.
const mostLine = 64 << 20

// listen takes in what a process prints. Lines that make no sense, and those for
// which nobody has time, are dropped.
func (p *Processes) listen(r *process, out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 64<<10), mostLine)
	for lines.Scan() {
		var s spoken
		if json.Unmarshal(lines.Bytes(), &s) != nil || s.Report == nil && s.Host != uint32(r.id) {
			continue
		}
		if s.Report != nil {
			p.heard(r.id)
			select {
			case p.Reports <- s.Report:
			default:
			}
			continue
		}
		select {
		case p.Answers <- &s.Answer:
		default:
		}
	}
}

// Say implements [Port]. A process that is several lines behind is left out of
// the step.
func (r *process) Say(l *host.Line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	select {
	case r.lines <- append(text, '\n'):
		return nil
	case <-r.done:
		return errors.New("swarm: the process is gone")
	default:
		return errors.New("swarm: the process does not listen")
	}
}

// heard notes that a process has reported: it hears its world from now on.
func (p *Processes) heard(id transport.HostID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.running[id]; r != nil {
		r.up = true
	}
}

// Ports implements [Crew].
func (p *Processes) Ports() map[transport.HostID]Port {
	p.mu.Lock()
	defer p.mu.Unlock()
	ports := make(map[transport.HostID]Port, len(p.running))
	for id, r := range p.running {
		if r.up {
			ports[id] = r
		}
	}
	return ports
}

// Running implements [Crew].
func (p *Processes) Running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.running)
}

// PIDs implements [Crew].
func (p *Processes) PIDs() map[transport.HostID]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make(map[transport.HostID]int, len(p.running))
	for id, r := range p.running {
		ids[id] = r.cmd.Process.Pid
	}
	return ids
}

// Kill implements [Crew] and waits until the process is gone.
func (p *Processes) Kill(id transport.HostID) error {
	p.mu.Lock()
	r := p.running[id]
	if r != nil {
		r.meant = true
	}
	p.mu.Unlock()
	if r == nil {
		return fmt.Errorf("swarm: host %d is not running", id)
	}
	if err := r.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("swarm: host %d: %w", id, err)
	}
	<-r.done
	return nil
}

// Close ends the world of all processes, waits for them, and kills those that
// take longer than the given time. It returns how those that failed ended, now
// or before.
func (p *Processes) Close(wait time.Duration) error {
	p.mu.Lock()
	var all []*process
	for _, r := range p.running {
		all = append(all, r)
		r.meant = true
		close(r.lines)
	}
	errs := p.broken
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	for _, r := range all {
		select {
		case <-r.done:
		case <-ctx.Done():
			_ = r.cmd.Process.Kill() // it may be gone by now
			<-r.done
		}
		errs = append(errs, r.err)
	}
	p.readers.Wait()
	return errors.Join(errs...)
}
