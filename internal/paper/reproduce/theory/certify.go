package theory

import (
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/certify"
	robots "github.com/wdgnn/wdgnn/internal/paper/reproduce/flocking"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/sourceloc"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
)

// Certify holds the theorems against what is measured.
var Certify = study.Experiment{
	Name:  "certify",
	Title: "Theorems as numbers",
	About: texts.Say("certify about", nil),
	Do:    runCertify,
}

// certifiedProbs are the probabilities of losing a link.
var certifiedProbs = []float64{0.02, 0.05, 0.1, 0.3, 0.5}

// certifiedSteps is how many steps of online learning are looked at.
const certifiedSteps = 300

// certifyUnit is all that is computed.
type certifyUnit struct {
	Model     recipe.SourceInfo `json:"model"`
	Stability []certifiedOutput `json:"stability"` // by probability
	Runs      []certifiedRun    `json:"runs"`      // centralized, distributed
	Flight    certifiedFlight   `json:"flight"`
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

func runCertify(ctx context.Context, r *study.Run) (*study.Result, error) {
	s, f := sourceloc.From(r.Options), robots.From(r.Options)
	swarm := recipe.DatasetCost + f.Work(f.Spec(recipe.WideDeep, recipe.ClipClosest)) + robots.FlightsCost*certifiedFlightParts
	work := float64(s.Epochs) + float64(len(certifiedProbs)) + 2*sourceloc.StreamCost + swarm
	list, err := study.Units(ctx, r, 1, work, func(int) string { return "graph0-data0" }, []any{s, f},
		func(ctx context.Context, _ int) (*certifyUnit, error) {
			source, err := sourceloc.New(r, s, 0, 0)
			if err != nil {
				return nil, err
			}
			z := &realization{source}
			if err := z.Prepare(ctx, recipe.WideDeep); err != nil {
				return nil, err
			}
			u, err := z.certify(ctx)
			if err != nil {
				return nil, err
			}
			u.Flight, err = (&swarms{robots.New(r, f, 0, r.Inside(1), swarm)}).certify(ctx)
			return u, err
		})
	if err != nil {
		return nil, err
	}
	return certifyResult(s, f, list[0]), nil
}

// realization is a network of Table 1 whose model is looked at.
type realization struct{ *sourceloc.Realization }

// certify computes the bounds for the trained model.
func (z *realization) certify(ctx context.Context) (*certifyUnit, error) {
	t := z.Models[recipe.WideDeep]
	u := &certifyUnit{Model: t.Info}
	file := &modelfile.Model{Network: t.Network, Meta: modelfile.Meta{Shift: graph.ShiftSpectral}}
	for _, p := range certifiedProbs {
		g, err := z.Subgraph(0, p)
		if err != nil {
			return nil, err
		}
		report, err := certify.Graphs(ctx, file, z.Net.Graph, g, certify.Options{Seed: z.Seed})
		if err != nil {
			return nil, err
		}
		u.Stability = append(u.Stability, certifiedOf(report))
		z.Run.Advance(1, "certificate where links are lost with probability %v", p)
	}
	for _, spec := range []recipe.LearnerSpec{sourceloc.WideDeepCentral, sourceloc.WideDeepPaper} {
		stream, err := z.TestStream(0, z.OutageProb)
		if err != nil {
			return nil, err
		}
		report, err := certify.Stream(ctx, certify.StreamRun{
			Model: t.Network, Distributed: spec.Mode == recipe.Distributed, World: stream, Kind: theory.CrossEntropy, Steps: certifiedSteps,
			Config: online.Config{Nodes: z.Net.Graph.Nodes(), Read: z.Read()}, Rule: spec.Config,
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spec.ID, err)
		}
		u.Runs = append(u.Runs, certifiedRunOf(report))
		z.Run.Advance(sourceloc.StreamCost, "bounds of %s", spec.ID)
	}
	return u, nil
}

// certifiedOf takes from a report what the table shows.
func certifiedOf(r *certify.StabilityReport) certifiedOutput {
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
