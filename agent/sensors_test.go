package agent_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// nan is a number that nobody knows.
var nan = float32(math.NaN())

// sensors is a network of sensors with a stream of readings, run by agents and in one
// process.
type sensors struct {
	t     testing.TB
	spec  *forecast.Spec
	model *gnn.WideDeep
	plan  *agent.Plan
	rule  *rule.Config // nil: as trained
	nodes int          // the last of them is a newcomer

	steps []sensorStep

	network *forecast.Network
	learner online.Learner // one that forecasts, or learns h steps later
	joined  []bool
	truths  []mat.Dense // normalised, by step, for learners other than seasons
}

// sensorStep is what happens at a step.
type sensorStep struct {
	time     uint64
	graph    *graph.Graph
	readings mat.Dense // N×2
	truths   []float32 // nil: the readings
	late     []lateTruth
}

type lateTruth struct {
	node  int
	time  uint64
	value float32
}

const (
	sensorNodes  = 8 // with the newcomer
	sensorSeason = 12
	joinStep     = 20 // of the stream
	deadStep     = 10
)

// readingOf is what sensor i would read if it read well.
func readingOf(i int, t uint64, rng *rand.Rand) float32 {
	return float32(50+10*i) + 8*float32(math.Sin(2*math.Pi*float64(t)/sensorSeason+float64(i)/3)) + float32(rng.NormFloat64())
}

// newSensors trains nothing: a model of random numbers is as good to compare bits.
func newSensors(t testing.TB, seed uint64, r *rule.Config, told bool) *sensors {
	t.Helper()
	rng := random.Stream(seed, "sensors")
	s := &sensors{t: t, nodes: sensorNodes, rule: r, joined: make([]bool, sensorNodes)}
	const trained, steps = sensorNodes - 1, 60
	g, err := graph.ErdosRenyi(trained, 0.5, rng)
	check(t, err)
	readings := mat.NewDense(steps*trained, 2, nil)
	for k := range readings.Rows {
		readings.Set(k, 0, readingOf(k%trained, uint64(k/trained), rng))
		readings.Set(k, 1, float32(rng.NormFloat64()))
		if rng.IntN(20) == 0 {
			readings.Set(k, 0, nan)
		}
	}
	names := make([]string, trained)
	for i := range names {
		names[i] = fmt.Sprintf("s%d", i)
	}
	s.spec, err = forecast.Fit(forecast.Spec{
		Sensors: names, Interval: time.Hour, Origin: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), Lags: 3, Horizons: []int{1, 3},
		Extras: 1, Day: forecast.Cycle(24), Season: sensorSeason,
	}, readings, g.Adjacency(), forecast.ScalePerSensor)
	check(t, err)
	for c := range s.spec.Horizons {
		rms := make([]float64, trained)
		for i := range rms {
			rms[i] = 0.2 + 0.3*rng.Float64()
		}
		s.spec.SetSigma(c, rms)
	}
	config := gnn.Config{
		In: s.spec.Inputs(), Features: 6, Outputs: 2, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 2, Features: 4}, {Order: 1, Features: 6}},
	}
	s.model, err = gnn.NewRandom(config, rng)
	check(t, err)
	s.begin(g, readings, steps)
	s.draw(rng, steps, told)
	return s
}

