package box

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/transport"
)

// Streams is where a box reads and writes. In is closed at the end if it can
// be.
type Streams struct {
	In    io.Reader    // lines of the world, if it is stdin
	Out   io.Writer    // answers and reports
	Log   *slog.Logger // nil means silence
	Given Given
}

// Given is what a box has from the process that it shares with others, in place
// of what its configuration names. The zero Given is that of a box on its own.
type Given struct {
	Dir    string                                        // that paths are seen from
	Model  *modelfile.Model                              // in place of a file
	Join   func(transport.HostID) (transport.Bus, error) // in place of nats and tcp
	Bend   func(transport.Bus) transport.Bus             // what is sent, and heard
	World  host.World                                    // whose lines come when it says
	Report func(*host.Report)                            // hears reports; nobody else does then
	Every  time.Duration                                 // between two of them, with Report
}

// Box is a Config that was made a host, with everything around it.
type Box struct {
	*Config
	given     Given
	host      *host.Host
	log       *slog.Logger
	nodes     []agent.NodeID
	directory *host.Directory
	model     *modelfile.Model
	cost      host.Cost
	files     *data.Stream   // of a world that is a stream
	series    *seriesFiles   // or of one that is a series of readings
	sensed    *mqttWorld     // or what sensors say by MQTT
	seed      []agent.Memory // of a model that has learned online

	monitor *monitor
	buses   buses
	store   *journal.Snapshots // nil if there is none
	stdout  *outbox
	answers *outbox // may be stdout
	world   world
	reports *reporter

	newcomers *newcomers // nil without keys

	deployed  *deployment // nil if no model ever was
	sum       string      // SHA-256 of the file of the model
	runs      string      // SHA-256 of the model, if it was deployed
	plan      *agent.Plan
	mostFrame int       // bytes of frames that the bus takes
	deployer  *deployer // nil if nobody can deploy to it

	closers []func() error // in reverse order
}

// Run runs the box until its world ends or ctx does, both of which are no
// error, and writes a last checkpoint. A box without gates whose learning does harm
// when its world ends is one: everything is written, but whoever started it must not
// take its answers for good ones.
func Run(ctx context.Context, c *Config, s Streams) error {
	if err := c.Validate(); err != nil {
		return err
	}
	c.spare()
	b, err := Open(ctx, c, s)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	err = b.Serve(ctx)
	if err == nil && ctx.Err() == nil {
		err = b.harm()
	}
	return errors.Join(err, b.Close())
}

// largeGarbage is by how many percent the memory of a process with many nodes may grow
// before garbage is collected, if nobody says so by GOGC; usual are 100. What nodes
// remember is most of it, and a step makes little garbage: to collect it more often
// costs next to nothing, and saves a third of the memory.
const largeGarbage = 40

// spare spares memory where there are many nodes.
func (c *Config) spare() {
	if nodes, _, err := c.directory(); err == nil && os.Getenv("GOGC") == "" && len(nodes) > manyNodes {
		debug.SetGCPercent(largeGarbage)
	}
}

// leastJudged is of how many steps answers must have been judged for a verdict: those of
// a few may be worse by chance.
const leastJudged = 10

// harm returns an error if nodes learned without gates and ended with answers that
// cost far more than those of the model as trained.
func (b *Box) harm() error {
	r := b.host.Report()
	at := r.Learning
	if at == nil || r.Gate != nil || at.Steps < leastJudged && mat.Finite(at.Learned) {
		return nil
	}
	if at.Harmful() {
		return fmt.Errorf("online learning does harm: %v; try learn.gate: on", at)
	}
	return nil
}

// Open makes the host of a valid configuration and everything around it: the one
// place where boxes are put together, whatever process they are in.
func Open(ctx context.Context, c *Config, s Streams) (*Box, error) {
	b := &Box{Config: c, given: s.Given, log: s.Log}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	c.jumps = &jumps{log: b.log}
	if b.given.Dir != "" {
		b.dir = b.given.Dir
	}
	if b.given.Join == nil {
		c.certificate = c.newCertificate(b.log)
	}
	if err := b.build(ctx, s); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Serve runs the host until its world ends or ctx does, and writes a last
// checkpoint. Close follows.
func (b *Box) Serve(ctx context.Context) error {
	err := b.host.Run(ctx)
	b.world.stop()
	last := b.host.Report()
	b.reports.end(last)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = stopped(err, ctx.Err())
	}
	b.log.Info("stopped", "time", last.Time, "steps", last.Stats.Steps)
	return err
}

