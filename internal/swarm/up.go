package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/transport"
)

// Up runs a swarm until its world ends or ctx does. Everything it started is
// gone when it returns; the result holds what was seen so far even if there is
// an error.
func Up(ctx context.Context, o Options) (*Result, error) {
	if o.Task == nil {
		return nil, errors.New("swarm: no task")
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r, err := launch(ctx, &o)
	if err != nil {
		return nil, err
	}
	played := r.simulate(ctx)
	closed := r.launcher.close(10 * time.Second)
	r.watching.Wait()
	r.drain()
	if r.broker != nil {
		r.server = r.broker.Stats()
		r.broker.Stop()
	}
	result := r.result()
	if ctx.Err() != nil {
		closed = nil // hosts that were stopped in the middle
	}
	return result, errors.Join(played, closed)
}

// run is a swarm that is up.
type run struct {
	*Options
	plan     *agent.Plan
	divided  map[transport.HostID][]agent.NodeID
	hears    map[transport.HostID][]transport.HostID
	launcher launcher

	configure func(transport.HostID) error // writes the configuration of a process; nil without

	answers chan *host.Answer
	reports chan *host.Report
	broker  *broker.Server
	server  broker.Stats
	verify  *verifier // nil if nobody wants to know
	frozen  *frozen   // nil if answers change the world

	watching sync.WaitGroup
	stop     chan struct{} // closed when the world has ended

	mu        sync.Mutex // guards what follows
	latest    map[transport.HostID]*host.Report
	final     map[transport.HostID]*host.Report
	past      Sums // of hosts that were killed, as far as those who followed do not know
	score     score
	asTrained online.Meter // how the model as trained does
	began     time.Time    // of the first step
	ended     time.Time    // of the last
	steps     int
	events    []string // what happened, in words
	pids      map[transport.HostID]int
	missing   int
}

// launch starts everything and waits until every host is up.
func launch(ctx context.Context, o *Options) (*run, error) {
	r := &run{
		Options: o, latest: map[transport.HostID]*host.Report{}, final: map[transport.HostID]*host.Report{},
		stop: make(chan struct{}), reports: make(chan *host.Report, 4096),
	}
	if _, forecasts := o.Task.World.(*seriesWorld); forecasts && o.Verify {
		o.Keep = true // what nodes know at the end is in their checkpoints
	}
	plan, err := o.Task.Plan()
	if err != nil {
		return nil, err
	}
	r.plan, r.divided = plan, divide(o)
	r.hears = Neighbours(o.Task.Graph, r.divided)
	if o.Verify {
		v, err := newVerifier(o.Task)
		if err != nil {
			return nil, err
		}
		r.verify = v
	}
	if o.Task.cost != host.Gradient {
		if r.frozen, err = newFrozen(o.Task); err != nil {
			return nil, err
		}
	}
	if err := r.prepare(ctx); err != nil {
		r.abandon()
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(r.divided)) {
		if err := r.launcher.start(id); err != nil {
			r.abandon()
			return nil, err
		}
	}
	if err := r.awaitHosts(ctx); err != nil {
		r.abandon()
		return nil, err
	}
	r.pids = r.launcher.pids()
	r.watching.Go(r.collect)
	return r, nil
}

// divide says which host runs which nodes.
func divide(o *Options) map[transport.HostID][]agent.NodeID {
	if o.Task.Graph == nil {
		return Divide(o.Task.Nodes, o.Hosts)
	}
	return Partition(o.Task.Graph, o.Hosts)
}

// abandon ends what was started so far.
func (r *run) abandon() {
	if r.launcher != nil {
		r.launcher.close(time.Second)
	}
	if r.broker != nil {
		r.broker.Stop()
	}
}

// startTimeout is how long hosts may take to come up.
const startTimeout = 60 * time.Second

// awaitHosts waits for the first report of every host.
func (r *run) awaitHosts(ctx context.Context) error {
	end := time.NewTimer(startTimeout)
	defer end.Stop()
	check := time.NewTicker(100 * time.Millisecond)
	defer check.Stop()
	for len(r.latest) < r.Hosts {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case report := <-r.reports:
			r.latest[report.Host] = report
		case <-check.C:
			if n := r.launcher.running(); n < r.Hosts {
				return fmt.Errorf("swarm: %d of %d hosts are gone before the first step; logs are in %s", r.Hosts-n, r.Hosts, r.Dir)
			}
		case <-end.C:
			return fmt.Errorf("swarm: %d of %d hosts are up after %v; logs are in %s", len(r.latest), r.Hosts, startTimeout, r.Dir)
		}
	}
	return nil
}

