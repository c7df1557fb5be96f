package train_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/alloctest"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/train"
)

// Steps one by one in the order of Run leave the bits of Run, on any number of
// threads, and allocate nothing.
func TestStepperStepsAsRunDoes(t *testing.T) {
	const batch = 100
	job := func(m int) (train.Job, func() []float32, *train.Stepper, *mat.Engine) {
		model := newModel(t, small, 1)
		j := way{}.job(t, model)
		j.Config.BatchSize, j.Config.PassRows, j.Config.Epochs = batch, 100, 1
		j.Valid, j.Score = nil, nil
		j.Engine = mat.NewEngine(m)
		s, err := train.NewStepper(model, j)
		if err != nil {
			t.Fatal(err)
		}
		return j, func() []float32 { return model.Params.Flat }, s, j.Engine
	}
	whole := newModel(t, small, 1)
	j, _, _, e := job(1)
	e.Close()
	j.Engine, j.Config.Restarts = nil, -1
	mustRun(t, whole, j)
	order := make([]int, j.Train.Len())
	for i := range order {
		order[i] = i
	}
	random.Stream(j.Config.Seed, "shuffle", 0, 0).Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	for _, threads := range []int{1, 2, 3, 8} {
		_, params, s, e := job(threads)
		for part := range slices.Chunk(order, batch) {
			if err := s.Step(part); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(params(), whole.Params.Flat) {
			t.Errorf("%d threads: got other parameters than Run, want the same bits", threads)
		}
		if n := alloctest.Steady(threads, func() { _ = s.Step(order[:batch]) }); n > 0 {
			t.Errorf("%d threads: got %v allocations in a step, want none", threads, n)
		}
		e.Close()
	}
}

// together is a Data each pass of which waits until another one is filled.
type together struct {
	train.Data
	filled atomic.Int32
	met    chan struct{}
	alone  atomic.Bool
}

func (d *together) Fill(p *train.Pass, samples []int, k, passes int, draw train.Draw) error {
	if d.filled.Add(1) == 2 {
		close(d.met)
	}
	select {
	case <-d.met:
	case <-time.After(20 * time.Second):
		d.alone.Store(true)
	}
	return d.Data.Fill(p, samples, k, passes, draw)
}

// The passes of one step run side by side.
func TestPassesRunSideBySide(t *testing.T) {
	m := newModel(t, small, 1)
	j := way{}.job(t, m)
	j.Config.BatchSize, j.Config.PassRows = 100, 100
	data := &together{Data: j.Train, met: make(chan struct{})}
	j.Train, j.Engine = data, mat.NewEngine(2)
	defer j.Engine.Close()
	s, err := train.NewStepper(m, j)
	if err != nil {
		t.Fatal(err)
	}
	batch := make([]int, 100)
	for i := range batch {
		batch[i] = i
	}
	if err := s.Step(batch); err != nil {
		t.Fatal(err)
	}
	if data.alone.Load() {
		t.Error("a pass was alone for 20 s, want two at a time")
	}
}
