package swarm

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// prepare makes the launcher: keys, a server, configurations.
func (r *run) prepare(ctx context.Context) error {
	if r.Bus == "" {
		r.Bus = box.BusNATS
	}
	if r.Keep || r.Program != nil {
		if err := modelfile.Save(filepath.Join(r.Dir, "model.safetensors"), r.Task.model); err != nil {
			return err
		}
	}
	var addresses map[transport.HostID]string
	if r.Bus != BusMem {
		if err := keys.Make(r.keyDir(), r.keyPlan()); err != nil {
			return err
		}
	}
	switch r.Bus {
	case box.BusNATS:
		if err := r.startBroker(""); err != nil {
			return err
		}
	case box.BusTCP:
		var err error
		if addresses, err = r.addresses(); err != nil {
			return err
		}
	}
	if r.Program == nil {
		r.prepareGoroutines(ctx, addresses)
		return nil
	}
	return r.prepareProcesses(ctx, addresses)
}

func (r *run) keyDir() string { return filepath.Join(r.Dir, "keys") }

// keyPlan says who may hear whom.
func (r *run) keyPlan() keys.Plan {
	p := keys.Plan{Run: r.Run, Server: []string{"127.0.0.1"}}
	for id := range transport.HostID(r.Hosts) {
		name := "127.0.0.1"
		if place, ok := r.Places[id]; ok {
			name, _, _ = net.SplitHostPort(place.Address)
		}
		p.Hosts = append(p.Hosts, keys.Host{ID: id, Hears: r.hears[id], Names: []string{name}})
	}
	return p
}

// startBroker starts the NATS server; an empty address means a free one.
func (r *run) startBroker(addr string) error {
	permissions, err := keys.LoadPermissions(r.keyDir())
	if err != nil {
		return err
	}
	b, err := broker.Start(broker.Config{Addr: addr, Keys: permissions})
	if err != nil {
		return err
	}
	r.broker = b
	return nil
}

// restartBroker ends the server and starts another one in its place.
func (r *run) restartBroker() error {
	addr := r.broker.Addr()
	r.broker.Stop()
	return r.startBroker(addr)
}

// addresses returns where hosts are reached over direct links.
func (r *run) addresses() (map[transport.HostID]string, error) {
	if r.Places == nil {
		return freeAddresses(r.Hosts)
	}
	m := map[transport.HostID]string{}
	for id, place := range r.Places {
		m[id] = place.Address
	}
	return m, nil
}

// freeAddresses returns an address on loopback for every host.
func freeAddresses(hosts int) (map[transport.HostID]string, error) {
	m := map[transport.HostID]string{}
	for id := range transport.HostID(hosts) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("swarm: %w", err)
		}
		defer l.Close() // all are open until all are found
		m[id] = l.Addr().String()
	}
	return m, nil
}

// prepareGoroutines makes a launcher of goroutines.
func (r *run) prepareGoroutines(ctx context.Context, addresses map[transport.HostID]string) {
	g := &goroutines{ctx: ctx, answers: make(chan *host.Answer, 256), hosts: map[transport.HostID]*goroutine{}}
	given := box.Given{Dir: r.Dir, Model: r.Task.model, Every: r.Every, Report: func(report *host.Report) {
		select {
		case r.reports <- report:
		default:
		}
	}}
	if r.Bus == BusMem {
		given.Join = (&mem.Network{Buffer: 1 << 14}).Join
	}
	g.open = func(id transport.HostID, w host.World) (*box.Box, error) {
		mine := given
		mine.World = w
		return box.Open(ctx, r.config(id, addresses), box.Streams{Given: mine})
	}
	r.launcher, r.answers = g, g.answers
}

// always returns the hosts that a host listens to all the time: all neighbours,
// if links never change places.
func (r *run) always(id transport.HostID) []transport.HostID {
	if r.Task.Graph == nil {
		return nil
	}
	return r.hears[id]
}

// Dial connects to a NATS server that should be there, and tries for
// startTimeout.
func Dial(ctx context.Context, c natsbus.Config) (*natsbus.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("tried for %v", startTimeout))
	defer cancel()
	return natsbus.Dial(ctx, c)
}

