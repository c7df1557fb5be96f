package recipe

import (
	"context"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/jsonfile"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/scenario/flocking"
	"github.com/wdgnn/wdgnn/train"
)

// About what things take, in epochs of a WD-GNN, for progress: see Work.
const DatasetCost = 6 // drawing the expert's flights

// flockingCost is what an epoch takes.
var flockingCost = map[Kind]float64{Filter: 0.05, GNN: 0.9, WideDeep: 1}

// FlockModel is a controller ready to fly.
type FlockModel struct {
	Network *gnn.WideDeep
	Info    FlockInfo
}

// FlockInfo is what is worth knowing about a trained controller.
type FlockInfo struct {
	Model     FlockSpec `json:"model"`
	Loss      float64   `json:"loss"`            // of the last epoch
	Valid     float64   `json:"valid"`           // total velocity variation in validation flights
	BestSteps int       `json:"best_steps"`      // of the optimiser, after which that was reached
	Steps     int       `json:"steps"`           // in all
	Gains     []float32 `json:"gains,omitempty"` // α_W, α_D, β
	File      string    `json:"file"`            // below the output folder of who trains
}

// Pilot returns the controller as it flies without learning.
func (t *FlockModel) Pilot() *Pilot { return &Pilot{Model: t.Network, Shift: t.Info.Model.Shift} }

// Save writes a controller that was trained from the given seed to a file, and
// what is worth knowing about it beside.
func (t *FlockModel) Save(path string, seed uint64, version string) error {
	file := &modelfile.Model{Network: t.Network, Meta: modelfile.Meta{
		Shift: t.Info.Model.Shift, Delayed: true, Task: "regress", Seed: seed, Version: version,
	}}
	if err := modelfile.Save(path, file); err != nil {
		return err
	}
	return jsonfile.Write(path+".json", t.Info, " ")
}

// Work is about what training a model takes, in epochs of a WD-GNN. Models with
// DAgger go on from one that was trained without it.
func (s *Flocking) Work(m FlockSpec) float64 {
	epochs := s.Epochs
	if m.Dagger {
		half, all := s.DaggerEpochs()
		epochs = all - half
	}
	return flockingCost[m.Kind] * float64(epochs)
}

// LoadFlock is the inverse of Save.
func LoadFlock(path string) (*FlockModel, error) {
	t := new(FlockModel)
	if err := jsonfile.Read(path+".json", &t.Info); err != nil {
		return nil, err
	}
	m, err := modelfile.Load(path)
	if err != nil {
		return nil, err
	}
	t.Network = m.Network
	return t, nil
}

// job returns how a model is trained on the first flights of the set.
func (z *Flights) job(network *gnn.WideDeep, m FlockSpec, flights int, engine *mat.Engine) (train.Job, error) {
	rows := flights * z.set.each
	targets, err := train.NewTargets(loss.MSE{}, z.set.targets.View(0, 0, rows, 2), nil)
	if err != nil {
		return train.Job{}, err
	}
	shifted, err := train.NewShifted(network, z.set.rows.View(0, 0, rows, z.set.rows.Cols), z.set.each, targets)
	if err != nil {
		return train.Job{}, err
	}
	var data train.Data = shifted
	if m.Kind == Filter {
		if z.set.linear[m.Order] == nil {
			if z.set.linear[m.Order], err = train.NewLinear(network, shifted, z.Threads); err != nil {
				return train.Job{}, err
			}
		}
		data = z.set.linear[m.Order]
	}
	batches := (z.Train + z.BatchSize - 1) / z.BatchSize
	return train.Job{
		Config: train.Config{
			Epochs: z.Epochs, BatchSize: z.BatchSize, Seed: z.Seed + uint64(z.Index), Adam: optim.AdamConfig{StepSize: z.StepSize},
			ClipNorm: m.Clip, ValidateEvery: batches * z.ValidateEvery, FoldWide: true,
		},
		Train: data, Engine: engine,
		Score: func(ctx context.Context, network *gnn.WideDeep) (float64, error) {
			return z.Cost(ctx, network, m, "valid", z.Valid)
		},
	}, nil
}

// Cost returns how a network that does not learn flies the flights of a purpose:
// their velocity variation, summed over time, mean over flights.
func (z *Flights) Cost(ctx context.Context, network *gnn.WideDeep, m FlockSpec, purpose string, flights int) (mean float64, err error) {
	flown, err := z.Fly(ctx, &Pilot{Model: network, Shift: m.Shift}, purpose, flights, m.NearCap, z.Threads)
	for _, f := range flown {
		if err == nil {
			mean += f.Total() / float64(len(flown))
		}
	}
	return mean, err
}

