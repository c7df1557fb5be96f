package recipe

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
	"github.com/wdgnn/wdgnn/train"
)

// Flocking are the settings of Section 6.2. Everything that changes a
// number is here, so that its fingerprint tells results apart.
type Flocking struct {
	Seed  uint64          `json:"seed"`
	World flocking.Config `json:"world"`

	Train int `json:"train"` // flights of the expert
	Valid int `json:"valid"` // of a model in training
	Test  int `json:"test"`

	Epochs        int     `json:"epochs"`
	BatchSize     int     `json:"batch_size"`     // flights
	StepSize      float64 `json:"step_size"`      // of Adam
	ValidateEvery int     `json:"validate_every"` // epochs

	Order    int `json:"order"`    // K of all filters
	Features int `json:"features"` // G
	Depth    int `json:"depth"`    // order up to which inputs are shifted, at least Order

	Gamma      float64 `json:"gamma"`       // γ of both modes
	GammaLarge float64 `json:"gamma_large"` // γ of distributed learning in a row of ours
	OnlineClip float64 `json:"online_clip"` // largest norm of the gradient of the taps

	DaggerFlights int     `json:"dagger_flights"` // flown by the model half trained
	DaggerAfter   float64 `json:"dagger_after"`   // share of the epochs that see the expert's flights alone
	NearCap       float64 `json:"near_cap"`       // of the row with bounded features
}

// DefaultFlocking returns the paper's settings for so many flights of the expert
// and epochs; 0 means 400 and 30.
//
// Deviation: the paper names neither the clipping of gradients nor the step
// size of online learning, and its shift is the plain adjacency matrix. Without
// clipping a few near-collisions among the 4 million training rows decide how
// a model with a linear path turns out; with a plain adjacency matrix no
// controller comes near the paper's numbers. Of the 40 flights for validation
// 10 are flown: the last parameters are the best in nearly every training.
func DefaultFlocking(seed uint64, flights, epochs int) Flocking {
	s := Flocking{
		Seed: seed, World: flocking.Default(),
		Train:  cmp.Or(flights, 400),
		Epochs: cmp.Or(epochs, 30), BatchSize: 20, StepSize: 5e-4,
		Order: 3, Features: 32, Depth: 3,
		Gamma: 0.05, GammaLarge: 0.2, OnlineClip: 1,
		DaggerFlights: 100, DaggerAfter: 2. / 3, NearCap: 30,
	}
	s.DaggerFlights = min(s.DaggerFlights, s.Train/4)
	s.Valid, s.Test = max(s.Train/40, 1), max(s.Train/10, 1)
	for s.ValidateEvery = (s.Epochs + 2) / 3; s.Epochs%s.ValidateEvery != 0; { // three times, the last at the end
		s.ValidateEvery++
	}
	return s
}

// Profiles of training, by the norm to which gradients are clipped.
const (
	ClipClosest = 10 // closest to the paper's numbers; the default of the tables
	ClipStable  = 1  // lower totals of all models, less spread between them
)

// FlockSpec says which controller is trained, and on what.
type FlockSpec struct {
	Kind     Kind        `json:"kind"`
	Clip     float64     `json:"clip"`
	Shift    graph.Shift `json:"shift"`
	NearCap  float64     `json:"near_cap,omitempty"`
	Dagger   bool        `json:"dagger,omitempty"`
	Order    int         `json:"order"`
	Features int         `json:"features"`
}

// Name identifies the model among those of one realization.
func (m FlockSpec) Name() string {
	name := fmt.Sprintf("%s-clip%v-%v-k%d-f%d", m.Kind, m.Clip, m.Shift, m.Order, m.Features)
	if m.NearCap > 0 {
		name += fmt.Sprintf("-cap%v", m.NearCap)
	}
	if m.Dagger {
		name += "-dagger"
	}
	return name
}

// Spec returns a controller of the paper, trained with the given profile.
func (s *Flocking) Spec(k Kind, clip float64) FlockSpec {
	return FlockSpec{Kind: k, Clip: clip, Shift: graph.ShiftSpectral, Order: s.Order, Features: s.Features}
}