// simulate plays the world to the hosts, with what is to go wrong.
func (r *run) simulate(ctx context.Context) error {
	var faults sync.WaitGroup
	defer faults.Wait() // nobody is started or killed while all are ended
	defer close(r.stop)
	sim := &simulator{
		world: r.Task.World, hosts: r.divided, outputs: r.Task.model.Network.Outputs(), cost: r.Task.cost, delay: r.Task.delay(),
		answers: r.answers, ports: r.launcher.ports, period: r.Period, timeout: 3*cmp.Or(r.Pace.Deadline, host.DefaultDeadline) + time.Second,
	}
	r.mu.Lock()
	r.began = time.Now()
	r.mu.Unlock()
	faults.Go(func() { r.injectFaults(ctx) })
	if r.Watch != nil {
		r.watching.Go(r.show)
	}
	var page *publisher
	if r.Hub != nil {
		page = newPublisher(r)
	}
	return sim.run(ctx, func(m *Step) (err error) {
		if r.verify != nil {
			if err := r.verify.step(m); err != nil {
				return err
			}
		}
		if r.frozen != nil {
			if err := r.frozen.step(m); err != nil {
				return err
			}
			r.mu.Lock()
			r.asTrained = r.frozen.meter
			r.mu.Unlock()
		}
		r.mu.Lock()
		r.score.watch(m)
		r.steps++
		r.missing += m.Missing
		r.ended = time.Now()
		r.mu.Unlock()
		if page != nil {
			if sim.paused, err = page.step(ctx, m); err != nil {
				return err
			}
		}
		if r.OnStep != nil {
			return r.OnStep(m)
		}
		return nil
	})
}

// collect keeps the latest report of every host.
func (r *run) collect() {
	for {
		select {
		case report := <-r.reports:
			r.note(report)
		case <-r.stop:
			return
		}
	}
}

func (r *run) note(report *host.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest[report.Host] = report
	if report.Final {
		r.final[report.Host] = report
	}
}

// drain takes in the reports that came last.
func (r *run) drain() {
	for {
		select {
		case report := <-r.reports:
			r.note(report)
		default:
			return
		}
	}
}

// restart starts a host that was killed.
func (r *run) restart(id transport.HostID) error {
	if r.configure != nil && r.Faults.Any() {
		if err := r.configure(id); err != nil { // since when there are faults
			return err
		}
	}
	r.mu.Lock()
	if last := r.latest[id]; last != nil {
		r.past.Host.Add(last.Stats)
		r.past.Bus.Add(last.Bus)
		r.latest[id] = &host.Report{Run: last.Run, Host: id, Nodes: last.Nodes, Time: last.Time, Agents: last.Agents, Params: last.Params}
	}
	r.mu.Unlock()
	return r.launcher.start(id)
}

// injectFaults makes happen what is to go wrong.
func (r *run) injectFaults(ctx context.Context) {
	type fault struct {
		at   time.Duration
		what string
		do   func() error
	}
	var list []fault
	nothing := func() error { return nil } // hosts do it themselves
	for _, p := range r.Faults.Partitions {
		who, _, _ := strings.Cut("hosts "+p.String(), "@")
		list = append(list, fault{p.From, who + " were cut off", nothing})
		if p.To > 0 {
			list = append(list, fault{p.To, who + " were joined again", nothing})
		}
	}
	for _, k := range r.Kills {
		list = append(list, fault{k.From, fmt.Sprintf("host %d was killed", k.Host), func() error { return r.launcher.kill(k.Host) }})
		if k.To > 0 {
			list = append(list, fault{k.To, fmt.Sprintf("host %d was started again", k.Host), func() error { return r.restart(k.Host) }})
		}
	}
	if r.Restart > 0 {
		list = append(list, fault{r.Restart, "the NATS server was restarted", r.restartBroker})
	}
	slices.SortStableFunc(list, func(a, b fault) int { return int(a.at - b.at) })
	for _, a := range list {
		wait := time.NewTimer(time.Until(r.began.Add(a.at)))
		select {
		case <-wait.C:
		case <-r.stop:
			wait.Stop()
			return
		case <-ctx.Done():
			wait.Stop()
			return
		}
		words := a.what
		if err := a.do(); err != nil {
			words = fmt.Sprintf("%s: it failed: %v", a.what, err)
		}
		r.mu.Lock()
		r.events = append(r.events, fmt.Sprintf("%.1f s: %s", time.Since(r.began).Seconds(), words))
		r.mu.Unlock()
	}
}
