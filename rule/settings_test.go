package rule_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/rule"
)

// Settings change the preset, and only what they name.
func TestSettings(t *testing.T) {
	half, yes, zero, seven := 0.5, true, 0.0, 7
	for _, c := range []struct {
		name        string
		s           rule.Settings
		centralized bool
		want        rule.Config
	}{
		{"nothing", rule.Settings{}, false, rule.Own().Ungated()},
		{"links that change at every step", rule.Settings{Links: rule.LinksEveryStep}, false, rule.Own().Ungated()},
		{
			"numbers of newton",
			rule.Settings{Links: rule.LinksOutages, Newton: &rule.NewtonSettings{Prior: &half, Doubt: &zero, Fresh: &seven, Restart: &yes}},
			false,
			rule.Config{Newton: &rule.Newton{Prior: 0.5, Forget: 0.9999, Fresh: 7, Restart: true}, Retrain: rule.RetrainTapsAndBias},
		},
		{
			"numbers of the season",
			rule.Settings{Season: &rule.Season{Taps: -1, Slack: 3}},
			false,
			rule.Config{Season: &rule.Season{Taps: -1, Slack: 3}},
		},
		{"centralized", rule.Settings{Preset: "paper"}, true, rule.Paper(true).Ungated()},
		{
			"a schedule keeps the value",
			rule.Settings{Preset: "paper", StepSize: &rule.StepSettings{Schedule: rule.Decaying, Steps: 7}},
			false,
			rule.Config{StepSize: rule.StepSize{Schedule: rule.Decaying, Value: 3, Steps: 7}},
		},
		{
			"the rest",
			rule.Settings{
				Preset: "paper", StepSize: &rule.StepSettings{Value: &half},
				Ridge: 1, ClipNorm: 2, Limit: 3, Retrain: rule.RetrainTapsAndBias,
			},
			false,
			rule.Config{
				StepSize: rule.StepSize{Value: 0.5},
				Ridge:    1, ClipNorm: 2, Limit: 3, Retrain: rule.RetrainTapsAndBias,
			},
		},
	} {
		c.want.Gate, c.want.Conformal = &rule.Gate{}, &conformal.Config{Coverage: 0.9} // on, unless somebody says off
		if got, err := c.s.Config(c.centralized, nil); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v and %v, want %+v", c.name, got, err, c.want)
		}
	}
}

// Every configuration can be written as settings.
func TestSettingsOfAConfig(t *testing.T) {
	for _, want := range []rule.Config{
		{},
		rule.Paper(false).Ungated(), rule.Own().Ungated(),
		{Newton: &rule.Newton{Prior: 2, Forget: 0.9, Restart: true}},
		rule.Neighbours().Ungated(), rule.Seasonal().Ungated(),
		{Season: &rule.Season{Forget: 0.9, Rate: 0.3, Ridge: 2, Taps: -1, Margin: 0.5, Slack: 7}, Gate: &rule.Gate{}},
		{
			StepSize: rule.StepSize{Schedule: rule.Decaying, Value: 0.1, Steps: 7},
			Ridge:    0.1, ClipNorm: 2, Retrain: rule.RetrainTapsAndBias, Limit: 9,
		},
		{Gate: &rule.Gate{}, Delay: 3},
		{Conformal: &conformal.Config{Coverage: 0.75}},
		{Gate: &rule.Gate{Margin: 0.1, Slack: 5, Window: 7, Patience: 9}},
	} {
		if got, err := want.Settings().Config(false, nil); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v and %v, want %+v", got, err, want)
		}
	}
}

