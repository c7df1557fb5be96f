package figure

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

var keep = flag.String("keep", "", "folder to leave the sample charts in, to look at them")

// TestSamples draws charts like those of the experiments: the same value gives
// the same bytes, and images have the size that is promised. With -keep they can
// be looked at: go test ./internal/paper/figure -run Samples -keep FOLDER
func TestSamples(t *testing.T) {
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	again := samples()
	for name, f := range samples() {
		base := filepath.Join(dir, name)
		if err := save(base, f); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkBytes(t, base+".svg", again[name], writeSVG)
		checkBytes(t, base+".png", again[name], writePNG)
		want := "1344×864"
		if name == "paths" {
			want = "1344×1104"
		}
		if got := pixels(t, base+".png"); got != want {
			t.Errorf("%s: got %s pixels, want %s", name, got, want)
		}
	}
}

// checkBytes checks that drawing an equal chart gives the bytes of a file.
func checkBytes(t *testing.T, file string, f chart, write func(io.Writer, chart) error) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := write(&got, f); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s: drawn twice, bytes differ", filepath.Base(file))
	}
}

func pixels(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return fmt.Sprintf("%d×%d", img.Bounds().Dx(), img.Bounds().Dy())
}

// samples returns charts of all kinds, by name.
func samples() map[string]chart {
	return map[string]chart{
		"outage":   outageSample(),
		"running":  runningSample(),
		"mixing":   mixingSample(),
		"paths":    pathsSample(),
		"stepsize": stepSizeSample(),
	}
}

func outageSample() *Figure {
	f := &Figure{
		Title:    "Online learning makes up for lost links",
		Subtitle: "Source localization on 20 nodes; links fail independently with probability p",
		X:        Axis{Label: "Link outage probability p"},
		Y:        Axis{Label: "Accuracy on test signals"},
		Note:     "Mean and standard deviation of 10 networks; seed 1; 1000 test signals each.",
	}
	for i, name := range []string{"WD-GNN, online", "GNN"} {
		s := Series{Name: name, Style: LinePoints}
		for p := 0.0; p < 0.55; p += 0.1 {
			y := 0.94 - 0.25*p*p - float64(i)*(0.02+0.5*p)
			s.X, s.Y = append(s.X, p), append(s.Y, y)
			s.Low, s.High = append(s.Low, y-0.02-0.03*p), append(s.High, y+0.02+0.03*p)
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func runningSample() *Figure {
	rng := rand.New(rand.NewPCG(1, 2))
	f := &Figure{
		Title:    "Running accuracy after the graph changes",
		Subtitle: "Share of the last 100 signals whose source was found",
		X:        Axis{Label: "Signals seen since the change"},
		Y:        Axis{Label: "Running accuracy"},
		Note:     "Bands: quartiles of 10 networks; seed 1.",
	}
	for i, name := range []string{"centralized", "consensus", "consensus, window 8", "consensus, whitened", "lone nodes"} {
		s := Series{Name: name}
		noise := 0.0
		for t := range 1000 {
			noise = 0.98*noise + 0.004*rng.NormFloat64()
			y := 0.93 - 0.035*float64(i) - 0.22*math.Exp(-float64(t)/(120+60*float64(i))) + noise
			s.X, s.Y = append(s.X, float64(t)), append(s.Y, y)
			s.Low, s.High = append(s.Low, y-0.02), append(s.High, min(1, y+0.02))
		}
		f.Series = append(f.Series, s)
	}
	f.Series = append(f.Series, Series{Name: "frozen", Style: Dashed, X: []float64{0}, Y: []float64{0.705}})
	return f
}

func mixingSample() *Figure {
	f := &Figure{
		Title:    "A little mixing is enough",
		Subtitle: "η = 0 is every node for itself, η = 1 the full average of eq. (9)",
		X:        Axis{Label: "Mixing strength η", Log: true, Zero: true},
		Y:        Axis{Label: "Accuracy over 1000 signals"},
		Note:     "Mean and standard error of 10 networks; seed 1.",
	}
	for i, name := range []string{"p = 0", "p = 0.3"} {
		s := Series{Name: name, Style: LinePoints}
		for _, eta := range []float64{0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1} {
			y := 0.78 + 0.12*eta/(eta+0.01) - 0.03*eta - 0.05*float64(i)
			s.X, s.Y = append(s.X, eta), append(s.Y, y)
			s.Low, s.High = append(s.Low, y-0.012), append(s.High, y+0.012)
		}
		f.Series = append(f.Series, s)
	}
	f.Series = append(f.Series, Series{Name: "frozen", Style: Dashed, X: []float64{1}, Y: []float64{0.74}})
	return f
}

func pathsSample() *Paths {
	rng := rand.New(rand.NewPCG(3, 4))
	f := &Paths{
		Title:  "Fifty robots agree on where to go",
		XLabel: "x in metres", YLabel: "y in metres",
		Note: "Communication radius 2 m; seed 1; one run.",
	}
	for range 50 {
		x, y := 14*rng.Float64(), 10*rng.Float64()
		vx, vy := 3*rng.NormFloat64(), 3*rng.NormFloat64()
		var p Path
		for range 200 {
			p.X, p.Y = append(p.X, x), append(p.Y, y)
			x, y = x+0.01*vx, y+0.01*vy
			vx, vy = vx+0.02*(2.5-vx), vy+0.02*(1.2-vy)
		}
		p.Velocity = &[2]float64{vx, vy}
		f.Paths = append(f.Paths, p)
	}
	return f
}

// stepSizeSample has names that do not fit at the ends, and curves that end
// early.
func stepSizeSample() *Figure {
	f := &Figure{
		Title: "Regret against the step size",
		X:     Axis{Label: "Step size γ", Log: true},
		Y:     Axis{Label: "Cost per signal", Log: true},
	}
	for i := range 7 {
		s := Series{Name: fmt.Sprintf("learner number %d of seven", i+1), Style: Style(i % 3)}
		for k := range 9 - i {
			x := math.Pow10(k - 6)
			s.X, s.Y = append(s.X, x), append(s.Y, math.Exp(math.Pow(float64(k)-4, 2)/8+float64(i)/4))
		}
		f.Series = append(f.Series, s)
	}
	return f
}
