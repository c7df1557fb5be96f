package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/train"
)

// Every phase of a training that may take long tells how far it is, and ends when the
// context does. The epochs end by themselves.
func TestPhases(t *testing.T) {
	c := hillConfig(t, "  split: {valid: 0.2, test: 0.2}")
	c.Train.Epochs, c.Train.Inputs = 1, &train.Inputs{Scale: train.ScaleDiag}
	d := mustForecasts(t, c, hill(300), nil)
	// play trains and returns the phases; the context ends in that of the given name.
	play := func(last string) (phases []string, err error) {
		d.forecast.ridge = nil
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		training, err := newTraining(c, d)
		if err != nil {
			t.Fatal(err)
		}
		defer training.Close()
		training.Watch = func(phase string, done, all int) {
			if done > all || all < 1 {
				t.Errorf("%s: %d of %d", phase, done, all)
			}
			if !slices.Contains(phases, phase) {
				phases = append(phases, phase)
			}
			if phase == last {
				cancel()
			}
		}
		result, err := training.Run(ctx, nil, nil, nil)
		if err == nil {
			err = training.Calibrate(ctx)
		}
		if err == nil {
			_, err = training.Report(ctx, result, "test")
		}
		return phases, err
	}
	all, err := play("")
	want := []string{
		"second moment of the inputs", "moments that scale the inputs", "usual errors", "replay", "ridge", "intervals",
		"score of train", "score of valid", "forecasts", "score of test",
	}
	if err != nil || !slices.Equal(all, want) {
		t.Fatalf("phases %q (%v), want %q", all, err, want)
	}
	for k, phase := range all {
		if seen, err := play(phase); !errors.Is(err, context.Canceled) || !slices.Equal(seen, all[:k+1]) {
			t.Errorf("stopped in %s: %v after %q, want that nothing follows", phase, err, seen)
		}
	}
}

// An order far beyond the diameter of the graph is noted, with both; six masts in a
// row are five links apart.
func TestOrderBeyondDiameter(t *testing.T) {
	for order, want := range map[int]string{2: "", 15: "", 16: "order 16, and the farthest nodes are 5 links apart", 200: "order 200"} {
		c := hillConfig(t, "")
		c.Forecast.Graph, c.Forecast.Correlated, c.Model.Wide.Order = "links.csv", 0, order
		row := "src,dst\nmast 0,mast 1\nmast 1,mast 2\nmast 2,mast 3\nmast 3,mast 4\nmast 4,mast 5\n"
		if err := os.WriteFile(c.Abs(c.Forecast.Graph), []byte(row), 0o644); err != nil {
			t.Fatal(err)
		}
		training, err := newTraining(c, mustForecasts(t, c, hill(100), nil))
		if err != nil {
			t.Fatal(err)
		}
		training.Close()
		notes := fmt.Sprint(training.Notes())
		if strings.Contains(notes, "warning") != (want != "") || !strings.Contains(notes, want) {
			t.Errorf("order %d: notes %s, want %q", order, notes, want)
		}
	}
}
