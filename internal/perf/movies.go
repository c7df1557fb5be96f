package perf

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/train"
)

// Movie recommendation: a graph of 400 movies, each hearing ten others; five
// users a batch; the loss is the squared error of one movie's rating.
const (
	movieNodes  = 400
	movieLinks  = 10
	movieUsers  = 5
	movieTarget = 7

	// Rows of a pass after the batch is shifted.
	movieBlock = 1000
)

var movieModel = gnn.Config{
	In: 1, Features: 64, Outputs: 1,
	Wide: &gnn.WideConfig{Order: 5},
	Deep: []gnn.LayerConfig{{Order: 5, Features: 64}},
}

var movieTrain = Task{
	Name: "movie_train_step",
	Doc:  "training step, 5 users on 400 movies, one layer of 64 features, every movie computed",
	Skips: "nothing: shifts of the input in the step, every movie's output and gradient; passes of 1000 rows each; S is sparse; " +
		"wide taps meet the readout before the signal, as when the recommender trains",
	Peer: "nothing: shifts of the input in the step, every movie's output and gradient; S is dense, which is faster there; " +
		"with and without wide taps that meet the readout first",
	Wanted:     7,
	WantedMany: 3.5,
	New: func(env Env) (func(), map[string]any, error) {
		s, err := movieShift(env)
		if err != nil {
			return nil, nil, err
		}
		const rows = movieNodes * movieUsers
		rng := env.stream("signals")
		x, z := uniform(rng, rows, 1), mat.NewDense(rows, shiftedWidth(movieModel), nil)
		target, mask := mat.NewDense(rows, 1, nil), make([]bool, rows)
		for u := range movieUsers {
			row := movieTarget*movieUsers + u
			target.Data[row], mask[row] = rng.Float32(), true
		}
		b := batch{fold: true}
		for lo := 0; lo < rows; lo += movieBlock {
			carrying := 0
			for _, m := range mask[lo : lo+movieBlock] {
				if m {
					carrying++
				}
			}
			b.add(pass{
				rows: movieBlock, loss: loss.MSE{Target: target.View(lo, 0, movieBlock, 1), Mask: mask[lo : lo+movieBlock]},
				share: float64(carrying) / movieUsers,
			})
		}
		b.input = func(p *train.Pass, k int) {
			p.Input = gnn.Input{Shifted: z.View(k*movieBlock, 0, movieBlock, z.Cols)}
		}
		step, err := stepOn(env, movieModel, 5e-3, &b)
		shifter := gnn.Shifter{Engine: env.Engine}
		return func() {
			shifter.Shift(z, s, x)
			step()
		}, map[string]any{"batch": movieUsers}, err
	},
}

var movieTrainPruned = Task{
	Name:   "movie_train_step_pruned",
	Doc:    "the same step where only the movie in question is read",
	Skips:  "shifts of the input once per dataset; all movies but one, so a user is K+1 numbers",
	Peer:   "the same",
	Wanted: 40,
	New: func(env Env) (func(), map[string]any, error) {
		l, err := newLearner(env, movieModel, 5e-3)
		if err != nil {
			return nil, nil, err
		}
		s, err := movieShift(env)
		if err != nil {
			return nil, nil, err
		}
		rows, err := gnn.NewRows(s, []int{movieTarget}, l.model.LastOrder())
		if err != nil {
			return nil, nil, err
		}
		rng, z := env.stream("signals"), l.shifted(movieNodes*movieUsers)
		l.shifter.Shift(z, s, uniform(rng, z.Rows, 1))
		in := gnn.Input{Read: rows, ReadShifted: l.shifted(movieUsers)}
		rows.Gather(in.ReadShifted, z, movieUsers)
		var j loss.Loss = loss.MSE{Target: uniform(rng, movieUsers, 1)}
		return func() {
			l.begin()
			l.pass(&in, movieUsers, j, 1)
			l.finish()
		}, map[string]any{"batch": movieUsers}, nil
	},
}

// movieShift returns a shift with ten random neighbours a row and λmax = 1.
func movieShift(env Env) (*mat.CSR, error) {
	rng := env.stream("graph")
	var entries []mat.Entry
	for i := range movieNodes {
		for _, j := range rng.Perm(movieNodes)[:movieLinks] {
			entries = append(entries, mat.Entry{Row: i, Col: j, Val: rng.Float32()})
		}
	}
	s, err := mat.FromEntries(movieNodes, movieNodes, entries)
	if err != nil {
		return nil, err
	}
	largest := float32(graph.LargestEigenvalue(s))
	for i := range entries {
		entries[i].Val /= largest
	}
	return mat.FromEntries(movieNodes, movieNodes, entries)
}
