package reproduce

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/baseline"
	"github.com/wdgnn/wdgnn/internal/dataset"
	"github.com/wdgnn/wdgnn/internal/recommend"
	"github.com/wdgnn/wdgnn/internal/reproduce/study"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/movies"
	"github.com/wdgnn/wdgnn/train"
)

var allmovies = Experiment{
	Name:  "allmovies",
	Title: "Every movie as target: the model of the recommender",
	About: "`wdgnn serve` needs one model for all movies. It is trained with every rated movie of every training user as target in turn. A tenth of the users take no part in training nor in the graph; their ratings are predicted from their others, and beside it, hidden a tenth at a time, by matrix factorisation fitted to everything else.",
	Do:    in(runAllMovies),
}

// allMoviesUnit is the result on one number of movies.
type allMoviesUnit struct {
	Movies int                  `json:"movies"` // 0 means all
	Report recommend.Report     `json:"report"`
	Beside recommend.Comparison `json:"beside"`
	File   string               `json:"file"` // the model, below the output folder
}

func runAllMovies(ctx context.Context, r *runner) (*Result, error) {
	_, all, err := openLibrary(r.Data, "ml-1m", 400)
	if err != nil {
		return nil, err
	}
	sizes := []int{400, 0}
	if r.Quick {
		sizes = sizes[:1]
	}
	epochs := or(r.Epochs, 30)
	list, err := units(ctx, r, len(sizes), float64(epochs)+factorFolds,
		func(k int) string { return fmt.Sprintf("movies%d", sizes[k]) },
		[]any{r.Seed, epochs, dataset.Fingerprint(all)}, func(ctx context.Context, k int) (*allMoviesUnit, error) {
			s := recommend.DefaultSetting()
			s.Movies, s.Seed = sizes[k], r.Seed
			m, err := recommend.Train(ctx, all, s, recommend.TrainConfig{Epochs: epochs, OnEpoch: func(e train.Epoch) error {
				r.advance(1, "%d movies: epoch %d of %d, validation %.4f", sizes[k], e.Index, epochs, e.Score)
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
				r.advance(1, "%d movies: matrix factorisation", sizes[k])
				c := baseline.FactorsConfig{Factors: 20, Ridge: 15}
				return baseline.NewFactors(baseline.NewTable(table, 0, nil), c, random.Stream(r.Seed, "factors")).Predict
			})
			return u, err
		})
	if err != nil {
		return nil, err
	}
	t := study.Table{
		Title:   "RMSE over all movies, users unseen in training",
		Columns: []string{"ratings tested", "mean and offset alone", "WD-GNN", "hidden a tenth at a time: WD-GNN", "matrix factorisation"},
		Note: "One split of the users. Factorisation: 20 factors, penalty 15, the best of a few settings on such test ratings; the model's own settings (shrinkage, offsets) were chosen on validation users. " +
			"The two columns to the right are of the same ratings.",
	}
	for _, u := range list {
		number := func(v float64) study.Cell { return study.Cell{Value: &study.Value{Mean: v}, Decimals: 4} }
		t.Rows = append(t.Rows, study.Row{Name: fmt.Sprintf("%d movies", u.Report.Movies), Ours: true, Cells: []study.Cell{
			{Text: fmt.Sprint(u.Report.Tested)}, number(u.Report.MeanRMSE), number(u.Report.RMSE), number(u.Beside.RMSE), number(u.Beside.Peer),
		}})
	}
	result := &Result{Tables: []study.Table{t}, Notes: []string{
		"Both predictors come out about equal: a WD-GNN of 1,100 numbers that is the same for all users and movies, and a factorisation with 20 numbers for each. The WD-GNN needs no fit for a new user and learns from the next rating at once.",
	}}
	for _, u := range list {
		result.Models = append(result.Models, u.File)
	}
	return result, nil
}

// factorFolds is how many parts the ratings of test users are hidden in.
const factorFolds = 10
