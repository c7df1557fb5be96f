package sourceloc

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study/studytest"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// small returns a realization whose model has learned little.
func small(t *testing.T) *Realization {
	t.Helper()
	r := &study.Run{Options: studytest.Options(t.TempDir())}
	s := From(r.Options)
	z, err := New(r, s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Fit(t.Context(), recipe.WideDeep, nil); err != nil {
		t.Fatal(err)
	}
	return z
}

// Without trouble a learner answers as it does in Table 1.
func TestEndureWithoutTrouble(t *testing.T) {
	z := small(t)
	for _, c := range contestants() {
		right, err := z.endure(t.Context(), c.Spec, &trouble{})
		if err != nil {
			t.Fatal(err)
		}
		stream, err := z.TestStream(0, z.OutageProb)
		if err != nil {
			t.Fatal(err)
		}
		played, err := z.PlayOne(t.Context(), c.Spec, stream, false)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := accuracy(right, z), played.Accuracy; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v %% right, want %v as in the table", c.Name, got, want)
		}
	}
}

// Learners that send no taps do not hear lies about taps; others do.
func TestOnlySentTapsAreLiedAbout(t *testing.T) {
	z := small(t)
	for _, c := range contestants()[1:] {
		spec := c.Spec
		same := true
		honest, err := z.endure(t.Context(), spec, &trouble{})
		if err != nil {
			t.Fatal(err)
		}
		lied, err := z.endure(t.Context(), spec, &trouble{lie: 1})
		if err != nil {
			t.Fatal(err)
		}
		for k := range honest {
			same = same && honest[k] == lied[k]
		}
		if sends := spec.Config.Mixes(); sends == same {
			t.Errorf("%s: answers are the same with a liar: %v, want %v", c.Name, same, !sends)
		}
	}
}

// Detectors are told as many wrong answers, and as few, as the trouble says, and
// are right where their answer is the truth.
func TestTell(t *testing.T) {
	z := small(t)
	n, detectors := z.Net.Graph.Nodes(), z.Read()
	truth, told := make([]int32, n), make([]int32, n)
	y := mat.NewDense(n, z.World.Communities, nil)
	for i := range truth {
		truth[i] = 2
	}
	y.Set(detectors[0], 2, 1)
	luck := random.Stream(1, "luck")
	wrong, untold := 0, 0
	const rounds = 4000
	for range rounds {
		if right := z.tell(told, truth, y, &trouble{wrong: 0.2, untold: 0.5}, luck); right != 1 {
			t.Fatalf("%d right, want the detector that said 2", right)
		}
		for _, i := range detectors {
			switch told[i] {
			case loss.NoLabel:
				untold++
			case 2:
			default:
				wrong++
			}
		}
	}
	all := float64(rounds * len(detectors))
	if got := float64(untold) / all; math.Abs(got-0.5) > 0.02 {
		t.Errorf("%.3f of the answers not told, want 0.5", got)
	}
	if got := float64(wrong) / all; math.Abs(got-0.1) > 0.01 {
		t.Errorf("%.3f of the answers told wrong, want 0.2 of those told", got)
	}
}
