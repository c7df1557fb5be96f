package movies

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movierecipe"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// moviesSettings are the settings of Table 4. Everything that changes a number is
// here, so that its fingerprint tells results apart.
type moviesSettings struct {
	movierecipe.Movies
	Settings  []movieSetting `json:"settings"`
	Baselines movieBaselines `json:"baselines"`
}

// movieSetting is one reading of the experiment.
type movieSetting struct {
	movierecipe.Reading
	Distributed bool `json:"distributed"` // nodes also learn in a distributed way
}

// The readings of the experiment that are run.
var (
	// libvarSetting is a similarity that is no correlation.
	libvarSetting = movieSetting{movierecipe.Reading{
		ID: "libvar", Graph: movierecipe.SimilarBy(movies.SimilarityLibvar), Shift: graph.ShiftSpectral,
	}, true}
	// huangSetting is what the paper's text describes.
	huangSetting = movieSetting{movierecipe.Reading{
		ID: "huang", Graph: movierecipe.SimilarBy(movies.SimilarityHuang), Shift: graph.ShiftSpectral,
	}, true}
	// centeredSetting is ours: what a rating says beyond the user's mean.
	centeredSetting = movieSetting{movierecipe.Reading{
		ID: "centered", Graph: movierecipe.SimilarBy(movies.SimilarityPearson), Shift: graph.ShiftSymmetric, Signal: movies.SignalCentered,
	}, false}
	// Users who test are new to libvarByUser and centeredByUser.
	libvarByUser   = libvarSetting.byUser()
	centeredByUser = centeredSetting.byUser()
)

// byUser returns the setting without the leak of the paper's protocol.
func (s movieSetting) byUser() movieSetting {
	s.ID, s.Protocol, s.Distributed = s.ID+"-by-user", movies.ProtocolByUser, false
	return s
}

// settingsFrom returns the paper's settings, or smaller ones if o asks.
func settingsFrom(o study.Options, r *movies.Ratings) moviesSettings {
	s := moviesSettings{
		Movies:    movierecipe.DefaultMovies(o.Seed, r),
		Settings:  []movieSetting{libvarSetting, huangSetting, centeredSetting, libvarByUser, centeredByUser},
		Baselines: defaultBaselines(),
	}
	s.Epochs, s.Split.Stream = cmp.Or(o.Epochs, s.Epochs), cmp.Or(o.Test, s.Split.Stream)
	return s
}

// movieKinds are the architectures of Table 4.
var movieKinds = []recipe.Kind{recipe.GNN, recipe.Filter, recipe.WideDeep}

// movieTitles are the columns of Table 4: the movie that models are trained on,
// and those that they are asked for as well. Data sets spell them differently.
var movieTitles = [3][]string{
	{"Star Wars (1977)", "Star Wars: Episode IV - A New Hope (1977)"},
	{"Contact (1997)"},
	{"Return of the Jedi (1983)", "Star Wars: Episode VI - Return of the Jedi (1983)"},
}

var movieColumns = []string{"Star Wars", "Contact", "Return of the Jedi"}

// openLibrary reads the data set in dir, or in the given folder below "data" if
// dir is empty. It also returns all ratings of the set.
func openLibrary(dir, folder string, top int) (*movierecipe.Library, *movies.Ratings, error) {
	asked := dir
	if dir == "" {
		dir = filepath.Join("data", folder)
	}
	all, err := movierecipe.OpenRatings(dir, "movielens-"+strings.TrimPrefix(folder, "ml-"))
	var problem *dataset.Problem
	if asked == "" && errors.As(err, &problem) {
		problem.Try += ", or name the folder that holds them with --data"
	}
	if err != nil {
		return nil, nil, err
	}
	l, err := newLibrary(all, top)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	return l, all, nil
}

// newLibrary returns the most rated movies of a table.
func newLibrary(all *movies.Ratings, top int) (*movierecipe.Library, error) {
	return movierecipe.NewLibrary(all, top, movieTitles[0], movieTitles[1:]...)
}

// movieWorld is one split of the users, as one reading sees it.
type movieWorld struct {
	*movierecipe.MovieWorld
	settings *moviesSettings
	setting  movieSetting
}

// newMovieWorld divides the users and makes the graph.
func newMovieWorld(s *moviesSettings, m movieSetting, l *movierecipe.Library, number int) (*movieWorld, error) {
	w, err := movierecipe.NewMovieWorld(&s.Movies, m.Reading, l, number)
	return &movieWorld{w, s, m}, err
}

// save writes a model to a file and returns its name below the output folder.
func (w *movieWorld) save(r *study.Run, k recipe.Kind, m *gnn.WideDeep) (string, error) {
	key := study.Fingerprint([]any{w.settings, w.setting, k, r.Version, mat.Family()})
	name := fmt.Sprintf("movies-%s-%s-%s-split%d.safetensors", key, w.ID, k, w.Number)
	file := &modelfile.Model{Network: m, Meta: modelfile.Meta{
		Shift: w.Shift, Task: "regress", Nodes: []int{w.Users.Target}, Seed: w.Seed, Version: r.Version,
	}}
	return filepath.ToSlash(filepath.Join("models", name)), modelfile.Save(filepath.Join(r.Models(), name), file)
}
