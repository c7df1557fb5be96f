package movies

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/shop/movierecipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// movieRule is how models learn from a rating: eq. (7) or (9) to the letter,
// taps and bias of the wide part.
func movieRule(gamma float64) rule.Config {
	return rule.Config{StepSize: rule.StepSize{Value: gamma}, Retrain: rule.RetrainTapsAndBias}
}

// adaptive is a learner of ratings that come one at a time.
type adaptive interface {
	// predict writes what the learner says of every row, users×1.
	predict(y mat.Dense, r movierecipe.MovieRows)
	// learn takes in a rating: rows of one user.
	learn(r movierecipe.MovieRows) error
}

// centralLearner is eq. (7), or newton in its place, on rows that were shifted
// before.
type centralLearner struct {
	movierecipe.MovieReader
	model *gnn.WideDeep
	node  *rule.Node
}

func newCentral(m *gnn.WideDeep, c rule.Config, moment *rule.SecondMoment) (*centralLearner, error) {
	node, err := online.NewNode(m, c, moment)
	return &centralLearner{model: m, node: node}, err
}

// momentOf returns the second moment of what models read in training.
func momentOf(m *gnn.WideDeep, e *movierecipe.MovieExamples) *rule.SecondMoment {
	moment := new(rule.SecondMoment)
	moment.Add(e.Train.Z, (m.Config.Wide.Order+1)*m.Config.In)
	return moment
}

func (l *centralLearner) predict(y mat.Dense, r movierecipe.MovieRows) {
	base := l.Read(l.model, r)
	for i := range y.Rows {
		l.node.Predict(y.Row(i), base.Row(i), r.Z.Row(i))
	}
}

func (l *centralLearner) learn(r movierecipe.MovieRows) error {
	return l.node.Learn(l.Read(l.model, r).Row(0), r.Z.Row(0), loss.MSE{Target: r.Rating})
}

// networkLearner is eq. (9) on the graph of movies with Metropolis weights:
// every movie keeps taps of its own, and only the one that is asked for hears
// a rating.
type networkLearner struct {
	movierecipe.MovieReader
	world   *movieWorld
	model   *gnn.WideDeep
	learner *online.Consensus
	mixing  *mat.CSR
	signal  mat.Dense
	values  []float64
	target  mat.Dense
	mask    []bool
	scratch []float64
	steps   int
}

func (w *movieWorld) newNetwork(m *gnn.WideDeep, movie int, c rule.Config) (*networkLearner, error) {
	n := w.Similar.Nodes()
	mixing, err := graph.MixingMetropolis.Of(w.Similar)
	if err != nil {
		return nil, err
	}
	observer, err := online.NewObserver(m, online.Config{Nodes: n, Read: []int{movie}})
	if err != nil {
		return nil, err
	}
	learner, err := online.NewConsensus(observer, c)
	if err != nil {
		return nil, err
	}
	l := &networkLearner{
		world: w, model: m, learner: learner, mixing: mixing, signal: mat.NewDense(n, 1, nil), values: make([]float64, n),
		target: mat.NewDense(n, 1, nil), mask: make([]bool, n), scratch: make([]float64, 1),
	}
	l.mask[movie] = true
	return l, nil
}

func (l *networkLearner) predict(y mat.Dense, r movierecipe.MovieRows) {
	base := l.Read(l.model, r)
	for i := range y.Rows {
		l.learner.Basis().Predict(y.Row(i), base.Row(i), r.Z.Row(i), l.learner.Params(r.Movie), l.scratch)
	}
}

func (l *networkLearner) learn(r movierecipe.MovieRows) error {
	w := l.world
	rated, rating := w.Library.User(r.Users[0])
	w.Signal.Fill(l.values, rated, rating, r.Movie, w.Unknown)
	for n, v := range l.values {
		l.signal.Data[n] = float32(v)
	}
	if err := l.learner.Observe(graph.Sample{Time: l.steps, Shift: w.Operator, Mixing: l.mixing, Signal: l.signal}); err != nil {
		return err
	}
	l.steps++
	l.target.Data[r.Movie] = r.Rating.At(0, 0)
	return l.learner.Update(loss.MSE{Target: l.target, Mask: l.mask})
}

// along predicts and then learns, row after row, and returns the error of the
// predictions. Watch, if not nil, is called after every row.
func along(l adaptive, r movierecipe.MovieRows, watch func(rows int)) (float64, error) {
	y := mat.NewDense(r.Z.Rows, 1, nil)
	for i := range r.Z.Rows {
		one := r.One(i)
		l.predict(y.View(i, 0, 1, 1), one)
		if err := l.learn(one); err != nil {
			return 0, err
		}
		if watch != nil {
			watch(i + 1)
		}
	}
	return movierecipe.RMSE(y, r.Rating), nil
}
