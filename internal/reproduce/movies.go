package reproduce

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/dataset"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/movies"
)

// moviesSettings are the settings of Section 6.3. Everything that changes a
// number is here, so that its fingerprint tells results apart.
//
// Deviation: the paper names neither the loss nor how parameters are chosen.
// Models are trained on the smooth L1 loss, and those parameters are kept that
// have the least error on the validation users, who are asked every few steps.
type moviesSettings struct {
	Seed    uint64 `json:"seed"`
	Ratings string `json:"ratings"` // fingerprint of the data set
	Movies  int    `json:"movies"`  // with most ratings

	Order    int `json:"order"`    // K of both parts
	Features int `json:"features"` // G

	Epochs        int     `json:"epochs"`
	BatchSize     int     `json:"batch_size"`
	StepSize      float64 `json:"step_size"`      // of Adam
	ValidateEvery int     `json:"validate_every"` // steps

	// Gamma is the step size of online learning on e², whose gradient is 2e.
	// Taps and the wide part's bias learn.
	//
	// Deviation: the paper states neither γ nor whether the bias learns, which
	// its filters do not have.
	Gamma float64 `json:"gamma"`

	// GammaLarge is another step size for distributed learning, in which the
	// step of the one node that hears a rating is shared out among all.
	GammaLarge float64 `json:"gamma_large"`

	Split     movies.SplitConfig `json:"split"`
	Settings  []movieSetting     `json:"settings"`
	Baselines movieBaselines     `json:"baselines"`
}

// movieSetting is one reading of the experiment.
type movieSetting struct {
	ID          string             `json:"id"`
	Graph       movies.GraphConfig `json:"graph"`
	Shift       graph.Shift        `json:"shift"`
	Signal      movies.Signal      `json:"signal"`
	Protocol    movies.Protocol    `json:"protocol"`
	Distributed bool               `json:"distributed"` // nodes also learn in a distributed way
}

// The readings of the experiment that are run.
var (
	// libvarSetting is the one that the paper's table fits.
	libvarSetting = movieSetting{ID: "libvar", Graph: similarBy(movies.SimilarityLibvar), Shift: graph.ShiftSpectral, Distributed: true}
	// huangSetting is what the paper's text describes.
	huangSetting = movieSetting{ID: "huang", Graph: similarBy(movies.SimilarityHuang), Shift: graph.ShiftSpectral, Distributed: true}
	// centeredSetting is ours: what a rating says beyond the user's mean.
	centeredSetting = movieSetting{ID: "centered", Graph: similarBy(movies.SimilarityPearson), Shift: graph.ShiftSymmetric, Signal: movies.SignalCentered}
	// Users who test are new to libvarByUser and centeredByUser.
	libvarByUser   = libvarSetting.byUser()
	centeredByUser = centeredSetting.byUser()
)

func similarBy(measure movies.Similarity) movies.GraphConfig {
	c := movies.DefaultGraph()
	c.Similarity.Measure = measure
	return c
}

// byUser returns the setting without the leak of the paper's protocol.
func (s movieSetting) byUser() movieSetting {
	s.ID, s.Protocol, s.Distributed = s.ID+"-by-user", movies.ProtocolByUser, false
	return s
}

// moviesFrom returns the paper's settings, or smaller ones if o asks.
func moviesFrom(o Options, r *movies.Ratings) moviesSettings {
	s := moviesSettings{
		Seed: o.Seed, Ratings: dataset.Fingerprint(r), Movies: 400, Order: 5, Features: 64,
		Epochs: or(o.Epochs, 30), BatchSize: 5, StepSize: 5e-3, ValidateEvery: 5, Gamma: 5e-3, GammaLarge: 2e-2,
		Split:     movies.DefaultSplit(),
		Settings:  []movieSetting{libvarSetting, huangSetting, centeredSetting, libvarByUser, centeredByUser},
		Baselines: defaultBaselines(),
	}
	s.Split.Stream = or(o.Test, s.Split.Stream)
	return s
}

// architecture returns the network of Section 6.3: 64 features, filters of
// order 5, one layer, one number per movie.
func (s *moviesSettings) architecture(k recipe.Kind) gnn.Config {
	c := gnn.Config{In: 1, Features: s.Features, Outputs: 1}
	if k != recipe.GNN {
		c.Wide = &gnn.WideConfig{Order: s.Order}
	}
	if k != recipe.Filter {
		c.Deep = []gnn.LayerConfig{{Order: s.Order, Features: s.Features}}
	}
	return c
}

