package experiment_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wdgnn/wdgnn/internal/experiment"
	"github.com/wdgnn/wdgnn/train"
)

// The demo learns, forgets nothing it should know, and loses accuracy as links
// are lost.
func TestDemo(t *testing.T) {
	epochs := 0
	demo := experiment.Demo{Seed: 17, Signals: 1000, Epochs: 15, Subgraphs: 4, OnEpoch: func(train.Epoch) { epochs++ }}
	r, err := demo.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Restarts == 0 && epochs != r.Setup.Epochs {
		t.Errorf("%d epochs were reported, %d planned", epochs, r.Setup.Epochs)
	}
	first, last := r.Rows[0], r.Rows[len(r.Rows)-1]
	if first.OutageProb != 0 || first.Accuracy < 0.9 {
		t.Errorf("with all links %+v, want an accuracy of at least 0.9", first)
	}
	if last.Accuracy > first.Accuracy-0.1 {
		t.Errorf("with half of the links lost %+v, with all %+v: want a loss of at least 0.1", last, first)
	}
}

func TestDemoStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	demo := experiment.Demo{Seed: 1, Signals: 200, OnEpoch: func(train.Epoch) { cancel() }}
	if _, err := demo.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}