// begin makes a plan whose nodes remember the training series, and the same in one
// process.
func (s *sensors) begin(g *graph.Graph, readings mat.Dense, steps int) {
	s.t.Helper()
	trained := len(s.spec.Norms)
	network := forecast.NewNetwork(s.spec, trained)
	rows, moment := mat.NewDense(trained, s.spec.Inputs(), nil), new(rule.SecondMoment)
	samples := make([]graph.Sample, steps)
	truths := make([][]float32, steps)
	for k := range steps {
		network.Read(rows, uint64(k), readings.View(k*trained, 0, trained, 2), nil, g.Adjacency())
		samples[k] = s.sample(uint64(k), g, rows)
		truths[k] = make([]float32, trained)
		network.Truths(truths[k])
		z := mat.NewDense(trained, 3*s.spec.Inputs(), nil)
		new(gnn.Shifter).Shift(z, samples[k].Shift, rows)
		moment.Add(z, z.Cols)
	}
	plan := agent.PlanConfig{
		Model: s.model, Operator: graph.ShiftRowStochastic, Forecast: s.spec,
		Replayed: &agent.Replayed{Sensors: network.Memory(), Links: g.Adjacency()},
	}
	observer := func(nodes int) *online.Observer {
		o, err := online.NewObserver(s.model, online.Config{Nodes: nodes, HopByHop: true, Moment: moment})
		check(s.t, err)
		return o
	}
	s.network = forecast.NewNetwork(s.spec, s.nodes)
	check(s.t, s.network.Restore(network.Memory(), widened(g, s.nodes).Adjacency()))
	switch o := observer(s.nodes); {
	case s.rule == nil:
		s.learner = o
	case s.rule.Season != nil:
		task := rule.SeasonTask{Season: sensorSeason, Horizons: s.spec.Horizons, Lagged: s.spec.Lagged(2), Moment: moment}
		sigma := make([][]float64, s.nodes)
		for i := range trained {
			sigma[i] = s.spec.Norms[i].Sigma
		}
		replay, err := online.NewForecaster(observer(trained), *s.rule, task, sigma[:trained])
		check(s.t, err)
		for k := range steps {
			replay.Tell(uint64(k), truths[k])
			check(s.t, replay.Observe(samples[k]))
			check(s.t, replay.Update(nil))
		}
		replay.Uncounted()
		states := replay.Snapshot().Nodes
		plan.Rule, plan.Replayed.Seasons = s.rule, states
		plan.Season, err = rule.NewSeasonPlan(s.rule, task)
		check(s.t, err)
		f, err := online.NewForecaster(o, *s.rule, task, sigma)
		check(s.t, err)
		check(s.t, f.Begin(states))
		s.learner = f
	default:
		consensus, err := online.NewConsensus(o, *s.rule)
		check(s.t, err)
		plan.Rule, plan.Basis, plan.Cost = s.rule, consensus.Basis(), loss.L1{}
		s.learner = consensus
	}
	s.plan = newPlan(s.t, plan)
}

// sample is what a learner observes.
func (s *sensors) sample(t uint64, g *graph.Graph, rows mat.Dense) graph.Sample {
	s.t.Helper()
	shift, err := graph.ShiftRowStochastic.Of(g)
	check(s.t, err)
	w, err := graph.Metropolis(g)
	check(s.t, err)
	return graph.Sample{Time: int(t), Shift: shift, Mixing: w, Signal: mat.NewDense(rows.Rows, rows.Cols, slices.Clone(rows.Data))}
}

// widened is g with nodes more that have no links.
func widened(g *graph.Graph, nodes int) *graph.Graph {
	var edges []graph.Edge
	for i := range g.Nodes() {
		to, weights := g.Adjacency().Row(i)
		for k, j := range to {
			if i < int(j) {
				edges = append(edges, graph.Edge{From: i, To: int(j), Weight: float64(weights[k])})
			}
		}
	}
	wide, err := graph.FromEdges(nodes, edges, false)
	if err != nil {
		panic(err)
	}
	return wide
}

