package movies

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/shop/movierecipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Table4 is the table on the data that the paper uses.
var Table4 = study.Experiment{
	Name:  "table4",
	Title: "Table 4: movie recommendation",
	About: texts.Say("table4 about", nil),
	Do: func(ctx context.Context, r *study.Run) (*study.Result, error) {
		return runMovies(ctx, r, moviesEdition{Folder: "ml-100k", Paper: true})
	},
}

// Million is Table 4 on ten times the ratings.
var Million = study.Experiment{
	Name:  "table4-1m",
	Title: "Table 4 on MovieLens 1M",
	About: texts.Say("table4-1m about", nil),
	Do: func(ctx context.Context, r *study.Run) (*study.Result, error) {
		return runMovies(ctx, r, moviesEdition{Folder: "ml-1m"})
	},
}

// moviesEdition is a data set on which Table 4 is computed.
type moviesEdition struct {
	Folder string // where it lies below "data" unless the user says otherwise
	Paper  bool   // the paper has numbers for it
}

// tableRow is one row of Table 4.
type tableRow struct {
	ID    string
	Name  string
	Paper [3]study.Value // by movie; nothing in rows of ours
}

func (r tableRow) ours() bool { return r.Paper[0].Mean == 0 }

// The rows.
var (
	gnnRow = tableRow{"gnn", "GNN", [3]study.Value{
		{Mean: 0.8630, Spread: 0.0884}, {Mean: 1.0889, Spread: 0.1106}, {Mean: 1.0072, Spread: 0.1039},
	}}
	filterRow = tableRow{"filter", "Graph filter", [3]study.Value{
		{Mean: 0.8589, Spread: 0.0895}, {Mean: 1.0950, Spread: 0.1129}, {Mean: 0.9924, Spread: 0.1005},
	}}
	wideDeepRow = tableRow{"wd-gnn", "WD-GNN", [3]study.Value{
		{Mean: 0.8535, Spread: 0.0883}, {Mean: 1.0920, Spread: 0.1053}, {Mean: 0.9986, Spread: 0.0930},
	}}

	filterOnlineRow = tableRow{"filter online", "Graph filter, online", [3]study.Value{
		{Mean: 0.8595, Spread: 0.0865}, {Mean: 0.9837, Spread: 0.0898}, {Mean: 0.9486, Spread: 0.0755},
	}}
	wideDeepOnlineRow = tableRow{"wd-gnn online", "WD-GNN, online", [3]study.Value{
		{Mean: 0.8524, Spread: 0.0907}, {Mean: 0.9759, Spread: 0.0927}, {Mean: 0.9232, Spread: 0.0664},
	}}

	filterNetworkRow   = tableRow{ID: "filter distributed", Name: "Graph filter, distributed online"}
	wideDeepNetworkRow = tableRow{ID: "wd-gnn distributed", Name: "WD-GNN, distributed online"}
	filterLargeRow     = tableRow{ID: "filter distributed large", Name: "Graph filter, distributed online, γ = 0.02"}
	wideDeepLargeRow   = tableRow{ID: "wd-gnn distributed large", Name: "WD-GNN, distributed online, γ = 0.02"}

	filterOwnRow   = tableRow{ID: "filter own", Name: "Graph filter, own"}
	wideDeepOwnRow = tableRow{ID: "wd-gnn own", Name: "WD-GNN, own"}

	paperRows   = []tableRow{gnnRow, filterRow, wideDeepRow, filterOnlineRow, wideDeepOnlineRow}
	networkRows = []tableRow{filterNetworkRow, wideDeepNetworkRow, filterLargeRow, wideDeepLargeRow, filterOwnRow, wideDeepOwnRow}
)

// heardMean is the learner that knows nothing but the mean of the ratings it
// has heard.
const heardMean = "mean heard"

// unit is what a split leaves.
type unit struct {
	Split     int                     `json:"split"`
	Readings  map[string]*movieScores `json:"readings"` // by setting
	Baselines map[string][3]float64   `json:"baselines"`
	Models    []string                `json:"models,omitempty"` // files of the first split
}

// movieScores are errors by row, each by movie.
type movieScores struct {
	Test   map[string][3]float64   `json:"test"`   // of the test users
	Stream map[string][3]float64   `json:"stream"` // along the stream; none of it on the first movie
	Curve  map[string][3][]float64 `json:"curve"`  // of the test users after curveAt ratings of the stream
	Users  [3]int                  `json:"users"`  // that test
}

// curveAt are the numbers of ratings after which test users are asked again.
var curveAt = []int{0, 10, 25, 50, 100, 150, 200, 300, 400}

// About what parts of a split take, for progress.
const (
	baselinesCost = 5
	networkCost   = 2
)

func runMovies(ctx context.Context, r *study.Run, edition moviesEdition) (*study.Result, error) {
	const top = 400
	l, all, err := openLibrary(r.Data, edition.Folder, top)
	if err != nil {
		return nil, err
	}
	s := settingsFrom(r.Options, all)
	splits := 10
	switch {
	case r.Quick:
		splits = 3
	case r.Full:
		splits = 60
	}
	work := float64(baselinesCost)
	for _, m := range s.Settings {
		work += float64(len(movieKinds))
		if m.Distributed {
			work += networkCost
		}
	}
	units, err := study.Units(ctx, r, cmp.Or(r.Repeats, splits), work,
		func(k int) string { return fmt.Sprintf("split%d", k) },
		s, func(ctx context.Context, k int) (*unit, error) { return movieSplit(ctx, r, &s, l, k) })
	if err != nil {
		return nil, err
	}
	return table4Result(edition, &s, l, units), nil
}

