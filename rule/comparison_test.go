package rule_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/rule"
)

// An end cost above 1.5 times that of the model as trained is harm. Costs of 0,
// too few steps and numbers that are not finite do not make it up, or hide it.
func TestHarm(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		at   rule.Comparison
		want bool
	}{
		{"thousands against a tenth", rule.Comparison{Steps: 40, Learned: 5617, Frozen: 0.1, Usual: 0.1}, true},
		{"a little more", rule.Comparison{Steps: 40, Learned: 0.16, Frozen: 0.1, Usual: 0.1}, true},
		{"just not", rule.Comparison{Steps: 40, Learned: 0.15, Frozen: 0.1, Usual: 0.1}, false},
		{"better", rule.Comparison{Steps: 40, Learned: 0.01, Frozen: 0.1, Usual: 0.1}, false},
		{"both perfect", rule.Comparison{Steps: 40}, false},
		{"perfect at the end, and nearly so", rule.Comparison{Steps: 40, Learned: 0.0005, Frozen: 0, Usual: 0.1}, false},
		{"perfect at the end, and not at all", rule.Comparison{Steps: 40, Learned: 0.1, Frozen: 0, Usual: 0.1}, true},
		{"always perfect, and not at all", rule.Comparison{Steps: 40, Learned: 1e-9, Frozen: 0, Usual: 0}, true},
		{"a cost below 0", rule.Comparison{Steps: 40, Learned: -0.9, Frozen: -1, Usual: -1}, false},
		{"nothing judged", rule.Comparison{Learned: 9}, false},
		{"not finite", rule.Comparison{Steps: 40, Learned: nan, Frozen: 0.1, Usual: 0.1}, true},
		{"infinite", rule.Comparison{Steps: 40, Learned: inf, Frozen: 0.1, Usual: 0.1}, true},
		{"a model that is broken itself", rule.Comparison{Steps: 40, Learned: 1, Frozen: nan, Usual: nan}, false},
	} {
		if got := c.at.Harmful(); got != c.want {
			t.Errorf("%s, %+v: got %t, want %t", c.name, c.at, got, c.want)
		}
	}
	const want = "the answers of the last 40 steps cost 5617, those of the model as trained 0.1"
	if got := (rule.Comparison{Steps: 40, Learned: 5617.2, Frozen: 0.1}).String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