// draw makes the stream that follows training: with gaps, links that are lost, a
// sensor that dies, one that joins, a step that is left out, and, if told, truths
// apart from readings, of which some come late and some never.
func (s *sensors) draw(rng *rand.Rand, from int, told bool) {
	s.t.Helper()
	const steps = 60
	var known []lateTruth // not told yet
	for k := range steps {
		if k == 33 && s.learnsBySeason() {
			continue // nobody speaks
		}
		step := sensorStep{time: uint64(from + k), readings: mat.NewDense(s.nodes, 2, nil)}
		var edges []graph.Edge
		for i := range s.nodes {
			for j := range i {
				if (i+j)%3 != 0 && rng.IntN(8) > 0 && (i < s.nodes-1 || k >= joinStep) {
					edges = append(edges, graph.Edge{From: j, To: i, Weight: 0.25 + float64((i*j)%5)})
				}
			}
		}
		var err error
		step.graph, err = graph.FromEdges(s.nodes, edges, false)
		check(s.t, err)
		if told {
			step.truths = make([]float32, s.nodes)
		}
		if k%5 == 4 { // what is known late comes in any order
			rng.Shuffle(len(known), func(a, b int) { known[a], known[b] = known[b], known[a] })
			step.late, known = known, nil
		}
		for i := range s.nodes {
			truth := readingOf(i, step.time, rng)
			reading := truth
			switch {
			case i == s.nodes-1 && k < joinStep, rng.IntN(12) == 0:
				reading = nan
			case i == 2 && k >= deadStep:
				reading = -1000
			case i == 4 && k >= deadStep:
				reading = 90 // as if it were well, but always the same
			}
			step.readings.Set(i, 0, reading)
			step.readings.Set(i, 1, float32(rng.NormFloat64()))
			if told {
				step.truths[i] = truth
				switch rng.IntN(4) {
				case 0:
					step.truths[i] = nan
				case 1:
					step.truths[i] = nan
					known = append(known, lateTruth{i, step.time, truth})
				}
			}
		}
		s.steps = append(s.steps, step)
	}
}

// learnsBySeason says whether learning goes by the time of truths; other learners
// count steps.
func (s *sensors) learnsBySeason() bool { return s.rule == nil || s.rule.Season != nil }

// agents lets a swarm take the k-th step. Late truths come before it.
func (s *sensors) agents(swarm *agenttest.Swarm, k int) {
	s.t.Helper()
	step := &s.steps[k]
	for _, l := range step.late {
		if err := swarm.Step(l.node, agent.Told{Time: l.time, Truth: l.value}); err != nil {
			s.t.Fatal(err)
		}
	}
	check(s.t, swarm.Read(step.time, step.graph, step.readings, step.truths))
	_, err := swarm.Expire()
	check(s.t, err)
	check(s.t, swarm.Feedback(nil))
}

// process lets one process take the k-th step, and returns what it answers, in the
// units of the readings.
func (s *sensors) process(k int) mat.Dense {
	s.t.Helper()
	step := &s.steps[k]
	rows, y := mat.NewDense(s.nodes, s.spec.Inputs(), nil), mat.NewDense(s.nodes, 2, nil)
	s.network.Read(rows, step.time, step.readings, step.truths, step.graph.Adjacency())
	s.join(step)
	truths := make([]float32, s.nodes)
	s.network.Truths(truths)
	f, seasonal := s.learner.(*online.Forecaster)
	if seasonal {
		s.tellLate(f, step)
		f.Tell(step.time, truths)
	}
	check(s.t, s.learner.Observe(s.sample(step.time, step.graph, rows)))
	check(s.t, s.learner.Predict(y))
	if s.rule != nil && !seasonal {
		check(s.t, s.learner.Update(s.targets(step.time, truths)))
	} else {
		check(s.t, s.learner.Update(nil))
	}
	for i := range s.nodes {
		for c := range y.Cols {
			if s.network.Sensor(i) == nil {
				y.Set(i, c, nan)
			} else {
				y.Set(i, c, s.network.Sensor(i).Units(y.At(i, c)))
			}
		}
	}
	return y
}