// Architecture returns the network: one layer of tanh, a readout to the two
// components of an acceleration.
//
// Deviation: the wide part of a WD-GNN starts at zero. The paper does not say;
// drawn like the rest it is hit hardest by near-collisions in the first steps.
func (m FlockSpec) Architecture() gnn.Config {
	c := gnn.Config{In: flocking.Features, Features: m.Features, Outputs: 2}
	if m.Kind != GNN {
		c.Wide = &gnn.WideConfig{Order: m.Order, StartZero: m.Kind == WideDeep}
	}
	if m.Kind != Filter {
		c.Deep = []gnn.LayerConfig{{Order: m.Order, Features: m.Features, Activation: gnn.Tanh}}
	}
	return c
}

// Flights is one realization of the dataset, which controllers learn from.
type Flights struct {
	Flocking
	Index   int
	Threads int // that may work inside this realization; they do not change the result

	// OnProgress, if set, is told what was just done, and how much work that
	// was; see Work.
	OnProgress func(work float64, what string)

	set  *flightRows
	half map[FlockSpec]*train.Checkpoint // where DAgger goes on from
}

// NewFlights returns a realization; Reserve gives it memory for training.
func NewFlights(s Flocking, index, threads int) *Flights {
	return &Flights{Flocking: s, Index: index, Threads: threads, half: map[FlockSpec]*train.Checkpoint{}}
}

// advance says that work was done.
func (z *Flights) advance(work float64, format string, args ...any) {
	if z.OnProgress != nil {
		z.OnProgress(work, fmt.Sprintf(format, args...))
	}
}

// Stream returns the random stream for one purpose of this realization.
func (z *Flights) Stream(name string, index ...int) *rand.Rand {
	return random.Stream(z.Seed, "flocking "+name, append([]int{z.Index}, index...)...)
}

// Swarm returns a swarm at the start of flight k for the given purpose:
// "train", "valid", "test" or "dagger".
func (z *Flights) Swarm(purpose string, k int, nearCap float64) (*flocking.Swarm, error) {
	c := z.World
	c.NearCap = nearCap
	return flocking.New(c, z.Stream(purpose, k))
}

// flightRows is what imitation learns from: for every flight, step and robot
// the delayed inputs and what the expert would have done. Row (k·T + t)·N + i is
// robot i at time t of flight k.
type flightRows struct {
	kind    graph.Shift
	nearCap float64
	flights int // filled
	each    int // rows of a flight, T·N

	rows    mat.Dense // [Z_0 … Z_K]
	targets mat.Dense // actions of the expert

	linear map[int]*train.Linear // the expert's flights, summed up for graph filters by their order
}

// record fills flight k with what robots see while control flies.
func (d *flightRows) record(s *flocking.Swarm, k int, control flocking.Controller) error {
	var (
		n       = s.Config().Robots
		x       = mat.NewDense(n, flocking.Features, nil)
		want    = make([][2]float64, n)
		shifter gnn.Shifter
		before  mat.Dense
		row     = k * d.each
	)
	_, err := flocking.Fly(s, func(accel [][2]float64, s *flocking.Swarm) error {
		shift, err := s.Shift(d.kind)
		if err != nil {
			return err
		}
		s.Signal(x)
		z := d.rows.View(row, 0, n, d.rows.Cols)
		shifter.Delay(z, shift, x, before)
		before = z
		s.Expert(want)
		for i, u := range want {
			target := d.targets.Row(row + i)
			target[0], target[1] = float32(u[0]), float32(u[1])
		}
		row += n
		if control == nil { // the expert itself
			copy(accel, want)
			return nil
		}
		return control(accel, s)
	})
	return err
}

// Shelf lends memory to Flights: a few hundred megabytes that realizations use
// in turn. The zero value is ready. It is safe for concurrent use.
type Shelf struct {
	mu   sync.Mutex
	free []*flightRows
}

