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

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/transport"
)

// processes is a launcher of processes that hear the world on their standard
// input and answer on their standard output.
type processes struct {
	// command returns what runs host id; see [Share].
	command func(id transport.HostID) *exec.Cmd

	// logs is the folder for what they print to standard error.
	logs string

	answers chan *host.Answer
	reports chan *host.Report

	mu       sync.Mutex
	live     map[transport.HostID]*process
	failures []error // of processes that ended though nobody had ended them
	readers  sync.WaitGroup
}

func newProcesses(logs string, command func(transport.HostID) *exec.Cmd) *processes {
	return &processes{
		command: command, logs: logs, answers: make(chan *host.Answer, 4096), reports: make(chan *host.Report, 4096),
		live: map[transport.HostID]*process{},
	}
}

// StartProcesses starts what command returns for each host; see [Share]. What
// they print to standard error is logged in a folder. It returns the operating
// system's numbers of the processes, and what kills all of them.
func StartProcesses(
	logs string, hosts []transport.HostID, command func(transport.HostID) *exec.Cmd,
) (pids map[transport.HostID]int, stop func(), err error) {
	p := newProcesses(logs, command)
	stop = func() { _ = p.close(0) } // killed: how they ended is of no interest
	for _, id := range hosts {
		if err := p.start(id); err != nil {
			stop()
			return nil, nil, err
		}
	}
	return p.pids(), stop, nil
}

// process is one running host.
type process struct {
	id     transport.HostID
	cmd    *exec.Cmd
	lines  chan []byte // to its standard input
	up     bool        // it has reported; guarded by processes.mu, as is the next
	ending bool        // it was told to
	done   chan struct{}
	err    error // how it ended; valid once done is closed
}

// output is a line that a process prints: an answer, or a report.
type output struct {
	host.Answer
	Report *host.Report `json:"report"`
}

// start implements [launcher]. The host must not be running.
func (p *processes) start(id transport.HostID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live[id] != nil {
		return fmt.Errorf("swarm: host %d is running", id)
	}
	cmd := p.command(id)
	log, err := os.OpenFile(filepath.Join(p.logs, fmt.Sprintf("host-%d.log", id)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
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
	p.live[id] = r
	go r.write(in)
	p.readers.Go(func() {
		p.read(r, out)
		err := cmd.Wait()
		if err != nil {
			r.err = fmt.Errorf("swarm: host %d: %w; its log is in %s", id, err, log.Name())
		}
		p.mu.Lock()
		if p.live[id] == r {
			delete(p.live, id)
		}
		if err != nil && !r.ending {
			p.failures = append(p.failures, r.err)
		}
		p.mu.Unlock()
		close(r.done)
	})
	return nil
}

// write writes lines until the channel is closed or the process is gone.
func (r *process) write(in io.WriteCloser) {
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

// read takes in what a process prints. Lines that make no sense, and those for
// which nobody has time, are dropped.
func (p *processes) read(r *process, out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 64<<10), mostLine)
	for lines.Scan() {
		var s output
		if json.Unmarshal(lines.Bytes(), &s) != nil || s.Report == nil && s.Host != r.id {
			continue
		}
		if s.Report != nil {
			p.reported(r.id)
			select {
			case p.reports <- s.Report:
			default:
			}
			continue
		}
		select {
		case p.answers <- &s.Answer:
		default:
		}
	}
}

// send implements [port]. A process that is several lines behind is left out of
// the step.
func (r *process) send(l *host.Line) error {
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

// reported notes that a process has reported: it hears its world from now on.
func (p *processes) reported(id transport.HostID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.live[id]; r != nil {
		r.up = true
	}
}

// ports implements [launcher].
func (p *processes) ports() map[transport.HostID]port {
	p.mu.Lock()
	defer p.mu.Unlock()
	ports := make(map[transport.HostID]port, len(p.live))
	for id, r := range p.live {
		if r.up {
			ports[id] = r
		}
	}
	return ports
}

// running implements [launcher].
func (p *processes) running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.live)
}

// pids implements [launcher].
func (p *processes) pids() map[transport.HostID]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make(map[transport.HostID]int, len(p.live))
	for id, r := range p.live {
		ids[id] = r.cmd.Process.Pid
	}
	return ids
}

// kill implements [launcher] and waits until the process is gone.
func (p *processes) kill(id transport.HostID) error {
	p.mu.Lock()
	r := p.live[id]
	if r != nil {
		r.ending = true
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

// close ends the world of all processes, waits for them, and kills those that
// take longer than the given time. It returns how those that failed ended, now
// or before.
func (p *processes) close(wait time.Duration) error {
	p.mu.Lock()
	var all []*process
	for _, r := range p.live {
		all = append(all, r)
		r.ending = true
		close(r.lines)
	}
	errs := p.failures
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
