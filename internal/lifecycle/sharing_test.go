package lifecycle

import (
	"reflect"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// gains writes samples on a ring of six nodes whose targets are what each node
// sees times a gain, with noise.
func (f folder) gains(noise float64, gain func(i int) float64) {
	const samples, nodes = 300, 6
	rng := random.Stream(5, "gains")
	var x, y []float32
	for range samples {
		for i := range nodes {
			v := rng.NormFloat64()
			x, y = append(x, float32(v)), append(y, float32(gain(i)*v+noise*rng.NormFloat64()))
		}
	}
	f.text("g.csv", "0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n")
	f.save("x.npy", []int{samples, nodes}, x)
	f.save("y.npy", []int{samples, nodes}, y)
}

const gainsConfig = `
data: {graph: g.csv, signals: x.npy, targets: y.npy, task: regress, shift: symmetric}
model: {features: 2, wide: {order: 1}}
train: {epochs: 1, batch_size: 50, adam: {step_size: 0.0001}}
`

// Where every node needs taps of its own, those cost least; where all need the
// same and see noise, they had better share. What is measured is the same when it
// is measured again, and a run takes it from the file.
func TestSharingIsMeasured(t *testing.T) {
	f := newFolder(t)
	f.gains(0.1, func(i int) float64 { return float64(i%2) * 3 })
	own := f.trainIn(gainsConfig)
	s, found := own.Sharing()
	if !found || s.Best().Mixing != 0 || s.Pooled == nil || *s.Pooled <= s.Best().Cost {
		t.Fatalf("every node differs: got %+v, want taps of one's own to cost least", s)
	}
	if again, _ := f.trainIn(gainsConfig).Sharing(); !reflect.DeepEqual(again, s) {
		t.Errorf("measured again: got %+v, want %+v", again, s)
	}
	f.gains(4, func(int) float64 { return 2 })
	common := f.trainIn(gainsConfig)
	if s, found = common.Sharing(); !found || s.Best().Mixing == 0 || *s.Pooled >= s.Best().Cost {
		t.Errorf("all are alike: got %+v, want to share", s)
	}
	if line := SharingLine(s); !strings.Contains(line, "on the last 120 training samples; one set of taps for all costs less still") {
		t.Errorf("the line says %q", line)
	}
	for settings, want := range map[string]string{
		"sharing: measured": "", "sharing: guessed": "want measured", "sharing: measured, mixing: 1": "leave",
	} {
		c := &onlineCase{folder: f, model: common}
		f.text("c.yaml", "data: {graph: g.csv, signals: x.npy, targets: y.npy, task: regress}\nmodel: {features: 2, wide: {order: 1}}\n"+
			"online: {stream: {graph: g.csv, signals: x.npy, targets: y.npy}, "+settings+"}\n")
		run, err := c.open()
		switch {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", settings, err, want)
			}
		case err != nil:
			t.Errorf("%s: %v", settings, err)
		default:
			if run.Rule.Mixing != s.Best().Mixing {
				t.Errorf("%s: a strength of %v, want %v", settings, run.Rule.Mixing, s.Best().Mixing)
			}
			run.Close()
		}
	}
}

// open begins the run of c.yaml.
func (f *onlineCase) open() (*OnlineRun, error) {
	c, err := config.Load(f.dir + "/c.yaml")
	if err != nil {
		return nil, err
	}
	return NewOnlineRun(c, f.model, false)
}

// Where it cannot be measured, it is said why.
func TestSharingIsNotMeasured(t *testing.T) {
	f := newFolder(t)
	f.gains(1, func(int) float64 { return 1 })
	f.text("timed.csv", timed)
	f.array("tx.npy", 7, 40, 3, 4, 1)
	f.array("ty.npy", 5, 40, 3, 4, 1)
	few := newFolder(t)
	few.text("g.csv", line)
	few.array("x.npy", 7, 20, 4)
	few.array("y.npy", 5, 20, 4)
	for _, c := range []struct {
		in         folder
		text, want string
	}{
		{f, strings.Replace(gainsConfig, "features: 2, wide: {order: 1}", "deep: [{order: 1, features: 2}]", 1), "no wide part"},
		{f, strings.NewReplacer("g.csv", "timed.csv", "x.npy", "tx.npy", "y.npy", "ty.npy").Replace(gainsConfig), "graphs of their own"},
		{few, gainsConfig, "samples could be played"},
	} {
		c.in.text("c.yaml", c.text)
		cfg, err := config.Load(c.in.dir + "/c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		run, err := NewTraining(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		if s, skipped := run.Sharing(); s != nil || !strings.Contains(skipped, c.want) {
			t.Errorf("got %+v and %q, want none: %q", s, skipped, c.want)
		}
		if s, found := run.File("test").Sharing(); found {
			t.Errorf("the file holds %+v, want none", s)
		}
	}
	some := &modelfile.Sharing{Trials: []modelfile.SharingTrial{{Mixing: 0.3, Cost: 2}, {Mixing: 1, Cost: 3}}}
	if line := SharingLine(some); !strings.HasPrefix(line, "mixing taps by 0.3 costs least: 2,") {
		t.Errorf("the line says %q", line)
	}
}
