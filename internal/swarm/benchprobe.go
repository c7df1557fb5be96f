package swarm

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
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
)

// probe runs processes that pass the frames of a task and nothing else, and
// returns their steps per second.
func (b *Bench) probe(ctx context.Context, t *Task, hosts int, seconds float64) (float64, error) {
	b.Say(fmt.Sprintf("bare frames, %d processes", hosts))
	dir, err := b.folder()
	if err != nil {
		return 0, err
	}
	r := &run{Options: &Options{Task: t, Run: "bench", Hosts: hosts, Dir: dir}, divided: Partition(t.Graph, hosts)}
	r.hears = Neighbours(t.Graph, r.divided)
	if r.plan, err = t.Plan(); err != nil {
		return 0, err
	}
	if err := keys.Make(r.keyDir(), r.keyPlan()); err != nil {
		return 0, err
	}
	if err := r.startBroker(""); err != nil {
		return 0, err
	}
	defer r.broker.Stop()
	var all []*probeProcess
	defer func() {
		for _, p := range all {
			p.end()
		}
	}()
	for _, id := range slices.Sorted(maps.Keys(r.divided)) {
		p, err := r.startProbe(b.Self, id)
		if err != nil {
			return 0, err
		}
		all = append(all, p)
	}
	return conduct(ctx, all, time.Duration(seconds*float64(time.Second)))
}

// probeFrames returns the sizes of the frames that a host sends in a step.
func (r *run) probeFrames(id transport.HostID) (sizes []int) {
	here := map[agent.NodeID]bool{}
	for _, i := range r.divided[id] {
		here[i] = true
	}
	heard := 0 // nodes that others hear
	for i := range here {
		if slices.ContainsFunc(r.Task.Graph.Neighbors(int(i)), func(j int32) bool { return !here[agent.NodeID(j)] }) {
			heard++
		}
	}
	for e := range r.plan.Exchanges() {
		row := agent.Message{Values: make([]float32, r.plan.Length(e))}
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

func (r *run) startProbe(self []string, id transport.HostID) (*probeProcess, error) {
	path := filepath.Join(r.Dir, fmt.Sprintf("probe-%d.json", id))
	text, err := json.Marshal(Probe{URL: r.broker.URL(), Run: r.Run, Host: id, Keys: r.keyDir(), Hear: r.hears[id], Frames: r.probeFrames(id)})
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		return nil, err
	}
	p := &probeProcess{id: id, cmd: exec.Command(self[0], append(slices.Clone(self[1:]), "swarm", "probe", path)...)}
	dieWithParent(p.cmd)
	p.cmd.Env = environment(r.Hosts)
	p.cmd.Stderr = os.Stderr
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReader(out)
	return p, p.cmd.Start()
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
func conduct(ctx context.Context, all []*probeProcess, long time.Duration) (float64, error) {
	for _, p := range all {
		if _, err := p.line(ctx, "start", assembly); err != nil {
			return 0, err
		}
	}
	for _, p := range all {
		if _, err := fmt.Fprintln(p.in); err != nil {
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
	for _, p := range all {
		p.in.Close()
	}
	sum := 0.0
	for _, p := range all {
		var r probed
		line, err := p.line(ctx, "say how far it came", assembly)
		if err != nil {
			return 0, err
		}
		if err := json.Unmarshal(line, &r); err != nil || r.Steps == 0 {
			return 0, fmt.Errorf("the probe of host %d passed %d steps: %w", p.id, r.Steps, errors.Join(err, errNoSteps))
		}
		sum += float64(r.Steps) / r.Seconds
	}
	return sum / float64(len(all)), nil
}

var errNoSteps = errors.New("want at least one")
