package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/robust"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// newPageCase returns a model of two outputs on a ring of six nodes, and the page of two
// signals.
func newPageCase(t *testing.T, classify bool) (*modelfile.Model, *certifyPage) {
	t.Helper()
	rng := random.Stream(1, "certify page")
	net, err := gnn.NewRandom(gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 2}}, rng)
	if err != nil {
		t.Fatal(err)
	}
	q := &robust.Question{
		Network: net, Operator: graph.ShiftRowStochastic, Graphs: []*graph.Graph{graph.Ring(6)},
		Signals: mat.NewDense(12, 1, nil), Samples: 2, Classify: classify,
	}
	for i := range q.Signals.Data {
		q.Signals.Data[i] = float32(rng.NormFloat64())
	}
	page := &certifyPage{
		Nodes: 6, Links: 6, Signals: 2, Of: 2, Answers: 12, Classify: classify, question: q, show: newCountProgress(io.Discard),
	}
	return &modelfile.Model{Network: net, Meta: modelfile.Meta{Shift: q.Operator}}, page
}

// text returns what a page says.
func (p *certifyPage) text() string {
	var out strings.Builder
	p.print(&lines{w: &out})
	return out.String()
}

// endsLater is a context that ends as soon as random losses are known and somebody has
// looked at it once more.
type endsLater struct {
	context.Context
	page  *certifyPage
	looks atomic.Int32
}

func (e *endsLater) Err() error {
	if e.page.Drop != nil && e.looks.Add(1) > 1 {
		return context.Canceled
	}
	return nil
}

// Whoever interrupts the liars keeps what random losses did; and with --least nothing is
// certified then, for liars were asked for too.
func TestInterruptedPageKeepsWhatIsKnown(t *testing.T) {
	m, page := newPageCase(t, true)
	c := &CertifyCommand{
		of: "links", drop: []float64{0.1}, given: map[string]bool{"drop": true}, draws: 20, confidence: 0.9, liar: true, threads: 1, least: 0.1,
	}
	if err := c.answer(&endsLater{Context: t.Context(), page: page}, m, page); err != nil {
		t.Fatalf("got %v, want what is known", err)
	}
	if len(page.Drop) != 1 || page.Drop[0].Draws != 20 || page.Stopped != "interrupted" {
		t.Errorf("got %d probabilities and %q, want all draws of one, interrupted", len(page.Drop), page.Stopped)
	}
	if got, want := page.text(), "It was interrupted: what was not tried is not certified.\n"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
	if err := c.verdict(t.Context(), page); err == nil || !strings.Contains(err.Error(), "not all was tried") {
		t.Errorf("--least: got %v, want that not all was tried", err)
	}
}

// Whoever interrupts what has nothing to show yet is not told what else to try.
func TestCertifyInterrupted(t *testing.T) {
	m, page := newPageCase(t, true)
	m.Meta.Task = "classify"
	dir := t.TempDir()
	model, links, signals := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "g.csv"), filepath.Join(dir, "x.npy")
	for _, err := range []error{
		modelfile.Save(model, m),
		os.WriteFile(links, []byte("0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n"), 0o644),
		modelfile.SaveArray(signals, []int{2, 6, 1}, page.question.Signals.Data),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, more := range []string{"--paper", "--signals " + signals + " --liar", "--signals " + signals + " --noise 1"} {
		code, _, stderr := exec(ctx, append([]string{"certify", model, "--graph", links, "-q"}, strings.Fields(more)...)...)
		if code != exitInterrupted || stderr != "wdgnn: interrupted\n" {
			t.Errorf("%s: exit code %d and %q, want %d and that it was interrupted", more, code, stderr, exitInterrupted)
		}
	}
}

// Of liars that were not tried nothing is said.
func TestPageOfSomeLiars(t *testing.T) {
	for _, classify := range []bool{true, false} {
		m, page := newPageCase(t, classify)
		if err := page.tryLiar(t.Context(), m, 1); err != nil {
			t.Fatal(err)
		}
		if got := page.text(); strings.Contains(got, "so far") {
			t.Errorf("all liars: got %q", got)
		}
		page.Liar.Liars = page.Liar.Liars[:2]
		first, _, _ := strings.Cut(page.text(), "\n")
		if !strings.HasPrefix(first, "Of 6 nodes, 2 lied so far: ") || !strings.HasSuffix(first, "; what the others do is not known yet.") {
			t.Errorf("two of six liars: got %q", first)
		}
	}
}

// A share that is not all of them is not written as all.
func TestShareOf(t *testing.T) {
	for _, c := range []struct {
		some, all int
		want      string
	}{{2069, 2070, "99.9 %"}, {2070, 2070, "100.0 %"}, {0, 3, "0.0 %"}, {1, 3, "33.3 %"}, {0, 0, "0.0 %"}} {
		if got := shareOf(c.some, c.all); got != c.want {
			t.Errorf("%d of %d: got %q, want %q", c.some, c.all, got, c.want)
		}
	}
}

// Charts of values say how far answers may move, those of classes that they flip.
func TestChartsSayWhatHolds(t *testing.T) {
	for _, c := range []struct {
		classify    bool
		within      float64
		title, link string
	}{
		{true, 0, "Answers that cannot be flipped", "Answers that the loss of a link flips"},
		{false, 0.5, "Answers that cannot be moved by more than 0.5 mph", "Answers that the loss of a link moves by more than 0.5 mph"},
		{false, 0, "How far answers can move", "Farthest that the loss of a link moves an answer, mph"},
	} {
		_, page := newPageCase(t, c.classify)
		page.Within, page.question.Within, page.Unit = c.within, c.within, "mph"
		if err := page.tryLost(t.Context(), robust.LostConfig{}); err != nil {
			t.Fatal(err)
		}
		if f := page.lostChart(); f.Title != c.title || !f.X.Whole {
			t.Errorf("got %q over %+v, want %q over whole numbers", f.Title, f.X, c.title)
		}
		if f := page.linksPicture(); f.Key != c.link {
			t.Errorf("got %q, want %q", f.Key, c.link)
		}
	}
}

// How close bounds would have to be is said where that is not said already.
func TestPageOfLiarsWithinShares(t *testing.T) {
	for _, c := range []struct {
		held []int // within 0, 0.1 % and all of the bounds
		want string
	}{
		{[]int{12, 11, 10}, "100.0 % withstand any one that sends nothing but zeros.\n"},
		{[]int{12, 6, 1}, "50.0 % withstand any one that lies within 0.1 % of these bounds, 100.0 % any one that sends nothing but zeros.\n"},
		{[]int{12, 3, 1}, "100.0 % withstand any one that sends nothing but zeros, and 25.0 % any one within 0.1 % of these bounds.\n"},
		{[]int{0, 0, 0}, "None withstands all of them, even if they send nothing but zeros.\n"},
		{[]int{12, 12, 12}, ""},
	} {
		page := &certifyPage{Answers: 12, Classify: true, Liar: &robust.Liars{Total: 12, Held: c.held[2]}}
		for k, share := range []float64{0, 0.001, 1} {
			page.Liar.Shares = append(page.Liar.Shares, robust.LiarShare{Share: share, Held: c.held[k]})
		}
		var out strings.Builder
		page.leadShares(&lines{w: &out})
		if out.String() != c.want {
			t.Errorf("%v hold: got %q, want %q", c.held, out.String(), c.want)
		}
	}
}