// prepareProcesses makes a launcher of processes.
func (r *run) prepareProcesses(ctx context.Context, addresses map[transport.HostID]string) error {
	r.configure = func(id transport.HostID) error { return box.Save(r.file(id), r.config(id, addresses)) }
	for id := range transport.HostID(r.Hosts) {
		if err := r.configure(id); err != nil {
			return err
		}
	}
	p := newProcesses(r.Dir, func(id transport.HostID) *exec.Cmd {
		program := r.Program
		if own, ok := r.Programs[id]; ok {
			program = own
		}
		args := slices.Concat(r.Places[id].Enter, program, []string{"--config", r.file(id)})
		cmd := exec.Command(args[0], args[1:]...)
		Share(cmd, r.Hosts)
		return cmd
	})
	p.reports = r.reports
	r.launcher, r.answers = p, p.answers
	if !r.overSubjects() {
		return nil
	}
	secrets, err := keys.LoadClient(r.keyDir(), keys.World)
	if err != nil {
		return err
	}
	conn, err := Dial(ctx, natsbus.Config{URL: r.broker.URL(), Run: r.Run, Host: transport.HostID(r.Hosts), Seed: secrets.Seed, Name: "world"})
	if err != nil {
		return err
	}
	s := &subjects{conn: conn, run: r.Run, final: make(chan transport.HostID, 4096)}
	r.launcher = &natsProcesses{p, s}
	return s.listen(p.answers, r.reports, p.reported)
}

// overSubjects says whether the world speaks over NATS.
func (r *run) overSubjects() bool { return r.Bus == box.BusNATS && !r.Lines }

func (r *run) file(id transport.HostID) string {
	return filepath.Join(r.Dir, fmt.Sprintf("host-%d.yaml", id))
}

// config returns the configuration of one host.
func (r *run) config(id transport.HostID, addresses map[transport.HostID]string) *box.Config {
	c := r.Task.config()
	c.Run, c.Host, c.Hear, c.Hosts = r.Run, id, r.always(id), map[transport.HostID]box.Peer{}
	c.Bus, c.World = box.Bus{Kind: r.Bus, Keys: "keys", Plain: r.Bus == box.BusNATS}, box.World{Kind: box.WorldLines}
	c.CheckpointEvery = r.CheckpointEvery
	c.Pace = box.Pace{
		Mode: r.Pace.Mode, Deadline: r.Pace.Deadline, First: r.Pace.First, Retry: r.Pace.Retry, Suspect: r.Pace.Suspect, Linger: r.Pace.Linger,
	}
	if r.overSubjects() {
		c.World.Kind = box.WorldSubject
	}
	if r.broker != nil {
		c.Bus.URL = r.broker.URL()
	}
	for h, nodes := range r.divided {
		c.Hosts[h] = box.Peer{Nodes: host.FormatNodes(nodes), Address: addresses[h]}
	}
	if r.Keep {
		c.State = fmt.Sprintf("state/%d", id)
	}
	if f := r.faults(); f.Any() || r.Hub != nil {
		c.Faults = &f
	}
	return c
}

// faults returns what is to go wrong on the network, as a host that starts now
// must know it. Viewers may change how much is lost: it is sent to hosts.
func (r *run) faults() transport.Faults {
	f := r.Faults
	f.Began = r.began
	if r.Hub != nil {
		f.Loss = 0
	}
	return f
}

// config returns what the configurations of all hosts say of the task.
func (t *Task) config() *box.Config {
	c := &box.Config{Model: "model.safetensors", Learn: t.rule.Settings(), Cost: t.cost, Strict: t.Strict}
	if w, ok := t.World.(*seriesWorld); ok {
		c.Sensors = w.newcomers(t.model)
	}
	if t.scale != 0 {
		c.Scale = t.scale
	}
	return c
}

// Plan returns what the agents of the task share.
func (t *Task) Plan() (*agent.Plan, error) { return t.config().Plan(t.model) }
