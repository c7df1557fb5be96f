package reproduce

import (
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/experiment"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
	"github.com/wdgnn/wdgnn/theory"
)

var certify = Experiment{
	Name:  "certify",
	Title: "Theorems as numbers",
	About: "Theorem 1 for the WD-GNN of Table 1: how much may its output change when links are lost, by the paper's bound, by our direct certificate, and how much does it? And the assumptions of Theorem 3 on the graphs of a flight of robots. `wdgnn certify` prints such a report for any model; [doc/theory.md](theory.md) derives the bounds.",
	run:   runCertify,
}

// certifiedProbs are the probabilities of losing a link.
var certifiedProbs = []float64{0.02, 0.05, 0.1, 0.3, 0.5}

// certifyUnit is all that is computed.
type certifyUnit struct {
	Model     modelInfo         `json:"model"`
	Stability []certifiedOutput `json:"stability"` // by probability
	Flights   []flightMixing    `json:"flights"`
}

// certifiedOutput is Theorem 1 for one pair of graphs. Numbers that may be
// infinite or unknown are text.
type certifiedOutput struct {
	Lost        int     `json:"lost"` // links
	Epsilon     string  `json:"epsilon"`
	Measured    float64 `json:"measured"`
	Certificate float64 `json:"certificate"`
	Letter      string  `json:"letter"` // the theorem's bound as the paper writes it
	Failing     int     `json:"failing"`
	Checks      int     `json:"checks"`
}

// flightMixing is how the graphs of a flight mix, over windows of one length.
type flightMixing struct {
	Window    int     `json:"window"`
	Connected bool    `json:"connected"` // the union of all graphs
	Gap       int     `json:"gap"`       // C_d
	Smallest  float64 `json:"smallest"`  // ε
	Worst     float64 `json:"worst"`     // largest σ₂(W_t)
	Windowed  float64 `json:"windowed"`  // largest σ₂ over a window
}

func runCertify(ctx context.Context, r *runner) (*Result, error) {
	s := sourcelocFrom(r.Options)
	list, err := units(ctx, r, 1, float64(s.Epochs)+float64(len(certifiedProbs)), func(int) string { return "graph0-data0" }, s,
		func(ctx context.Context, _ int) (*certifyUnit, error) {
			z, err := newRealization(r, s, 0, 0)
			if err != nil {
				return nil, err
			}
			if err := z.train(ctx, wideDeep); err != nil {
				return nil, err
			}
			return z.certify(ctx, or(r.Robots, 50))
		})
	if err != nil {
		return nil, err
	}
	return certifyResult(s, list[0]), nil
}

// certify computes the bounds for the trained model, and looks at a flight.
func (z *realization) certify(ctx context.Context, robots int) (*certifyUnit, error) {
	t := z.models[wideDeep]
	u := &certifyUnit{Model: t.info}
	file := &modelfile.Model{Network: t.network, Meta: modelfile.Meta{Shift: graph.ShiftSpectral}}
	for _, p := range certifiedProbs {
		g, err := z.subgraph(0, p)
		if err != nil {
			return nil, err
		}
		report, err := experiment.CertifyGraphs(ctx, file, z.world.Graph, g, experiment.CertifyOptions{Seed: z.Seed})
		if err != nil {
			return nil, err
		}
		u.Stability = append(u.Stability, certifiedOf(report))
		z.runner.advance(1, "certificate where links are lost with probability %v", p)
	}
	c := flocking.Default()
	c.Robots = robots
	swarm, err := flocking.New(c, random.Stream(z.Seed, "certified flight"))
	if err != nil {
		return nil, err
	}
	var mixers []*theory.Mixer
	accel := make([][2]float64, robots)
	for range c.Steps() {
		w, err := swarm.Mixing()
		if err != nil {
			return nil, err
		}
		m, err := theory.NewMixer(w)
		if err != nil {
			return nil, err
		}
		mixers = append(mixers, m)
		swarm.Expert(accel)
		if err := swarm.Step(accel); err != nil {
			return nil, err
		}
	}
	for _, window := range []int{1, 5, 20} {
		q, err := theory.CheckSequence(mixers, window)
		if err != nil {
			return nil, err
		}
		u.Flights = append(u.Flights, flightMixing{Window: window, Connected: q.Connected, Gap: q.Gap, Smallest: q.Smallest, Worst: q.Worst, Windowed: q.Windowed})
	}
	return u, nil
}

