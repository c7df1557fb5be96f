package movies

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/paper/baseline"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/train"
)

// AllMovies is one model for all movies, that of the recommender.
var AllMovies = study.Experiment{
	Name:  "allmovies",
	Title: "Every movie as target: the model of the recommender",
	About: texts.Say("allmovies about", nil),
	Do:    runAllMovies,
}

// allMoviesUnit is the result on one number of movies.
type allMoviesUnit struct {
	Movies int                  `json:"movies"` // 0 means all
	Report recommend.Report     `json:"report"`
	Beside recommend.Comparison `json:"beside"`
	File   string               `json:"file"` // the model, below the output folder
}

func runAllMovies(ctx context.Context, r *study.Run) (*study.Result, error) {
	_, all, err := openLibrary(r.Data, "ml-1m", 400)
	if err != nil {
		return nil, err
	}
	sizes := []int{400, 0}
	if r.Quick {
		sizes = sizes[:1]
	}
	epochs := cmp.Or(r.Epochs, 30)
	list, err := study.Units(ctx, r, len(sizes), float64(epochs)+factorFolds,
		func(k int) string { return fmt.Sprintf("movies%d", sizes[k]) },
		[]any{r.Seed, epochs, dataset.Fingerprint(all)}, func(ctx context.Context, k int) (*allMoviesUnit, error) {
			s := recommend.DefaultSetting()
			s.Movies, s.Seed = sizes[k], r.Seed
			m, err := recommend.Train(ctx, all, s, recommend.TrainConfig{Epochs: epochs, OnEpoch: func(e train.Epoch) error {
				r.Advance(1, "%d movies: epoch %d of %d, validation %.4f", sizes[k], e.Index, epochs, e.Score)
				return ctx.Err()
			}})
			if err != nil {
				return nil, err
			}
			u := &allMoviesUnit{Movies: sizes[k], Report: m.Report, File: fmt.Sprintf("models/allmovies-%s-%d.safetensors", m.Data, sizes[k])}
			if err := recommend.Save(filepath.Join(r.Out, filepath.FromSlash(u.File)), m, r.Version); err != nil {
				return nil, err
			}
			u.Report.Seconds = 0 // the rest does not depend on the clock
			u.Beside, err = m.Beside(all, factorFolds, func(table *movies.Ratings) recommend.Predictor {
				r.Advance(1, "%d movies: matrix factorisation", sizes[k])
				c := baseline.FactorsConfig{Factors: 20, Ridge: 15}
				return baseline.NewFactors(baseline.NewTable(table, 0, nil), c, random.Stream(r.Seed, "factors")).Predict
			})
			return u, err
		})
	if err != nil {
		return nil, err
	}
	return allMoviesResult(list), nil
}

// allMoviesResult makes a table of the units, one row each.
func allMoviesResult(list []*allMoviesUnit) *study.Result {
	f, r := new(study.Frame), new(study.Result)
	l := study.Layout{
		Title: "RMSE over all movies, users unseen in training", Note: texts.Say("allmovies table", nil),
		Columns: []study.Column{{Name: "ratings tested", Cell: func(row string) study.Cell {
			return study.Cell{Text: fmt.Sprintf("%.0f", f.Mean(row, "ratings tested"))}
		}}},
	}
	type said struct {
		Movies int
		Less   float64
	}
	var notes []said
	for k, u := range list {
		row := fmt.Sprintf("%d movies", u.Report.Movies)
		f.Add(row, "ratings tested", k, float64(u.Report.Tested))
		f.Add(row, "mean and offset alone", k, u.Report.MeanRMSE)
		f.Add(row, "WD-GNN", k, u.Report.RMSE)
		f.Add(row, "hidden a tenth at a time: WD-GNN", k, u.Beside.RMSE)
		f.Add(row, "matrix factorisation", k, u.Beside.Peer)
		l.Lines = append(l.Lines, study.Line{Name: row, Ours: true})
		notes = append(notes, said{u.Report.Movies, u.Beside.RMSE - u.Beside.Peer})
		r.Models = append(r.Models, u.File)
	}
	for _, name := range []string{"mean and offset alone", "WD-GNN", "hidden a tenth at a time: WD-GNN", "matrix factorisation"} {
		l.Columns = append(l.Columns, study.Column{Name: name, Decimals: 4})
	}
	r.Tables, r.Notes = []study.Table{f.Table(l)}, texts.Notes("allmovies notes", notes)
	return r
}

// factorFolds is how many parts the ratings of test users are hidden in.
const factorFolds = 10