// movieTitles are the columns of Table 4: the movie that models are trained on,
// and those that they are asked for as well. Data sets spell them differently.
var movieTitles = [3][]string{
	{"Star Wars (1977)", "Star Wars: Episode IV - A New Hope (1977)"},
	{"Contact (1997)"},
	{"Return of the Jedi (1983)", "Star Wars: Episode VI - Return of the Jedi (1983)"},
}

var movieColumns = []string{"Star Wars", "Contact", "Return of the Jedi"}

// library is the data of a run: the most rated movies and the places of the
// three among them. It is read-only.
type library struct {
	*movies.Ratings
	target int
	others []int
}

// openLibrary reads the data set in dir, or in the given folder below "data" if
// dir is empty. It also returns all ratings of the set.
func openLibrary(dir, folder string, top int) (*library, *movies.Ratings, error) {
	set := "movielens-" + strings.TrimPrefix(folder, "ml-")
	asked := dir
	if dir == "" {
		dir = filepath.Join("data", folder)
	}
	all, err := dataset.Load(dir)
	var problem *dataset.Problem
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &problem) {
		where := dir
		if here, err := os.Getwd(); err == nil && !filepath.IsAbs(dir) {
			where = filepath.Join(here, dir)
		}
		how := fmt.Sprintf("wdgnn data get %s --data %s", set, dir)
		if asked == "" {
			how += ", or name the folder that holds them with --data"
		}
		return nil, nil, &dataset.Problem{Err: fmt.Errorf("no ratings in %s: %w", where, err), Try: how}
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
func newLibrary(all *movies.Ratings, top int) (*library, error) {
	l := &library{Ratings: all.Select(all.Top(top))}
	for c, titles := range movieTitles {
		at, found := 0, false
		for _, title := range titles {
			if n, ok := l.FindTitle(title); ok {
				at, found = n, true
			}
		}
		switch {
		case !found:
			return nil, fmt.Errorf("%s is not among the %d most rated movies; this experiment needs MovieLens with its titles", strings.Join(titles, " or "), l.Movies())
		case c == 0:
			l.target = at
		default:
			l.others = append(l.others, at)
		}
	}
	return l, nil
}

// movieWorld is one split of the users, as one reading sees it.
type movieWorld struct {
	*moviesSettings
	movieSetting
	Number int // of the split

	library *library
	split   *movies.Split
	graph   *graph.Graph
	shift   *mat.CSR
	unknown float64 // stands for the mean of a user without ratings
}

// newMovieWorld divides the users and makes the graph. One split has the same
// users in all readings that share a protocol.
func newMovieWorld(s *moviesSettings, m movieSetting, l *library, number int) (*movieWorld, error) {
	w := &movieWorld{moviesSettings: s, movieSetting: m, Number: number, library: l}
	c := s.Split
	c.Protocol = m.Protocol
	var err error
	if w.split, err = movies.NewSplit(l.Ratings, l.target, l.others, c, random.Stream(s.Seed, "movies split", number)); err != nil {
		return nil, err
	}
	if w.graph, err = movies.NewGraph(l.Ratings, w.split.Graph, m.Graph); err != nil {
		return nil, err
	}
	if w.shift, err = m.Shift.Of(w.graph); err != nil {
		return nil, err
	}
	w.unknown = l.Mean(w.split.Graph)
	return w, nil
}

// movieRows is what a model sees of some users who rated a movie, and what it
// should say.
type movieRows struct {
	movie  int
	users  []int
	z      mat.Dense // [Sᵏx]_n, users×(K+1)
	rating mat.Dense // less the user's mean if signals are centred, users×1
}

// one returns row i.
func (r movieRows) one(i int) movieRows {
	return movieRows{movie: r.movie, users: r.users[i : i+1], z: r.z.View(i, 0, 1, r.z.Cols), rating: r.rating.View(i, 0, 1, 1)}
}

// rows returns what a model sees of the users when it is asked for a movie.
func (w *movieWorld) rows(p *movies.Powers, users []int) (movieRows, error) {
	s, err := p.Samples(w.library.Ratings, users, w.Signal, w.unknown)
	if err != nil {
		return movieRows{}, err
	}
	r := movieRows{movie: p.Target(), users: users, z: mat.NewDense(len(users), p.Order()+1, nil), rating: mat.NewDense(len(users), 1, nil)}
	for i, v := range s.Features {
		r.z.Data[i] = float32(v)
	}
	for i := range users {
		r.rating.Data[i] = float32(s.Ratings[i] - s.Means[i])
	}
	return r, nil
}
