package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/train"
)

// trained trains by a configuration.
func trained(t *testing.T, text string) *Training {
	t.Helper()
	run := prepared(t, text)
	if _, err := run.Run(t.Context(), nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	return run
}

// prepared is ready to train by a configuration.
func prepared(t *testing.T, text string) *Training {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	run, err := NewTraining(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

// A configuration trains the controller that the recipe trains, to the last bit,
// with and without flights of its own.
func TestFlightsTrainAsTheRecipe(t *testing.T) {
	for _, own := range []int{0, 2} {
		s := recipe.DefaultFlocking(3, 8, 6)
		s.World.Robots, s.World.DurationSeconds, s.World.NearCap = 9, 0.2, 30
		s.BatchSize, s.Features, s.Valid, s.DaggerFlights = 4, 8, 2, own
		spec := s.Spec(recipe.WideDeep, recipe.ClipStable)
		spec.Shift, spec.NearCap, spec.Dagger = graph.ShiftRowStochastic, 30, own > 0
		z := recipe.NewFlights(s, 0, 1)
		z.Reserve(new(recipe.Shelf), own)
		want, err := z.Fit(context.Background(), spec)
		if err != nil {
			t.Fatal(err)
		}
		got := trained(t, fmt.Sprintf(`
seed: 3
threads: 2
scenario: flocking
flocking:
  {robots: 9, duration_seconds: 0.2, near_cap: 30, shift: row-stochastic, train_flights: `+
			`8, dagger_flights: %d, valid_flights: 2, test_flights: 1}
model: {features: 8, wide: {order: 3, start_zero: true}, deep: [{order: 3, features: 8, activation: tanh}]}
train: {epochs: 6, batch_size: 4, adam: {step_size: 0.0005}, clip_norm: 1, validate_every: 4}
`, own))
		if !slices.Equal(got.Model.Params.Flat, want.Network.Params.Flat) {
			t.Errorf("%d flights of its own: the configuration trains another controller than the recipe", own)
		}
		file := got.File("test")
		if nearCap, found := recipe.NearCapOf(file); !found || nearCap != 30 {
			t.Errorf("got %v (%t) as the bound of the features in the file, want 30", nearCap, found)
		}
		if norms, _ := file.RowNorms(); len(norms) != 3 || !file.Meta.Delayed || file.Meta.Shift != graph.ShiftRowStochastic {
			t.Errorf("got norms %v and %+v, want three norms of a delayed row-stochastic model", norms, file.Meta)
		}
	}
}

// A run that is interrupted before, at or after the flights of the model's own
// ends as if it had not been.
func TestFlightsResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := `
scenario: flocking
flocking: {robots: 6, duration_seconds: 0.1, train_flights: 8, dagger_flights: 2, valid_flights: 1, test_flights: 0}
model: {features: 4, wide: {order: 2}, deep: [{order: 1, features: 4}]}
train: {epochs: 12, batch_size: 4}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// part trains on from where another left, until an epoch has ended.
	part := func(from *Training, at train.Result, until int) (*Training, train.Result) {
		t.Helper()
		c, err := config.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		run, err := NewTraining(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(run.Close)
		if from != nil {
			run.Half = from.Half
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		result, err := run.Run(ctx, at.Last, func(e train.Epoch) error {
			if e.Index == until {
				cancel()
			}
			return nil
		}, nil)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return run, result
	}
	whole, want := part(nil, train.Result{}, -1)
	if whole.Epochs() != 11 || want.Epochs != 11 || whole.Half == nil {
		t.Fatalf("got %d of %d epochs, want 11 with flights of its own", want.Epochs, whole.Epochs())
	}
	for _, stop := range []int{3, 8, 9, 11} { // after the eighth the model flies
		first, half := part(nil, train.Result{}, stop)
		rest, got := part(first, half, -1)
		if got.Epochs != want.Epochs || got.Best != want.Best || !slices.Equal(rest.Model.Params.Flat, whole.Model.Params.Flat) {
			t.Errorf("stopped after epoch %d: got %d epochs and a score of %v, want %d and %v and the same bits",
				stop, got.Epochs, got.Best, want.Epochs, want.Best)
		}
	}
}