// ready lets the world begin.
func (b *Box) ready(r *host.Ready) error {
	if err := b.world.start(r.Next); err != nil {
		return fmt.Errorf("world: %w", err)
	}
	b.log.Info("running", "run", b.Run, "host", b.Host, "nodes", host.FormatNodes(b.nodes), "next", r.Next)
	return nil
}

// stopped returns what is wrong beside the end of the context.
func stopped(err, end error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var rest []error
	for _, e := range joined.Unwrap() {
		if !errors.Is(e, end) {
			rest = append(rest, e)
		}
	}
	return errors.Join(rest...)
}

// later has f called at the end.
func (b *Box) later(f func() error) { b.closers = append(b.closers, f) }

// Close gives back everything that Open opened.
func (b *Box) Close() error {
	var errs []error
	for k := len(b.closers) - 1; k >= 0; k-- {
		errs = append(errs, b.closers[k]())
	}
	return errors.Join(errs...)
}

// build makes the host and everything around it.
func (b *Box) build(ctx context.Context, s Streams) error {
	if err := b.read(); err != nil {
		return err
	}
	plan, err := b.Plan(b.model)
	if err != nil {
		return err // before anything is opened
	}
	if b.seed, err = b.readSeed(plan); err != nil {
		return err
	}
	if err := b.loadFiles(plan); err != nil {
		return err
	}
	if b.monitor, err = newMonitor(ctx, b.Run, b.serves()); err != nil {
		return err
	}
	b.monitor.box = b.conditions()
	b.later(b.monitor.close)
	if b.given.Join == nil {
		if b.newcomers, err = b.newNewcomers(); err != nil {
			return err
		}
	}
	if err := b.openState(); err != nil {
		return err
	}
	if b.deployer, err = b.newDeployer(b.deployed); err != nil {
		return err
	}
	b.mostFrame = host.MaxFrame(plan) + deployRoom
	if b.buses, err = b.open(ctx, b.mostFrame); err != nil {
		return err
	}
	if b.buses.bus != nil {
		b.later(b.buses.bus.Close)
	}
	if err := b.openWorld(s); err != nil {
		return err
	}
	if b.given.Report == nil {
		b.reports = b.newReporter()
		b.given.Report, b.given.Every = b.reports.take, reportEvery
	}
	return b.makeHost(ctx)
}

// openState opens the folder of checkpoints, if there is one, and says what is amiss there.
func (b *Box) openState() (err error) {
	if b.State == "" {
		return nil
	}
	b.store, err = journal.OpenFolder(b.abs(b.State))
	if errors.Is(err, journal.ErrNewer) || errors.Is(err, journal.ErrDamaged) {
		return fmt.Errorf("state: %s: %w", b.abs(b.State), err)
	}
	if err != nil {
		return fmt.Errorf("state: %w; every box has a folder of its own", err)
	}
	b.later(b.store.Close)
	b.monitor.box.damaged, b.monitor.box.saved = len(b.store.Skipped), journal.Written(b.abs(b.State))
	for _, s := range b.store.Skipped {
		b.log.Warn("checkpoint cannot be read; the one before is taken", "what", s)
	}
	if b.store.Gone {
		b.log.Warn("a box ran in this folder and there is no checkpoint: none was written, or its files snapshot-* were removed; "+
			"nodes begin anew",
			"state", b.abs(b.State))
	}
	return nil
}

// read reads the model and who runs what.
func (b *Box) read() (err error) {
	if b.nodes, b.directory, err = b.Config.directory(); err != nil {
		return err
	}
	if b.model = b.given.Model; b.model == nil {
		if err = b.readModel(); err != nil {
			return err
		}
	}
	if spec, err := b.model.Forecast(); err == nil && spec != nil && b.World.Kind == WorldMQTT {
		b.tick = spec.Interval // what is wrong with it is said by planForecast
	}
	b.cost, err = b.Config.cost(b.model)
	return err
}

