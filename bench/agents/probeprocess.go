package agents

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/transport"
)

// startTimeout is how long a process may take to start, and to end.
const startTimeout = 60 * time.Second

// probeRun is the run of probes, a part of subjects.
const probeRun = "bench"

// probes are processes that pass the frames of a task and nothing else.
type probes struct {
	task    *swarm.Task
	plan    *agent.Plan
	divided map[transport.HostID][]agent.NodeID
	hears   map[transport.HostID][]transport.HostID
	dir     string
	all     []*probeProcess
}

// probe runs processes that pass the frames of a task and nothing else, and
// returns their steps per second.
func (b *Bench) probe(ctx context.Context, t *swarm.Task, hosts int, seconds float64) (float64, error) {
	b.Say(fmt.Sprintf("bare frames, %d processes", hosts))
	dir, err := b.folder()
	if err != nil {
		return 0, err
	}
	p := &probes{task: t, dir: dir, divided: swarm.Partition(t.Graph, hosts)}
	p.hears = swarm.Neighbours(t.Graph, p.divided)
	if p.plan, err = t.Plan(); err != nil {
		return 0, err
	}
	server, err := p.startServer()
	if err != nil {
		return 0, err
	}
	defer server.Stop()
	defer func() {
		for _, q := range p.all {
			q.end()
		}
	}()
	for _, id := range slices.Sorted(maps.Keys(p.divided)) {
		q, err := p.start(b.Self, server.URL(), id)
		if err != nil {
			return 0, err
		}
		p.all = append(p.all, q)
	}
	return p.conduct(ctx, time.Duration(seconds*float64(time.Second)))
}

func (p *probes) keyDir() string { return filepath.Join(p.dir, "keys") }

// startServer starts a NATS server that lets probes hear their neighbours only,
// as that of a swarm does.
func (p *probes) startServer() (*broker.Server, error) {
	plan := keys.Plan{Run: probeRun, Server: []string{"127.0.0.1"}}
	for _, id := range slices.Sorted(maps.Keys(p.divided)) {
		plan.Hosts = append(plan.Hosts, keys.Host{ID: id, Hears: p.hears[id]})
	}
	if err := keys.Make(p.keyDir(), plan); err != nil {
		return nil, err
	}
	permissions, err := keys.LoadPermissions(p.keyDir())
	if err != nil {
		return nil, err
	}
	return broker.Start(broker.Config{Keys: permissions})
}

// frames returns the sizes of the frames that a host sends in a step.
func (p *probes) frames(id transport.HostID) (sizes []int) {
	here := map[agent.NodeID]bool{}
	for _, i := range p.divided[id] {
		here[i] = true
	}
	heard := 0 // nodes that others hear
	for i := range here {
		if slices.ContainsFunc(p.task.Graph.Neighbors(int(i)), func(j int32) bool { return !here[agent.NodeID(j)] }) {
			heard++
		}
	}
	for e := range p.plan.Exchanges() {
		row := agent.Message{Values: make([]float32, p.plan.Length(e))}
		sizes = append(sizes, len(agent.AppendFrame(nil, agent.Header{}, slices.Repeat([]agent.Message{row}, heard))))
	}
	return sizes
}

// probeProcess is a probe that runs.
type probeProcess struct {
	id  transport.HostID
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts the probe of one host.
func (p *probes) start(self []string, url string, id transport.HostID) (*probeProcess, error) {
	path := filepath.Join(p.dir, fmt.Sprintf("probe-%d.json", id))
	text, err := json.Marshal(Probe{URL: url, Run: probeRun, Host: id, Keys: p.keyDir(), Hear: p.hears[id], Frames: p.frames(id)})
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		return nil, err
	}
	q := &probeProcess{id: id, cmd: exec.Command(self[0], append(slices.Clone(self[1:]), "swarm", "probe", path)...)}
	swarm.Share(q.cmd, len(p.divided))
	q.cmd.Stderr = os.Stderr
	in, err1 := q.cmd.StdinPipe()
	out, err2 := q.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	q.in, q.out = in, bufio.NewReader(out)
	return q, q.cmd.Start()
}

// end ends the process.
func (p *probeProcess) end() {
	p.in.Close()
	p.cmd.Process.Kill()
	p.cmd.Wait() // how it ended is of no interest
}

// line reads a line that the process prints, and kills it if that takes longer
// than the given time.
func (p *probeProcess) line(ctx context.Context, what string, wait time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer context.AfterFunc(ctx, func() { p.cmd.Process.Kill() })() // ends the reading
	line, err := p.out.ReadBytes('\n')
	switch {
	case err == nil:
		return line, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("the probe of host %d did not %s within %v", p.id, what, wait)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("the probe of host %d did not %s: %w", p.id, what, err)
}

// conduct lets probes run for so long, all at the same time, and returns the
// mean of their rates.
func (p *probes) conduct(ctx context.Context, long time.Duration) (float64, error) {
	for _, q := range p.all {
		if _, err := q.line(ctx, "start", startTimeout); err != nil {
			return 0, err
		}
	}
	for _, q := range p.all {
		if _, err := fmt.Fprintln(q.in); err != nil {
			return 0, err
		}
	}
	wait := time.NewTimer(long)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	for _, q := range p.all {
		q.in.Close()
	}
	sum := 0.0
	for _, q := range p.all {
		var r probed
		line, err := q.line(ctx, "say how far it came", startTimeout)
		if err != nil {
			return 0, err
		}
		if err := json.Unmarshal(line, &r); err != nil || r.Steps == 0 {
			return 0, fmt.Errorf("the probe of host %d passed %d steps: %w", q.id, r.Steps, errors.Join(err, errNoSteps))
		}
		sum += float64(r.Steps) / r.Seconds
	}
	return sum / float64(len(p.all)), nil
}

var errNoSteps = errors.New("want at least one")