// ExpertCost is Cost of the expert.
func (z *Flights) ExpertCost(ctx context.Context, purpose string, flights int) (mean float64, err error) {
	totals := make([]float64, flights)
	err = Each(ctx, z.Threads, flights, func(k int) error {
		s, err := z.Swarm(purpose, k, 0)
		if err != nil {
			return err
		}
		f, err := flocking.Fly(s, flocking.Expert)
		if err == nil {
			totals[k] = f.Total()
		}
		return err
	})
	for _, v := range totals {
		mean += v / float64(flights)
	}
	return mean, err
}

// Fit trains a controller by imitation: it is to do in every state what the
// expert does. Of the parameters after every ValidateEvery epochs those are
// kept that fly the validation flights with the least total velocity
// variation.
func (z *Flights) Fit(ctx context.Context, m FlockSpec) (*FlockModel, error) {
	if err := z.prepare(ctx, m.Shift, m.NearCap); err != nil {
		return nil, err
	}
	network, err := gnn.NewRandom(m.Architecture(), z.Stream("init"))
	if err != nil {
		return nil, err
	}
	engine := mat.NewEngine(z.Threads)
	defer engine.Close()
	job, err := z.job(network, m, z.Train, engine)
	if err != nil {
		return nil, err
	}
	info, all := FlockInfo{Model: m}, z.Epochs
	if m.Dagger {
		_, all = z.DaggerEpochs()
	}
	job.OnEpoch = func(e train.Epoch) error {
		info.Loss = e.Loss
		if e.Index == z.daggerEpoch() && z.DaggerFlights > 0 && m.Kind == WideDeep && !m.Dagger {
			z.half[m] = e.Checkpoint()
		}
		z.advance(flockingCost[m.Kind], "epoch %d of %d, loss %.3g", e.Index, all, e.Loss)
		return nil
	}
	var result train.Result
	if m.Dagger {
		result, err = z.dagger(ctx, network, m, job)
	} else {
		result, err = train.Run(ctx, network, job)
	}
	if err != nil {
		return nil, err
	}
	info.Valid, info.BestSteps, info.Steps, info.Gains = result.Best, result.BestSteps, result.Steps, slices.Clone(network.Params.Gain)
	return &FlockModel{Network: network, Info: info}, nil
}

// daggerEpoch returns after how many epochs a model flies for DAgger.
func (s *Flocking) daggerEpoch() int { return max(int(s.DaggerAfter*float64(s.Epochs)), 1) }

// DaggerEpochs returns after how many epochs a model flies for DAgger, and how
// many epochs there are in all: flights to learn from come as often as without.
func (s *Flocking) DaggerEpochs() (half, all int) {
	half = s.daggerEpoch()
	return half, half + (s.Epochs-half)*s.Train/(s.Train+s.DaggerFlights)
}

// dagger trains with flights of the model's own: partly trained it flies some
// starts that the expert did not fly, and goes on learning what the expert
// would have done there too. It takes about as many steps of the optimiser as
// other models do.
//
// Deviation: the paper trains on flights of the expert alone.
func (z *Flights) dagger(ctx context.Context, network *gnn.WideDeep, m FlockSpec, job train.Job) (train.Result, error) {
	plain := m
	plain.Dagger = false
	half := z.half[plain]
	if half == nil { // the plain model was found on disk
		job.Config.Epochs = z.daggerEpoch()
		result, err := train.Run(ctx, network, job)
		if err != nil {
			return result, err
		}
		half = result.Last
	}
	delete(z.half, plain)
	copy(network.Params.Flat, half.Params)
	if err := z.fillOwn(ctx, z.set, network, z.Train, z.DaggerFlights); err != nil {
		return train.Result{}, err
	}
	more, err := z.job(network, m, z.Train+z.DaggerFlights, job.Engine)
	if err != nil {
		return train.Result{}, err
	}
	_, more.Config.Epochs = z.DaggerEpochs()
	more.OnEpoch, more.Resume = job.OnEpoch, half
	more.Resume.Progress.HasBest = false // the model without DAgger does not compete
	return train.Run(ctx, network, more)
}

// Controller returns the pilot, without learning, as a controller of swarms of
// so many robots. It flies one flight.
func (p *Pilot) Controller(robots int) (flocking.Controller, error) {
	frozen := Pilot{Model: p.Model, Shift: p.Shift}
	if _, err := frozen.Learner(robots); err != nil {
		return nil, err
	}
	delayed := &gnn.Delayed{Model: p.Model}
	x, u := mat.NewDense(robots, flocking.Features, nil), mat.NewDense(robots, 2, nil)
	return func(accel [][2]float64, s *flocking.Swarm) error {
		shift, err := s.Shift(p.Shift)
		if err != nil {
			return err
		}
		s.Signal(x)
		delayed.Predict(u, shift, x)
		delayed.Advance()
		for i := range accel {
			row := u.Row(i)
			accel[i] = [2]float64{float64(row[0]), float64(row[1])}
		}
		return nil
	}, nil
}