// openWorld makes the world, and where its answers go.
func (b *Box) openWorld(s Streams) (err error) {
	if b.given.World != nil {
		b.world = givenWorld{b.given.World}
		return nil
	}
	wait := b.pace().Deadline
	if wait == 0 {
		wait = host.DefaultDeadline
	}
	out := s.Out
	if out == nil {
		out = io.Discard
	}
	b.stdout = newOutbox(out, wait, b.answersChange)
	b.later(b.stdout.close)
	b.answers = b.stdout
	if b.World.Answers != "" {
		if b.answers, err = openOutbox(b.abs(b.World.Answers), wait, b.answersChange); err != nil {
			return fmt.Errorf("world: %w", err)
		}
		b.later(b.answers.close)
	}
	if b.World.Kind != WorldSubject && b.World.Kind != WorldMQTT {
		b.monitor.watch(b.answers.err)
	}
	switch b.World.Kind {
	case WorldLines:
		b.world, err = b.newLines(s.In, b.answers, b.log)
	case WorldStream:
		if b.series != nil {
			b.series.say(b.log)
			b.world = b.newReadings(b.series, b.nodes, b.answers)
			break
		}
		b.world = b.newStream(b.files, b.nodes, b.answers)
	case WorldMQTT:
		err = b.sensed.open(b)
		b.world = b.sensed
	default:
		b.world = b.newSubject(b.buses.nats, b.log)
	}
	return err
}

// answersChange says that answers cannot be written, or can again.
func (b *Box) answersChange(err error) {
	if err != nil {
		b.log.Warn("answers cannot be written and are lost; the next will be tried", "err", err)
		return
	}
	b.log.Info("answers are written again")
}

// makeHost makes the host, which stands where its checkpoint left it.
func (b *Box) makeHost(ctx context.Context) error {
	plan, err := b.Plan(b.model)
	if err != nil {
		return err
	}
	c := host.Config{
		Run: b.Run, Host: b.Host, Nodes: b.nodes, Plan: plan, Cost: b.cost, Pace: *b.pace(), Hear: b.Hear, Links: b.links(),
		Seed: b.seed, Every: b.CheckpointEvery, Names: b.names(plan),
	}
	e := host.Env{Bus: b.buses.bus, World: b.world, OnReady: b.ready, ReportEvery: b.given.Every, OnReport: b.given.Report, Log: b.log}
	if e.Bus != nil {
		c.Directory = b.directory
	}
	if b.given.World != nil {
		e.World = b.given.World // itself: it may count what it refuses and loses
	}
	trainedLinks(&c)
	b.join(&c, &e)
	if err := b.deploy(&c, &e); err != nil {
		return err
	}
	if b.Faults != nil {
		c.Losses = transport.NewLosses(b.Host, b.Faults.Seed)
	}
	if b.store != nil {
		e.Store = b.store
	}
	b.host, err = host.New(c, e)
	if errors.Is(err, host.ErrState) {
		err = fmt.Errorf("%s: %w", b.abs(b.State), err)
	}
	if err == nil && b.buses.nats != nil {
		// What is heard should be known to the server before others are asked
		// to speak; without a server that comes later.
		if err := b.buses.nats.Flush(ctx); err != nil {
			b.log.Warn("bus", "err", err)
		}
	}
	return err
}

// join lets others join while the host runs, and this one join others.
func (b *Box) join(c *host.Config, e *host.Env) {
	n := b.newcomers
	if n == nil {
		return
	}
	c.Vouch = n.vouch
	if n.own != nil {
		c.Records = [][]byte{n.own}
	}
	e.Records, e.OnJoin = n.records, n.joined
	if b.buses.nats != nil {
		e.Hail = b.buses.nats.Show
	}
	n.start()
	b.later(n.stop)
}

// trainedLinks gives sensors of which the configuration names no neighbours those that they
// had in training: a world of readings need not speak of links.
func trainedLinks(c *host.Config) {
	replayed := c.Plan.Replayed
	if replayed == nil || replayed.Links == nil {
		return
	}
	for _, node := range c.Nodes {
		if _, named := c.Links[node]; !named && int(node) < replayed.Links.Rows {
			c.Links[node] = agent.LinksOf(nil, replayed.Links, int(node))
		}
	}
}

// links returns the neighbours that the configuration names.
func (c *Config) links() map[agent.NodeID][]agent.Link {
	all := map[agent.NodeID][]agent.Link{}
	for node, links := range c.Links {
		for _, l := range links {
			all[agent.NodeID(node)] = append(all[agent.NodeID(node)], agent.Link(l))
		}
	}
	return all
}