// join gives a newcomer that has heard a sensor of training what those began with.
func (s *sensors) join(step *sensorStep) {
	s.t.Helper()
	last := s.nodes - 1
	f, ok := s.learner.(*online.Forecaster)
	if !ok || s.joined[last] || s.network.Sensor(last) == nil {
		return
	}
	s.joined[last] = true
	nodes, weights := step.graph.Adjacency().Row(last)
	var near []int
	var states []rule.State
	var shares []float64
	for k, j := range nodes {
		near = append(near, int(j))
		states, shares = append(states, s.plan.Replayed.Seasons[j]), append(shares, float64(weights[k]))
	}
	norm, _ := s.spec.Newcomer(near, weights)
	check(s.t, f.Join(last, norm.Sigma, f.Average(states, shares)))
}

// tellLate tells a learner what came late, in the order of times.
func (s *sensors) tellLate(f *online.Forecaster, step *sensorStep) {
	late := slices.Clone(step.late)
	slices.SortFunc(late, func(a, b lateTruth) int { return int(a.time) - int(b.time) })
	for _, l := range late {
		all := make([]float32, s.nodes)
		for i := range all {
			all[i] = nan
		}
		if sensor := s.network.Sensor(l.node); sensor != nil {
			if v, ok := sensor.Normal(l.value); ok {
				all[l.node] = v
			}
		}
		f.Tell(l.time, all)
	}
}

// targets returns the cost of the answers of three steps ago, whose targets are
// complete now.
func (s *sensors) targets(time uint64, truths []float32) loss.Loss {
	s.truths = append(s.truths, mat.NewDense(s.nodes, 1, truths))
	target := mat.NewDense(s.nodes, 2, nil)
	for i := range s.nodes {
		for c, h := range s.spec.Horizons {
			target.Set(i, c, nan)
			if at := len(s.truths) - 1 - 3 + h; at >= h {
				target.Set(i, c, s.truths[at].At(i, 0))
			}
		}
	}
	return loss.L1{Target: target}
}

// compareBits lets agents and one process take all steps.
func (s *sensors) compareBits(swarm *agenttest.Swarm) {
	s.t.Helper()
	for k := range s.steps {
		s.agents(swarm, k)
		s.sameBits(swarm, k, s.process(k))
	}
}

func (s *sensors) sameBits(swarm *agenttest.Swarm, k int, want mat.Dense) {
	s.t.Helper()
	for i := range s.nodes {
		for c, w := range want.Row(i) {
			if got := swarm.Outputs().At(i, c); math.Float32bits(got) != math.Float32bits(w) && (got == got || w == w) {
				s.t.Fatalf("step %d: forecast %d of node %d is %v, want %v", k, c, i, got, w)
			}
			s.sameInterval(swarm.Nodes[i], k, i, c)
		}
		if l, ok := s.learner.(*online.Consensus); ok && !slices.Equal(swarm.Nodes[i].Params(), l.Params(i)) {
			s.t.Fatalf("step %d: parameters of node %d are %v, want %v", k, i, swarm.Nodes[i].Params(), l.Params(i))
		}
	}
}

// sameInterval compares what is said of the truth.
func (s *sensors) sameInterval(n *agent.Node, k, i, c int) {
	f, ok := s.learner.(*online.Forecaster)
	if !ok || s.network.Sensor(i) == nil || s.rule.Conformal == nil {
		return
	}
	if got, want := n.Meter().Held, f.Meter(i).Held; got != want {
		s.t.Fatalf("step %d: node %d held %d truths, want %d", k, i, got, want)
	}
	if got, want := n.Bounds(), f.Bounds(i); !reflect.DeepEqual(got, want) {
		s.t.Fatalf("step %d: bounds of node %d are %v, want %v", k, i, got, want)
	}
}

func newPlan(t testing.TB, c agent.PlanConfig) *agent.Plan {
	t.Helper()
	p, err := agent.NewPlan(c)
	check(t, err)
	return p
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func seasonRule() *rule.Config {
	r := rule.Seasonal().Ungated()
	r.Gate, r.Conformal = &rule.Gate{}, &conformal.Config{Coverage: 0.9}
	return &r
}
