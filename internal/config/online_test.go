package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/rule"
)

const stream = "online: {stream: {graph: g.csv, signals: s.npy, targets: t.npy}"

// Settings change the preset, and only what they name.
func TestOnlineRule(t *testing.T) {
	for _, c := range []struct {
		text string
		want rule.Config
	}{
		{"", rule.Own().Ungated()},
		{", links: every-step", rule.Own().Ungated()},
		{", preset: own, retrain: taps", rule.Config{Newton: rule.Own().Ungated().Newton}},
		{", preset: neighbours", rule.Neighbours().Ungated()},
		{", preset: season", rule.Seasonal().Ungated()},
		{", preset: paper", rule.Paper(false).Ungated()},
		{", preset: paper, mode: centralized", rule.Paper(true).Ungated()},
		{", preset: paper, gate: off", rule.Paper(false).Ungated()},
		{", preset: paper, gate: off, coverage: 0", rule.Paper(false).Ungated()},
		{", gate: {margin: 0.1, patience: 50}, step_size: {value: 2}", rule.Config{
			StepSize: rule.StepSize{Value: 2}, Gate: &rule.Gate{Margin: 0.1, Patience: 50},
		}},
		{
			", step_size: {schedule: decaying, steps: 7}",
			rule.Config{StepSize: rule.StepSize{Schedule: rule.Decaying, Value: 3, Steps: 7}},
		},
		{
			", preset: paper, step_size: {value: 0.5}, ridge: 1, clip_norm: 2, limit: 3, retrain: taps+bias",
			rule.Config{StepSize: rule.StepSize{Value: 0.5}, Ridge: 1, ClipNorm: 2, Limit: 3, Retrain: rule.RetrainTapsAndBias},
		},
	} {
		cfg, err := parse([]byte(stream + c.text + "}"))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if !strings.Contains(c.text, "gate:") {
			c.want.Gate = &rule.Gate{} // on, unless somebody says off
		}
		if !strings.Contains(c.text, "coverage:") {
			c.want.Conformal = &conformal.Config{Coverage: 0.9} // on as well
		}
		got, _, err := cfg.Online.Rule(rule.Facts{Bias: true})
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v and %v, want %+v", c.text, got, err, c.want)
		}
	}
}

func TestOnlineComplains(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{stream + ", rigde: 3}", `unknown key "online.rigde"; did you mean "ridge"?`},
		{stream + ", window: 3}", `unknown key "online.window"`},
		{stream + ", mixing: 0.5}", `unknown key "online.mixing"`},
		{stream + ", step_size: 3}", `online.step_size is "3", want keys and values`},
		{stream + ", mixing_matrix: magic}", "magic"},
		{stream + ", gate: {margn: 1}}", `unknown key "online.gate.margn"; did you mean "margin"?`},
		{stream + ", gate: {margin: -1}}", "online.gate.margin is -1, want a number above 0"},
		{stream + ", coverage: 90}", "online.coverage is 90, want a share between 0 and 1, such as 0.9"},
		{stream + ", gate: perhaps}", `online.gate: gate "perhaps": want on, off, or keys and values`},
		{stream + ", delay: 3}", "online.delay is 3; say it of the stream: online.stream.delay"},
		{"online: {stream: {graph: g.csv, signals: s.npy, targets: t.npy, delay: -1}}", "online.delay is -1, want 0 to 4096 steps"},
		{stream + ", retrain: all}", `online.retrain is "all", want taps or taps+bias`},
		{stream + ", mode: both}", `online.mode is "both"`},
		{stream + ", preset: perso}", `online.preset is "perso", want auto, neighbours, own, paper or season`},
		{stream + ", mode: centralized, preset: season}", "online.season is for mode distributed"},
		{stream + ", limit: -2, ridge: -1}", "online.ridge is -1, want a number ≥ 0\nonline.limit is -2"},
		{stream + ", step_size: {schedule: automatic}}", `online.step_size.schedule is "automatic", want fixed or decaying`},
		{stream + ", preset: own, step_size: {value: 2}}", "online.newton goes without a rule of one's own, step size"},
		{"online: {stream: {signals: s.npy, targets: t.npy}}", "online.stream.graph is missing"},
		{"online: {}", "online.stream.signals is missing: name a file\nonline.stream.targets is missing"},
		{stream + "}\ntrain: {epochs: 5}\nmodel: {features: 3, wide: {order: 1}}", "neither data nor scenario"},
		{
			"online: {stream: {graph: g, signals: s, targets: t, read: [1, 1], loss: l2}}",
			"online.stream.read names node 1 twice\nonline.stream.loss is \"l2\"",
		},
	} {
		if _, err := parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
}