// What settings leave open is chosen by what is known of the run.
func TestSettingsFor(t *testing.T) {
	all, heard := rule.Facts{Bias: true}, rule.Facts{Bias: true, Heard: true}
	forecast := rule.Facts{Bias: true, Forecast: true}
	for _, c := range []struct {
		s    rule.Settings
		f    rule.Facts
		want string
	}{
		{rule.Settings{}, all, "own"},
		{rule.Settings{Preset: "auto", Links: rule.LinksOutages}, all, "own"},
		{rule.Settings{Links: rule.LinksEveryStep}, all, "own"},
		{rule.Settings{}, rule.Facts{Gradient: true, Heard: true}, "own"},
		{rule.Settings{StepSize: &rule.StepSettings{}}, all, "paper"},
		{rule.Settings{Ridge: 1}, heard, "paper"},
		{rule.Settings{Rule: "mine"}, all, "paper"},
		{rule.Settings{Retrain: rule.RetrainTaps}, heard, "paper"},
		{rule.Settings{}, heard, "neighbours"},
		{rule.Settings{Links: rule.LinksOutages}, heard, "neighbours"},
		{rule.Settings{Links: rule.LinksEveryStep}, heard, "own"},
		{rule.Settings{Newton: new(rule.NewtonSettings)}, heard, "neighbours"},
		{rule.Settings{Preset: "paper"}, all, "paper"},
		{rule.Settings{}, forecast, "season"},
		{rule.Settings{Preset: "auto", Links: rule.LinksEveryStep}, forecast, "season"},
		{rule.Settings{Preset: "own"}, forecast, "own"},
		{rule.Settings{Newton: new(rule.NewtonSettings)}, forecast, "own"},
		{rule.Settings{StepSize: &rule.StepSettings{}}, forecast, "paper"},
		{rule.Settings{Season: new(rule.Season)}, all, "season"},
	} {
		if got := c.s.For(c.f).Preset; got != c.want {
			t.Errorf("%+v with %+v: got %s, want %s", c.s, c.f, got, c.want)
		}
	}
	if got, err := new(rule.Settings).For(rule.Facts{}).Config(false, nil); err != nil || got.Retrain != "" {
		t.Errorf("a model without a bias retrains %v and %v, want taps", got.Retrain, err)
	}
}

// Complaints begin with the key.
func TestSettingsComplain(t *testing.T) {
	much := 1.5
	for want, s := range map[string]rule.Settings{
		`rule: preset is "bold", want auto, neighbours, own, paper or season`: {Preset: "bold"},
		"rule: newton goes without a rule of one's own, step size":            {Preset: "own", Ridge: 7},
		"rule: newton has numbers of the presets own and neighbours":          {Preset: "paper", Newton: &rule.NewtonSettings{}},
		"rule: season has numbers of the preset season, this is":              {Preset: "paper", Season: &rule.Season{}},
		"rule: retrain is for the presets paper and own":                      {Preset: "neighbours", Retrain: rule.RetrainTaps},
		"rule: season is for mode distributed":                                {Preset: "season"},
		"rule: season.rate is 1.5, want above 0 to 1":                         {Season: &rule.Season{Rate: much}},
		`rule: links is "loose", want fixed, outages or every-step`:           {Preset: "own", Links: "loose"},
		"rule: newton.doubt is 1.5, want a share of answers":                  {Newton: &rule.NewtonSettings{Doubt: &much}},
	} {
		if _, err := s.Config(true, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Settings may name a rule of the program's own.
func TestSettingsNameARule(t *testing.T) {
	own := map[string]rule.Rule{"slow": Tracking{Gamma: 0.1}, "fast": Tracking{Gamma: 0.5}, "mute": mute{}}
	s := rule.Settings{Rule: "fast"}
	want := rule.Paper(false).Ungated()
	want.Rule, want.Gate = Tracking{Gamma: 0.5}, &rule.Gate{}
	want.Conformal = &conformal.Config{Coverage: 0.9}
	if got, err := s.Config(false, own); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v and %v, want %+v", got, err, want)
	}
	for _, c := range []struct {
		s    rule.Settings
		own  map[string]rule.Rule
		want string
	}{
		{rule.Settings{Rule: "fats"}, own, `rule: rule: no rule is called "fats"; this program has: fast, mute, slow`},
		{rule.Settings{Rule: "fast"}, nil, `rule: rule: no rule is called "fast"; this program has none of its own`},
		{rule.Settings{Rule: "fast", StepSize: &rule.StepSettings{}}, own, `rule: step_size is that of gradient steps; the rule "fast"`},
		{rule.Settings{Rule: "mute"}, own, "rule: a rule_test.mute sends 0 vectors and keeps 0, want at least 1"},
	} {
		if _, err := c.s.Config(false, c.own); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.s, err, c.want)
		}
	}
}

// mute has nothing that predictions could use.
type mute struct{ Tracking }

func (mute) Sent() int { return 0 }
func (mute) Kept() int { return 0 }