// certifiedOf takes from a report what the table shows.
func certifiedOf(r *experiment.StabilityReport) certifiedOutput {
	c := certifiedOutput{Lost: r.Edges - r.PerturbedEdges, Epsilon: fmt.Sprintf("%.3g", float64(r.Epsilon)), Checks: len(r.Checks)}
	for _, b := range r.Bounds {
		switch b.Name {
		case "direct certificate, this signal":
			c.Measured, c.Certificate = float64(b.Measured), float64(b.Bound)
		case "Theorem 1 to the letter":
			c.Letter = fmt.Sprintf("%.3g", float64(b.Bound))
		}
	}
	for _, check := range r.Checks {
		if !check.Holds {
			c.Failing++
		}
	}
	return c
}

func certifyResult(s sourcelocSettings, u *certifyUnit) *Result {
	bounds := Table{
		Title:   "Theorem 1: change of the output when links are lost",
		Columns: []string{"links lost", "ε", "measured", "direct certificate", "certificate / measured", "Theorem 1 to the letter", "hypotheses that fail"},
		Note:    "Largest change over 64 random signals of length 1, seed " + fmt.Sprint(s.Seed) + ". The certificate is proven for every perturbation and signal; the theorem leaves out O(ε²) and asks for small ε, one feature per layer and responses below 1.",
	}
	chart := Chart{Name: "certify", Title: "Change of the output: bounds and measurement", X: "probability of losing a link", Y: "‖Ψ(X; S) - Ψ(X; Ŝ)‖", LogY: true, Note: "WD-GNN of Table 1, 64 random signals"}
	direct, measured := Curve{Name: "direct certificate", Points: true}, Curve{Name: "measured", Points: true}
	for k, c := range u.Stability {
		p := certifiedProbs[k]
		bounds.Rows = append(bounds.Rows, Row{Name: fmt.Sprintf("p = %v", p), Ours: true, Cells: []Cell{
			{Text: fmt.Sprint(c.Lost)},
			{Text: c.Epsilon},
			{Text: fmt.Sprintf("%.3g", c.Measured)},
			{Text: fmt.Sprintf("%.3g", c.Certificate)},
			{Text: fmt.Sprintf("%.2f", c.Certificate/c.Measured)},
			{Text: c.Letter},
			{Text: fmt.Sprintf("%d of %d", c.Failing, c.Checks)},
		}})
		if c.Measured > 0 {
			direct.X, direct.Y = append(direct.X, p), append(direct.Y, c.Certificate)
			measured.X, measured.Y = append(measured.X, p), append(measured.Y, c.Measured)
		}
	}
	chart.Curves = []Curve{direct, measured}
	mixing := Table{
		Title:   "Theorem 3: how the graphs of a flight mix",
		Columns: []string{"union connected", "C_d, steps", "smallest entry ε", "largest σ₂(W_t)", "largest σ₂ over a window"},
		Note:    "One flight of 50 robots under the expert, Metropolis weights at every step. A σ₂ below 1 is what our bound needs of every step or of every window; Assumption 5 to the letter (all entries positive) holds on no sparse graph.",
	}
	for _, f := range u.Flights {
		yes := "no"
		if f.Connected {
			yes = "yes"
		}
		mixing.Rows = append(mixing.Rows, Row{Name: fmt.Sprintf("windows of %d", f.Window), Ours: true, Cells: []Cell{
			{Text: yes}, {Text: fmt.Sprint(f.Gap)}, {Text: fmt.Sprintf("%.4f", f.Smallest)}, {Text: fmt.Sprintf("%.4f", f.Worst)}, {Text: fmt.Sprintf("%.4f", f.Windowed)},
		}})
	}
	return &Result{Tables: []Table{bounds, mixing}, Charts: []Chart{chart}, Models: []string{u.Model.File}}
}