// What data says holds for the stream where nothing else is said, and the
// online section does not change what a training run is.
func TestOnlineBesideData(t *testing.T) {
	with := strings.Replace(small, "task: classify", "task: regress\n  loss: smooth-l1\n  directed: true", 1)
	c, err := parse([]byte(with + "online: {stream: {signals: s.npy, targets: t.npy}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if path, directed := c.StreamGraph(); path != "graph.csv" || !directed {
		t.Errorf("graph %s, directed %v, want those of data", path, directed)
	}
	if got := c.StreamLoss(); got != "smooth-l1" {
		t.Errorf("loss %s, want that of data", got)
	}
	plain, err := parse([]byte(with))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Fingerprint(), plain.Fingerprint(); got != want {
		t.Errorf("the online section changes the fingerprint to %s from %s", got, want)
	}
}

// Beside data for the stream the model section may be left out: nothing is trained.
func TestOnlineWithoutModel(t *testing.T) {
	const data = "data: {graph: g.csv, signals: s.npy, targets: t.npy, task: classify}\nonline: {stream: {signals: s.npy, targets: t.npy}}"
	if c, err := parse([]byte(data)); err != nil || c.Model.Said() {
		t.Errorf("got %v, want no complaint", err)
	}
	if _, err := parse([]byte(data + "\nmodel: {wide: {order: 2}}")); err == nil {
		t.Error("a model section without features is taken")
	}
}

// A configuration that is written out reads back as itself.
func TestOnlineRoundTrip(t *testing.T) {
	c, err := parse([]byte(small + "online: {stream: {signals: s.npy, targets: t.npy, read: [2, 1]}, ridge: 0.1, gate: off, " +
		"mixing_matrix: sinkhorn, step_size: {schedule: decaying, value: 0.5}, retrain: taps+bias}\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if !reflect.DeepEqual(again.Online, c.Online) {
		t.Errorf("got %+v, want %+v", again.Online, c.Online)
	}
}

// The copy in the folder of an online run leads to the same files and to the
// folder itself.
func TestRelocateOnline(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(small+stream+", out: there}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "elsewhere")
	text, err := RelocateOnline(file, out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(out, "config.yaml")
	if err := os.WriteFile(copied, text, 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Load(copied)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if got, want := c.Abs(c.Online.Stream.Signals), filepath.Join(dir, "s.npy"); got != want {
		t.Errorf("the copy leads to %s, want %s", got, want)
	}
	if got := c.Abs(c.Online.Out); got != out {
		t.Errorf("the copy writes to %s, want %s", got, out)
	}
	if string(c.Out) != "run" {
		t.Errorf("training would write to %s, want run as before", c.Out)
	}
}

// Every regression that has a name can be asked for, in training and online; the
// cross-entropy is none.
func TestLosses(t *testing.T) {
	for _, name := range loss.Names(false) {
		with := strings.Replace(small, "task: classify", "task: regress\n  loss: "+name, 1)
		c, err := parse([]byte(with + "online: {stream: {signals: s.npy, targets: t.npy}}\n"))
		if name == "cross-entropy" {
			if err == nil || !strings.Contains(err.Error(), `data.loss is "cross-entropy", want mse`) {
				t.Errorf("%s: got %v, want it refused", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := fmt.Sprintf("%T", loss.Named(name))
		if a, b := fmt.Sprintf("%T", c.Data.Criterion()), fmt.Sprintf("%T", c.StreamCriterion()); a != want || b != want {
			t.Errorf("%s: %s in training and %s online, want %s", name, a, b, want)
		}
	}
}