// Reserve takes memory from the shelf for the expert's training flights and so
// many of the model's own.
func (z *Flights) Reserve(s *Shelf, own int) {
	each := z.World.Steps() * z.World.Robots
	rows, cols := (z.Train+own)*each, (z.Depth+1)*flocking.Features
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		z.set, s.free = s.free[n-1], s.free[:n-1]
	} else {
		z.set = new(flightRows)
	}
	z.set.rows, z.set.targets = z.set.rows.Resize(rows, cols), z.set.targets.Resize(rows, 2)
	z.set.each, z.set.flights, z.set.linear = each, 0, nil
}

// Release puts the memory back; nothing can be trained afterwards.
func (z *Flights) Release(s *Shelf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free, z.set = append(s.free, z.set), nil
}

// prepare fills the set with the expert's training flights, for models with
// the given shift and features.
func (z *Flights) prepare(ctx context.Context, kind graph.Shift, nearCap float64) error {
	if z.set.flights == z.Train && z.set.kind == kind && z.set.nearCap == nearCap {
		return nil
	}
	z.set.kind, z.set.nearCap, z.set.flights, z.set.linear = kind, nearCap, 0, map[int]*train.Linear{}
	err := z.fill(ctx, z.set, "train", z.Train)
	if err == nil {
		z.set.flights = z.Train
		z.advance(DatasetCost, "%d flights of the expert recorded", z.Train)
	}
	return err
}

// fill records flights of the expert.
func (z *Flights) fill(ctx context.Context, set *flightRows, purpose string, flights int) error {
	return Each(ctx, z.Threads, flights, func(k int) error {
		s, err := z.Swarm(purpose, k, set.nearCap)
		if err != nil {
			return err
		}
		return set.record(s, k, nil)
	})
}

// fillOwn records flights of the network itself, beginning with flight from of
// the set, with what the expert would have done there.
func (z *Flights) fillOwn(ctx context.Context, set *flightRows, network *gnn.WideDeep, from, flights int) error {
	pilot := &Pilot{Model: network, Shift: set.kind}
	return Each(ctx, z.Threads, flights, func(k int) error {
		s, err := z.Swarm("dagger", k, set.nearCap)
		if err != nil {
			return err
		}
		control, err := pilot.Controller(z.World.Robots)
		if err != nil {
			return err
		}
		return set.record(s, from+k, control)
	})
}

// Recorded is what a controller learns from flights: for every flight, step and
// robot the delayed inputs and what the expert does, or would have done.
type Recorded struct {
	Rows    mat.Dense // [Z_0 … Z_K], (flights·T·N)×((K+1)·F)
	Actions mat.Dense // (flights·T·N)×2
}

// Record returns what m learns from the expert's flights of a purpose, and leaves
// room for some of the model's own behind them.
func (z *Flights) Record(ctx context.Context, m FlockSpec, purpose string, flights, room int) (Recorded, error) {
	rows := (flights + room) * z.World.Steps() * z.World.Robots
	r := Recorded{mat.NewDense(rows, (m.Order+1)*flocking.Features, nil), mat.NewDense(rows, 2, nil)}
	return r, z.fill(ctx, z.of(m, r), purpose, flights)
}

// RecordOwn records the flights of DAgger, which the network flies itself, behind
// the first flights of r.
func (z *Flights) RecordOwn(ctx context.Context, m FlockSpec, network *gnn.WideDeep, r Recorded, from int) error {
	return z.fillOwn(ctx, z.of(m, r), network, from, z.DaggerFlights)
}

func (z *Flights) of(m FlockSpec, r Recorded) *flightRows {
	return &flightRows{kind: m.Shift, nearCap: m.NearCap, each: z.World.Steps() * z.World.Robots, rows: r.Rows, targets: r.Actions}
}

// Each calls do for 0 … n-1, threads at a time, and returns the error of the
// smallest.
func Each(ctx context.Context, threads, n int, do func(k int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range max(min(threads, n), 1) {
		wg.Go(func() {
			for k := int(next.Add(1)) - 1; k < n && ctx.Err() == nil; k = int(next.Add(1)) - 1 {
				if errs[k] = do(k); errs[k] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
