package lifecycle

import (
	"errors"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/train"
)

const losing = `
seed: 5
scenario: sourceloc
sourceloc: {communities: 3, members: 6, train_samples: 300, valid_samples: 150, test_samples: 100}
model: {wide: {order: 3}, deep: [{order: 3, features: 8}, {order: 3, features: 8}]}
train:
  epochs: 6
  batch_size: 20
  adam: {step_size: 0.01}
`

// Scaled inputs and lost links change what is trained and nothing that is stored
// beside it: the moment is that of the inputs as they are, with all links.
func TestMomentOfScaledInputs(t *testing.T) {
	plain := trained(t, losing)
	robust := trained(t, losing+"  inputs: {scale: full}\n  outage: {to: 0.4}\n")
	if slices.Equal(plain.Model.Params.Flat, robust.Model.Params.Flat) {
		t.Error("scaled inputs and lost links train the same model")
	}
	want, got := plain.moment, robust.moment
	if got.Count != want.Count || !slices.Equal(got.Mean, want.Mean) {
		t.Errorf("got the moment %v of %v rows, want %v of %v", got.Mean, got.Count, want.Mean, want.Count)
	}
	if plain.File("test").Network.Config.Wide.Order != robust.File("test").Network.Config.Wide.Order {
		t.Error("scaled inputs change the architecture")
	}
}

// Where links fail in training, parameters are compared by the mean of two
// scores: with all links and with some.
func TestValidationWithLostLinks(t *testing.T) {
	for _, by := range []string{"accuracy", "loss"} {
		run := prepared(t, losing+"  outage: {from: 0.1, to: 0.4}\n  select: "+by+"\n")
		result, err := run.Run(t.Context(), nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, b := range []bound{run.valid, run.lost} {
			s, err := score(t.Context(), run.Model, b, run.engine, run.config)
			if err != nil {
				t.Fatal(err)
			}
			if by == "accuracy" {
				sum += 1 - *s.Accuracy
			} else {
				sum += s.Loss
			}
		}
		if got, want := result.Best, sum/2; got != want {
			t.Errorf("%s: the best score is %v, want %v", by, got, want)
		}
	}
}

// A run with scaled inputs and lost links that is interrupted ends as if it had
// not been.
func TestRobustTrainingResumes(t *testing.T) {
	text := losing + "  inputs: {scale: full}\n  outage: {to: 0.4, subgraphs: 50}\n"
	want := trained(t, text)
	enough := errors.New("enough")
	steps := 0
	stopped, err := prepared(t, text).Run(t.Context(), nil, nil, func(train.Step) error {
		if steps++; steps == 40 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatalf("got %v, want the callback's error", err)
	}
	second := prepared(t, text)
	if _, err := second.Run(t.Context(), stopped.Last, nil, nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(second.Model.Params.Flat, want.Model.Params.Flat) {
		t.Error("the resumed run ends with another model")
	}
}
