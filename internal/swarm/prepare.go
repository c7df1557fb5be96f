package swarm

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
	"github.com/wdgnn/wdgnn/transport/natsbus"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

// prepare makes the launcher: keys, a server, configurations.
func (r *run) prepare(ctx context.Context) error {
	if r.Bus == "" {
		r.Bus = box.BusNATS
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
		if addresses, err = freeAddresses(r.Hosts); err != nil {
			return err
		}
	}
	if r.Program == nil {
		return r.prepareGoroutines(ctx, addresses)
	}
	return r.prepareProcesses(ctx, addresses)
}

func (r *run) keyDir() string { return filepath.Join(r.Dir, "keys") }

// keyPlan says who may hear whom.
func (r *run) keyPlan() keys.Plan {
	p := keys.Plan{Run: r.Run, Server: []string{"127.0.0.1"}}
	for id := range transport.HostID(r.Hosts) {
		p.Hosts = append(p.Hosts, keys.Host{ID: id, Hears: r.hears[id], Names: []string{"127.0.0.1"}})
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
func (r *run) prepareGoroutines(ctx context.Context, addresses map[transport.HostID]string) error {
	directory, err := host.NewDirectory(r.divided)
	if err != nil {
		return err
	}
	network := &mem.Network{Buffer: 1 << 14}
	r.answers = make(chan *host.Answer, 256)
	prepare := func(id transport.HostID) (c host.Config, e host.Env, err error) {
		bus, err := r.join(ctx, network, id, addresses)
		if err != nil {
			return c, e, err
		}
		e = host.Env{Bus: transport.Disturb(bus, id, r.faults()), ReportEvery: r.Every}
		c = host.Config{
			Run: r.Run, Host: id, Nodes: r.divided[id], Plan: r.plan, Cost: r.Task.cost, Directory: directory, Pace: r.Pace,
			Hear: r.always(id), Every: r.CheckpointEvery,
		}
		if r.Hub != nil {
			c.Losses = transport.NewLosses(id, r.Faults.Seed)
		}
		if r.Keep {
			e.Store, err = journal.OpenFolder(filepath.Join(r.Dir, "state", strconv.Itoa(int(id))))
		}
		return c, e, err
	}
	r.launcher = &goroutines{ctx: ctx, prepare: prepare, answers: r.answers, reports: r.reports, hosts: map[transport.HostID]*goroutine{}}
	return nil
}

// always returns the hosts that a host listens to all the time: all neighbours,
// if links never change places.
func (r *run) always(id transport.HostID) []transport.HostID {
	if r.Task.Graph == nil {
		return nil
	}
	return r.hears[id]
}

// join returns the bus of a host in this process.
func (r *run) join(
	ctx context.Context, network *mem.Network, id transport.HostID, addresses map[transport.HostID]string,
) (transport.Bus, error) {
	switch r.Bus {
	case BusMem:
		return network.Join(id)
	case box.BusTCP:
		secrets, err := keys.HostTLS(r.keyDir(), id)
		if err != nil {
			return nil, err
		}
		return tcpbus.Open(ctx, tcpbus.Config{
			Host: id, Listen: addresses[id], Peers: addresses, TLS: secrets,
			Identify: func(c *x509.Certificate) (transport.HostID, error) { return keys.HostOf(c, r.Run) },
			Permit:   func(c *x509.Certificate, sender transport.HostID) error { return keys.MayHear(c, r.Run, sender) },
		})
	}
	secrets, err := keys.LoadClient(r.keyDir(), keys.HostName(id))
	if err != nil {
		return nil, err
	}
	return Dial(ctx, natsbus.Config{URL: r.broker.URL(), Run: r.Run, Host: id, Seed: secrets.Seed})
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
	if err := modelfile.Save(filepath.Join(r.Dir, "model.safetensors"), r.Task.model); err != nil {
		return err
	}
	r.configure = func(id transport.HostID) error { return box.Save(r.file(id), r.config(id, addresses)) }
	for id := range transport.HostID(r.Hosts) {
		if err := r.configure(id); err != nil {
			return err
		}
	}
	p := newProcesses(r.Dir, func(id transport.HostID) *exec.Cmd {
		args := append(append([]string{}, r.Program[1:]...), "--config", r.file(id))
		cmd := exec.Command(r.Program[0], args...)
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

// config returns the configuration of one process.
func (r *run) config(id transport.HostID, addresses map[transport.HostID]string) *box.Config {
	c := &box.Config{
		Run: r.Run, Host: id, Model: "model.safetensors", Learn: r.Task.rule.Settings(), Cost: r.Task.cost, Strict: r.Task.Strict,
		Hear: r.always(id), Hosts: map[transport.HostID]box.Peer{}, Bus: box.Bus{Kind: r.Bus, Keys: "keys", Plain: r.Bus == box.BusNATS},
		World: box.World{Kind: box.WorldLines}, CheckpointEvery: r.CheckpointEvery,
		Pace: box.Pace{Mode: r.Pace.Mode, Deadline: r.Pace.Deadline, Retry: r.Pace.Retry, Suspect: r.Pace.Suspect},
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

// Plan returns what the agents of the task share.
func (t *Task) Plan() (*agent.Plan, error) {
	basis, err := online.NewBasis(t.model.Network, t.rule, t.moment)
	if err != nil {
		return nil, err
	}
	p := &agent.Plan{
		Model: t.model.Network, Operator: t.model.Meta.Shift, Delayed: t.model.Meta.Delayed,
		Basis: basis, Rule: &t.rule, Cost: t.cost.Kind(), Forgiving: !t.Strict,
	}
	return p, p.Validate()
}
