package graph

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/wdgnn/wdgnn/random"
)

func TestErdosRenyi(t *testing.T) {
	const n, p = 400, 0.1
	g := must(ErdosRenyi(n, p, random.Stream(1, "er")))
	checkGraph(t, g)
	pairs := float64(n * (n - 1) / 2)
	if got, want := float64(g.Edges()), p*pairs; math.Abs(got-want) > 5*math.Sqrt(pairs*p*(1-p)) {
		t.Errorf("got %v edges, want about %v", got, want)
	}
	if got := must(ErdosRenyi(30, 0, random.Stream(1, "er"))); got.Edges() != 0 {
		t.Errorf("p = 0: got %v", got)
	}
	if got := must(ErdosRenyi(30, 1, random.Stream(1, "er"))); got.Edges() != 30*29/2 {
		t.Errorf("p = 1: got %v", got)
	}
}

// One generator gives one graph, and draws at ordered probabilities are nested.
func TestErdosRenyiNested(t *testing.T) {
	draw := func(p float64) *Graph { return must(ErdosRenyi(50, p, random.Stream(3, "er"))) }
	if !draw(0.4).Adjacency().Equal(draw(0.4).Adjacency()) {
		t.Error("equal generators gave two graphs")
	}
	small, large := draw(0.2), draw(0.5)
	for i := range 50 {
		for _, j := range small.Neighbors(i) {
			if !hasEdge(large, i, int(j)) {
				t.Errorf("edge %d-%d is there at p = 0.2 and not at 0.5", i, j)
			}
		}
	}
}

func TestSBM(t *testing.T) {
	c := SBMConfig{Sizes: []int{150, 100, 50}, Intra: 0.5, Inter: 0.1}
	g := must(SBM(c, random.Stream(1, "sbm")))
	checkGraph(t, g)
	block := func(i int) int {
		if i < 150 {
			return 0
		}
		return 1 + (i-150)/100
	}
	count := map[bool]float64{}
	possible := map[bool]float64{}
	for i := range g.Nodes() {
		for j := range i {
			same := block(i) == block(j)
			possible[same]++
			if hasEdge(g, i, j) {
				count[same]++
			}
		}
	}
	for same, p := range map[bool]float64{true: c.Intra, false: c.Inter} {
		want, sd := p*possible[same], math.Sqrt(possible[same]*p*(1-p))
		if got := count[same]; math.Abs(got-want) > 5*sd {
			t.Errorf("same block %v: got %v edges, want %v ± %v", same, got, want, sd)
		}
	}
}

func TestRandomGraphsRefuse(t *testing.T) {
	rng := random.Stream(1, "unused")
	_, err := SBM(SBMConfig{Intra: 1.5, Inter: math.NaN()}, rng)
	wantError(t, err, "SBM", "no blocks", "Intra is 1.5", "Inter is NaN")
	_, err = SBM(SBMConfig{Sizes: []int{3, 0, math.MaxInt}, Intra: 1}, rng)
	wantError(t, err, "block 1 of 0 nodes", "block 2")
	_, err = ErdosRenyi(-4, -0.1, rng)
	wantError(t, err, "-4 nodes", "p is -0.1")
}

func TestSBMConfigJSON(t *testing.T) {
	want := SBMConfig{Sizes: []int{3, 4}, Intra: 0.8, Inter: 0.2}
	var got SBMConfig
	if err := json.Unmarshal(must(json.Marshal(want)), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestUntilConnected(t *testing.T) {
	rng := random.Stream(1, "connected")
	draws := 0
	sparse := func() (*Graph, error) {
		draws++
		return ErdosRenyi(20, 0.13, rng)
	}
	g := must(UntilConnected(1000, sparse))
	if !g.Connected() {
		t.Error("got a graph in pieces")
	}
	if draws < 2 {
		t.Errorf("connected after %d draws: the test does not test", draws)
	}

	draws = 0
	_, err := UntilConnected(7, func() (*Graph, error) {
		draws++
		return FromEdges(2, nil, false)
	})
	wantError(t, err, "none of 7 draws", "try")
	if draws != 7 {
		t.Errorf("got %d draws, want 7", draws)
	}

	broken := errors.New("broken")
	if _, err := UntilConnected(7, func() (*Graph, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of draw", err)
	}
}
