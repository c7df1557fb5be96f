package swarm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

const machines = 3

// yard is three network namespaces that stand for machines, joined by a bridge
// in a fourth.
type yard struct {
	t    *testing.T
	name string
	dir  string

	mu      sync.Mutex
	reports map[transport.HostID]*host.Report // the latest
}

// newYard makes the namespaces, or skips the test where that cannot be done.
func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{t: t, name: fmt.Sprintf("wdgnn-%d", os.Getpid()), dir: t.TempDir(), reports: map[transport.HostID]*host.Report{}}
	if out, err := exec.Command("ip", "netns", "add", y.switched()).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED %s: no network namespaces here: %v: %s", t.Name(), err, out)
	}
	y.cleanup(y.switched())
	y.ip("-n", y.switched(), "link", "add", "bridge", "type", "bridge")
	y.ip("-n", y.switched(), "link", "set", "bridge", "up")
	for k := range machines {
		m, port := y.machine(k), fmt.Sprintf("port%d", k)
		y.ip("netns", "add", m)
		y.cleanup(m)
		y.ip("link", "add", "eth0", "netns", m, "type", "veth", "peer", "name", port, "netns", y.switched())
		y.ip("-n", y.switched(), "link", "set", port, "master", "bridge", "up")
		y.ip("-n", m, "addr", "add", y.address(k)+"/24", "dev", "eth0")
		y.ip("-n", m, "link", "set", "eth0", "up")
		y.ip("-n", m, "link", "set", "lo", "up")
	}
	return y
}

func (y *yard) switched() string     { return y.name + "-switch" }
func (y *yard) machine(k int) string { return fmt.Sprintf("%s-%d", y.name, k) }
func (y *yard) address(k int) string { return fmt.Sprintf("10.77.0.%d", k+1) }
func (y *yard) plug(k int, way string) {
	y.ip("-n", y.switched(), "link", "set", fmt.Sprintf("port%d", k), way)
}

func (y *yard) cleanup(namespace string) {
	y.t.Cleanup(func() { exec.Command("ip", "netns", "del", namespace).Run() })
}

func (y *yard) ip(args ...string) {
	y.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		y.t.Errorf("ip %v: %v: %s", args, err, out)
	}
}

// command returns a program on machine k.
func (y *yard) command(k int, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", y.machine(k)}, args...)...)
}