// movieSplit computes a unit.
func movieSplit(ctx context.Context, r *study.Run, s *moviesSettings, l *movierecipe.Library, number int) (*unit, error) {
	u := &unit{Split: number, Readings: map[string]*movieScores{}}
	for _, m := range s.Settings {
		w, err := newMovieWorld(s, m, l, number)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.ID, err)
		}
		if u.Baselines == nil {
			if u.Baselines, err = w.baselines(); err != nil {
				return nil, err
			}
			r.Advance(baselinesCost, "split %d: baselines", number)
		}
		if u.Readings[m.ID], err = w.scores(ctx, r, u); err != nil {
			return nil, fmt.Errorf("%s: %w", m.ID, err)
		}
	}
	return u, nil
}

// scores trains all models and lets them adapt.
func (w *movieWorld) scores(ctx context.Context, r *study.Run, u *unit) (*movieScores, error) {
	e, err := w.Examples()
	if err != nil {
		return nil, err
	}
	s := &movieScores{Test: map[string][3]float64{}, Stream: map[string][3]float64{}, Curve: map[string][3][]float64{}}
	for c, rows := range e.Test {
		s.Users[c] = len(rows.Users)
	}
	for _, k := range movieKinds {
		m, err := w.Fit(ctx, k, e)
		if err != nil {
			return nil, err
		}
		s.freeze(string(k), m, e)
		for _, l := range w.learners(k, m, e) {
			if err := s.adapt(l.id, e, l.begin); err != nil {
				return nil, fmt.Errorf("%s: %w", l.id, err)
			}
		}
		if w.Number == 0 {
			name, err := w.save(r, k, m)
			if err != nil {
				return nil, err
			}
			u.Models = append(u.Models, name)
		}
		r.Advance(1, "split %d, %s: %s %.4f", w.Number, w.ID, k, s.Test[string(k)][0])
	}
	s.hearMeans(e)
	if w.setting.Distributed {
		r.Advance(networkCost, "split %d, %s: distributed", w.Number, w.ID)
	}
	return s, nil
}

// beginner makes a learner for a movie.
type beginner struct {
	id    string // of the row
	begin func(movie int) (adaptive, error)
}

// learners returns what adapts a model of the given kind, nothing without a
// wide part.
func (w *movieWorld) learners(k recipe.Kind, m *gnn.WideDeep, e *movierecipe.MovieExamples) []beginner {
	if k == recipe.GNN {
		return nil
	}
	network := func(gamma float64) func(movie int) (adaptive, error) {
		return func(movie int) (adaptive, error) { return w.newNetwork(m, movie, movieRule(gamma)) }
	}
	list := []beginner{
		{string(k) + " online", func(int) (adaptive, error) { return newCentral(m, movieRule(w.Gamma), nil) }},
		{string(k) + " own", func(int) (adaptive, error) { return newCentral(m, rule.Own().Ungated(), momentOf(m, e)) }},
	}
	if w.setting.Distributed {
		list = append(list,
			beginner{string(k) + " distributed", network(w.Gamma)},
			beginner{string(k) + " distributed large", network(w.GammaLarge)})
	}
	return list
}

// put puts one number into a table of rows.
func put[T any](table map[string][3]T, id string, column int, value T) {
	v := table[id]
	v[column] = value
	table[id] = v
}

// freeze judges a model that does not learn.
func (s *movieScores) freeze(id string, m *gnn.WideDeep, e *movierecipe.MovieExamples) {
	var f movierecipe.MovieReader
	for c := range e.Test {
		put(s.Test, id, c, movierecipe.RMSE(f.Read(m, e.Test[c]), e.Test[c].Rating))
		if len(e.Stream[c].Users) > 0 {
			put(s.Stream, id, c, movierecipe.RMSE(f.Read(m, e.Stream[c]), e.Stream[c].Rating))
		}
	}
}

// adapt judges learners that begin with the trained model on every movie: on
// the first along the test users, on the others after the stream.
func (s *movieScores) adapt(id string, e *movierecipe.MovieExamples, begin func(movie int) (adaptive, error)) error {
	for c := range e.Test {
		test := e.Test[c]
		l, err := begin(test.Movie)
		if err != nil {
			return err
		}
		if c == 0 {
			v, err := along(l, test, nil)
			if err != nil {
				return err
			}
			put(s.Test, id, c, v)
			continue
		}
		y := mat.NewDense(len(test.Users), 1, nil)
		judge := func() float64 {
			l.predict(y, test)
			return movierecipe.RMSE(y, test.Rating)
		}
		curve := []float64{judge()}
		v, err := along(l, e.Stream[c], func(heard int) {
			if slices.Contains(curveAt, heard) {
				curve = append(curve, judge())
			}
		})
		if err != nil {
			return err
		}
		put(s.Stream, id, c, v)
		put(s.Test, id, c, judge())
		put(s.Curve, id, c, curve)
	}
	return nil
}

// hearMeans judges the learner that says the mean of the ratings it has heard,
// beginning with the mean of the training ratings.
func (s *movieScores) hearMeans(e *movierecipe.MovieExamples) {
	begin := columnMean(e.Train.Rating)
	for c := range e.Stream {
		r := e.Stream[c]
		if len(r.Users) == 0 {
			continue
		}
		y, sum := mat.NewDense(len(r.Users), 1, nil), 0.0
		for i := range r.Users {
			y.Data[i] = float32(begin)
			if i > 0 {
				y.Data[i] = float32(sum / float64(i))
			}
			sum += float64(r.Rating.At(i, 0))
		}
		put(s.Stream, heardMean, c, movierecipe.RMSE(y, r.Rating))
	}
}

func columnMean(a mat.Dense) float64 {
	sum := 0.0
	for i := range a.Rows {
		sum += float64(a.At(i, 0))
	}
	return sum / float64(a.Rows)
}
