package rule_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/rule"
)

// Every configuration but a rule of one's own goes through JSON unchanged.
func TestConfigRoundTrip(t *testing.T) {
	for _, c := range []rule.Config{
		{},
		rule.Paper(true).Ungated(), rule.Paper(false).Ungated(),
		{
			StepSize: rule.StepSize{Schedule: rule.Decaying, Value: 0.1, Steps: 7},
			Ridge:    0.1, ClipNorm: 2, Retrain: rule.RetrainTapsAndBias, Limit: 9,
		},
	} {
		text := must[[]byte](t)(json.Marshal(c))
		var got rule.Config
		if err := json.Unmarshal(text, &got); err != nil || got != c {
			t.Errorf("%s reads as %+v and %v, want %+v", text, got, err, c)
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	want := `{"step_size":{"schedule":"decaying","value":1},"retrain":"taps+bias"}`
	c := rule.Config{StepSize: rule.StepSize{Schedule: rule.Decaying, Value: 1}, Retrain: rule.RetrainTapsAndBias}
	if got := string(must[[]byte](t)(json.Marshal(c))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Validate reports everything that is wrong at once.
func TestConfigComplains(t *testing.T) {
	nan := math.NaN()
	c := rule.Config{
		StepSize: rule.StepSize{Schedule: "cosine", Value: -1, Steps: nan}, Ridge: -1, ClipNorm: math.Inf(1),
		Retrain: "readout", Limit: nan, Gate: &rule.Gate{Margin: -1, Slack: nan, Window: -1, Patience: 1<<20 + 1},
	}
	err := c.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`step_size.schedule is "cosine", want fixed or decaying`, "step_size.value is -1", "step_size.steps is NaN",
		"ridge is -1", "clip_norm is +Inf", `retrain is "readout", want taps or taps+bias`, "limit is NaN",
		"margin is -1, want a number above 0, or 0 for 0.05", "slack is NaN, want a number above 0, or 0 for 15",
		"window is -1, want 1 to 1048576 answers, or 0 for 30", "patience is 1048577, want 1 to 1048576 answers, or 0 for 100",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	for _, s := range []rule.StepSize{{Value: nan}, {Value: math.Inf(1)}, {Schedule: "x"}, {Steps: -1}} {
		if s.Validate() == nil {
			t.Errorf("%+v is valid", s)
		}
	}
	inf, many := math.Inf(1), 1<<20+1
	for _, g := range []rule.Gate{{Margin: inf}, {Slack: inf}, {Margin: nan}, {Slack: -1}, {Window: many}, {Patience: -1}} {
		if g.Validate() == nil {
			t.Errorf("%+v is valid", g)
		}
	}
	if err := (&rule.Gate{Margin: 0.5, Slack: 0.5, Window: 1 << 20, Patience: 1 << 20}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestPresets(t *testing.T) {
	for name, want := range map[string]rule.Config{
		"paper": rule.Paper(false), "own": rule.Own(), "neighbours": rule.Neighbours(), "season": rule.Seasonal(),
	} {
		got := must[rule.Config](t)(rule.Preset(name, false))
		if !reflect.DeepEqual(got, want) || got.Gate == nil || got.Ungated().Gate != nil {
			t.Errorf("%s: got %+v, want %+v, with a gate", name, got, want)
		}
	}
	if c := must[rule.Config](t)(rule.Preset("paper", true)); c.StepSize.Value != 0.3 || rule.Paper(false).StepSize.Value != 3 {
		t.Errorf("step sizes of paper %v and %v, want 0.3 and 3", c.StepSize.Value, rule.Paper(false).StepSize.Value)
	}
	const want = `no preset is called "bold"; try auto, neighbours, own, paper or season`
	if _, err := rule.Preset("bold", false); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v", err)
	}
}

// Reference: Section 3, eq. (7): γ_t.
func TestStepSizes(t *testing.T) {
	for _, c := range []struct {
		s    rule.StepSize
		t    int
		want float64
	}{
		{rule.StepSize{Value: 0.3}, 1000, 0.3},
		{rule.StepSize{Schedule: rule.Decaying, Value: 2}, 0, 2},
		{rule.StepSize{Schedule: rule.Decaying, Value: 2}, 300, 1},
		{rule.StepSize{Schedule: rule.Decaying, Value: 3, Steps: 10}, 80, 1},
	} {
		if got := c.s.At(c.t); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%+v at step %d: %v, want %v", c.s, c.t, got, c.want)
		}
	}
}

// What is set is not advised, and every setting that is makes smaller steps.
func TestCalmerNamesWhatIsNotSet(t *testing.T) {
	for _, c := range []struct {
		config rule.Config
		want   []string
	}{
		{rule.Paper(false).Ungated(), []string{"step_size: {value: 0.3}", "preset: own", "gate: on"}},
		{
			rule.Config{StepSize: rule.StepSize{Schedule: rule.Decaying, Value: 2}, Gate: &rule.Gate{}},
			[]string{"step_size: {schedule: decaying, value: 0.2}", "preset: own"},
		},
		{rule.Own().Ungated(), []string{"newton: {prior: 0.001}", "gate: on"}},
		{rule.Seasonal().Ungated(), []string{"season: {taps: 30000}", "season: {taps: -1}", "season: {ridge: 300}", "gate: on"}},
		{rule.Config{Season: &rule.Season{Ridge: 5, Taps: -1}, Gate: &rule.Gate{}}, []string{"season: {ridge: 50}"}},
		{rule.Config{Newton: &rule.Newton{Prior: 5}, Gate: &rule.Gate{}}, []string{"newton: {prior: 0.5}"}},
	} {
		if got := c.config.Calmer(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.config, got, c.want)
		}
	}
}