// serve starts a server on machine k, one of a cluster, and returns what kills
// it.
func (y *yard) serve(program string, k int) (kill func()) {
	y.t.Helper()
	args := []string{
		program, "swarm", "server", "--keys", filepath.Join(y.dir, "keys"), "--addr", y.address(k) + ":4222",
		"--cluster-addr", y.address(k) + ":6222",
	}
	for other := range machines {
		if other != k {
			args = append(args, "--route", "nats://"+y.address(other)+":6222")
		}
	}
	cmd := y.command(k, args...)
	log, err := os.OpenFile(filepath.Join(y.dir, fmt.Sprintf("server-%d.log", k)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		y.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		y.t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	y.t.Cleanup(kill)
	return kill
}

// configure writes keys, a model and the configurations of the boxes.
func (y *yard) configure(task *Task, w *watch) {
	y.t.Helper()
	divided := Partition(task.Graph, machines)
	plan := keys.Plan{Run: "yard"}
	c := box.Config{
		Run: "yard", Model: "model.safetensors", Learn: &rule.Settings{Preset: "paper"}, Cost: host.CrossEntropy,
		Hosts: map[transport.HostID]box.Peer{},
		Bus:   box.Bus{Kind: box.BusNATS, Keys: "keys"}, World: box.World{Kind: box.WorldLines}, Pace: box.Pace{Deadline: short.Deadline},
	}
	for k := range machines {
		id := transport.HostID(k)
		plan.Server = append(plan.Server, y.address(k))
		plan.Hosts = append(plan.Hosts, keys.Host{ID: id, Hears: Neighbours(task.Graph, divided)[id], Names: []string{y.address(k)}})
		c.Hosts[id] = box.Peer{Nodes: host.FormatNodes(divided[id])}
		for _, node := range divided[id] {
			w.hosts[id] = append(w.hosts[id], int(node))
		}
	}
	if err := keys.Make(filepath.Join(y.dir, "keys"), plan); err != nil {
		y.t.Fatal(err)
	}
	if err := modelfile.Save(filepath.Join(y.dir, "model.safetensors"), task.model); err != nil {
		y.t.Fatal(err)
	}
	for k := range machines {
		c.Host = transport.HostID(k)
		c.Bus.URL = ""
		for other := range machines { // its own first
			c.Bus.URL += fmt.Sprintf(",tls://%s:4222", y.address((k+other)%machines))
		}
		c.Bus.URL = c.Bus.URL[1:]
		if err := box.Save(filepath.Join(y.dir, fmt.Sprintf("host-%d.yaml", k)), &c); err != nil {
			y.t.Fatal(err)
		}
	}
}

// take keeps the latest report of every host until ctx ends.
func (y *yard) take(ctx context.Context, reports <-chan *host.Report, up chan<- transport.HostID) {
	for {
		select {
		case r := <-reports:
			y.mu.Lock()
			if y.reports[r.Host] == nil {
				up <- r.Host
			}
			y.reports[r.Host] = r
			y.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// all says whether every host's report since step t is as wanted.
func (y *yard) all(t int, wanted func(*host.Report) bool) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, r := range y.reports {
		if r.Time <= uint64(t) || !wanted(r) {
			return false
		}
	}
	return len(y.reports) == machines
}

// Three machines with a server and an agent each. The cable of one is pulled and
// put back; then two of the servers are killed and those who used them find the
// third. The world goes on all the time, and everybody is heard again after
// each.
func TestThreeMachines(t *testing.T) {
	server := started(t, wholeProgram)
	agents := program(t)
	y := newYard(t)
	o, w := observe(t, &settings[0], Options{Dir: y.dir})
	clear(w.hosts)
	y.configure(o.Task, w)
	kill := map[int]func(){}
	for k := range machines {
		kill[k] = y.serve(server, k)
	}
	all := newProcesses(y.dir, func(id transport.HostID) *exec.Cmd {
		cmd := y.command(int(id), append(agents[:1:1], "--config", filepath.Join(y.dir, fmt.Sprintf("host-%d.yaml", id)))...)
		Share(cmd, machines)
		return cmd
	})
	ctx, cancel := context.WithTimeout(t.Context(), fieldTimeout)
	defer cancel()
	up := make(chan transport.HostID, machines)
	go y.take(ctx, all.reports, up)
	for k := range machines {
		if err := all.start(transport.HostID(k)); err != nil {
			t.Fatal(err)
		}
	}
	for range machines {
		select {
		case <-up:
		case <-ctx.Done():
			t.Fatalf("not all are up:\n%s", logs(y.dir))
		}
	}
	silent := func(r *host.Report) bool { return len(r.Silent) > 0 || r.Host == 0 } // which hears machine 1 alone
	calm := func(r *host.Report) bool { return len(r.Silent) == 0 && r.Stats.Steps > 0 }
	phases := []struct {
		what string
		when func(since int) bool
		do   func()
	}{
		{"the cable of machine 2 is pulled", func(t int) bool { return y.all(t, calm) }, func() { y.plug(2, "down") }},
		{"it is put back", func(t int) bool { return y.all(t, silent) }, func() { y.plug(2, "up") }},
		{"the servers of machines 1 and 2 are killed", func(t int) bool { return y.all(t, calm) }, func() { kill[1](); kill[2]() }},
		{"the end", func(t int) bool { return w.calm >= healSteps && y.all(t, calm) }, func() { w.enough = true }},
	}
	since := 0
	w.then = func() {
		if len(phases) > 0 && phases[0].when(since) {
			t.Logf("step %d, %v: %s; answers missed so far: %v", w.steps, w.since().Round(time.Millisecond), phases[0].what, w.lost)
			phases[0].do()
			phases, since = phases[1:], w.steps+1
		}
	}
	sim := &simulator{
		world: w, hosts: Partition(w.graph, machines), outputs: w.classes, cost: host.CrossEntropy, answers: all.answers, ports: all.ports,
		period: 40 * time.Millisecond,
	}
	if err := sim.run(ctx, w.step); err != nil {
		t.Errorf("%v; %d phases left\n%s", err, len(phases), logs(y.dir))
	}
	if err := all.close(10 * time.Second); err != nil {
		t.Errorf("%v\n%s", err, logs(y.dir))
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, r := range y.reports {
		t.Logf("host %d: %+v %+v", r.Host, r.Stats, r.Bus)
	}
}
