package online_test

import (
	"errors"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// Where inputs are many, whoever waits is asked after few rows whether to go on.
func TestMomentAsksOften(t *testing.T) {
	const order, samples = 2000, 1000
	m, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: order}})
	must(t, err)
	asked := 0
	moment := online.InputMoment(m, eye(1), mat.NewDense(samples, 1, nil), nil, nil, func(done, all int) error {
		if asked = done; all != samples {
			t.Errorf("%d of %d samples, want %d in all", done, all, samples)
		}
		return errors.New("enough")
	})
	if moment != nil || asked > samples/10 {
		t.Errorf("ended after %d of %d samples, with a moment: %t; want a tenth at most, and none", asked, samples, moment != nil)
	}
}
