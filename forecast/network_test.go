package forecast_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
)

// world is a made-up network of nodes in a line that read a wave, with gaps, a stretch
// of noise, one of standing still, and steps that are skipped.
type world struct {
	spec  *forecast.Spec
	links *mat.CSR
	nodes int
}

func newWorld(t testing.TB, known, nodes int) *world {
	t.Helper()
	w := &world{links: line(t, nodes), nodes: nodes}
	s := forecast.Spec{Lags: 4, Horizons: []int{1}, Day: forecast.Cycle(24)}
	for i := range known {
		s.Sensors = append(s.Sensors, string(rune('a'+i)))
	}
	train := mat.NewDense(600*known, 1, nil)
	for k := range 600 {
		for i := range known {
			train.Data[k*known+i] = w.reading(k, i, false)
		}
	}
	spec, err := forecast.Fit(s, train, line(t, known), forecast.ScalePerSensor)
	if err != nil {
		t.Fatal(err)
	}
	w.spec = spec
	return w
}

// reading is that of node i at step k; in a bad world a third are missing and node 1
// goes wrong.
func (w *world) reading(k, i int, bad bool) float32 {
	v := float32(20*math.Sin(float64(k)/11+float64(i)/3) + float64(i*10) + math.Mod(float64(k*k*7+i), 3))
	switch {
	case bad && (k*31+i*17)%10 < 3:
		return nan
	case bad && i == 1 && k/60%4 == 1:
		return float32((k * 7919) % 101)
	case bad && i == 1 && k/60%4 == 3:
		return 5
	}
	return v
}

// readings are those of all nodes, and answers for some.
func (w *world) readings(k int) (x mat.Dense, truths []float32) {
	x, truths = mat.NewDense(w.nodes, 1, nil), make([]float32, w.nodes)
	for i := range w.nodes {
		x.Data[i], truths[i] = w.reading(k, i, true), nan
		if k%240 < 120 && k%3 == i%3 {
			truths[i] = w.reading(k, i, false)
		}
	}
	return x, truths
}

// steps are those that the world shows: some are skipped.
func steps(from, to int) (all []int) {
	for k := from; k < to; k++ {
		if k%97 > 3 {
			all = append(all, k)
		}
	}
	return all
}

// Nodes that know no more than what neighbours sent them in the step before have the
// same bits as a network in one process.
func TestNodesAreTheNetwork(t *testing.T) {
	w := newWorld(t, 5, 5)
	network, rows := forecast.NewNetwork(w.spec, 5), mat.NewDense(5, w.spec.Inputs(), nil)
	nodes, sent := make([]*forecast.Sensor, 5), mat.NewDense(5, w.spec.Inputs(), nil)
	for i := range nodes {
		nodes[i] = forecast.NewSensor(w.spec, &w.spec.Norms[i])
	}
	last, estimates, broken := -2, 0, 0
	for _, k := range steps(0, 1000) {
		x, truths := w.readings(k)
		network.Read(rows, uint64(k), x, truths, w.links)
		next := mat.NewDense(5, w.spec.Inputs(), nil)
		for i, node := range nodes {
			var ear forecast.Ear
			neighbors, weights := w.links.Row(i)
			for e, j := range neighbors {
				if last == k-1 {
					ear.Hear(w.spec, weights[e], sent.Row(int(j)))
				}
			}
			near, heard := ear.Near()
			node.Read(next.Row(i), uint64(k), x.Row(i), truths[i], true, near, heard)
			if why, _ := node.Broken(); why != "" {
				broken++
			}
			estimates += int(next.Row(i)[w.spec.Flag()])
		}
		if !slices.Equal(next.Data, rows.Data) {
			t.Fatalf("step %d: nodes have %v, the network %v", k, next.Data, rows.Data)
		}
		sent, last = next, k
	}
	if estimates < 500 || broken < 50 {
		t.Errorf("%d estimates and %d broken steps, want a world that goes wrong", estimates, broken)
	}
}

// A network that is stored at any step, as text, and goes on has the same bits as one
// that never stopped; newcomers too.
func TestRestart(t *testing.T) {
	w := newWorld(t, 4, 6)
	whole, again := forecast.NewNetwork(w.spec, 6), forecast.NewNetwork(w.spec, 6)
	a, b := mat.NewDense(6, w.spec.Inputs(), nil), mat.NewDense(6, w.spec.Inputs(), nil)
	for n, k := range steps(0, 500) {
		x, truths := w.readings(k)
		whole.Read(a, uint64(k), x, truths, w.links)
		again.Read(b, uint64(k), x, truths, w.links)
		if !slices.Equal(a.Data, b.Data) {
			t.Fatalf("step %d: inputs %v, want %v", k, b.Data, a.Data)
		}
		for i := range 5 { // node 5 hears a newcomer alone, and is never known
			want, since := whole.Sensor(i).Broken()
			if got, at := again.Sensor(i).Broken(); got != want || at != since {
				t.Errorf("step %d: node %d is broken: %q since %d, want %q since %d", k, i, got, at, want, since)
			}
		}
		if n%7 != 3 {
			continue
		}
		text, err := json.Marshal(again.Memory())
		if err != nil {
			t.Fatal(err)
		}
		var memory []forecast.Memory
		if err := json.Unmarshal(text, &memory); err != nil {
			t.Fatal(err)
		}
		again = forecast.NewNetwork(w.spec, 6)
		if err := again.Restore(memory, w.links); err != nil {
			t.Fatal(err)
		}
		if want, _ := json.Marshal(whole.Memory()); string(text) != string(want) {
			t.Fatalf("step %d: remembers %s, want %s", k, text, want)
		}
	}
}

// What is no memory of these sensors is refused.
func TestRestoreRefuses(t *testing.T) {
	w := newWorld(t, 3, 3)
	for name, damage := range map[string]func([]forecast.Memory) []forecast.Memory{
		"too many":      func(m []forecast.Memory) []forecast.Memory { return append(m, m[0]) },
		"no lags":       func(m []forecast.Memory) []forecast.Memory { m[1].Lags = nil; return m },
		"not a number":  func(m []forecast.Memory) []forecast.Memory { m[1].Lags[0] = nan; return m },
		"doubt":         func(m []forecast.Memory) []forecast.Memory { m[1].Doubt = math.Inf(1); return m },
		"a reason of 9": func(m []forecast.Memory) []forecast.Memory { m[1].Reason = 9; return m },
		"a run of -1":   func(m []forecast.Memory) []forecast.Memory { m[1].Run = -1; return m },
	} {
		n := forecast.NewNetwork(w.spec, 3)
		if err := n.Restore(damage(n.Memory()), w.links); err == nil {
			t.Errorf("%s: restored, want an error", name)
		}
	}
}

// A sensor that was not in training joins in the first step in which it hears one that
// was, with the mean norm of those. Before, it says nothing.
func TestNewcomer(t *testing.T) {
	w := newWorld(t, 2, 3)
	alone, err := mat.FromEntries(3, 3, []mat.Entry{{Row: 0, Col: 1, Val: 1}, {Row: 1, Col: 0, Val: 1}})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := mat.FromEntries(3, 3, []mat.Entry{{Row: 2, Col: 0, Val: 1}, {Row: 2, Col: 1, Val: 3}})
	if err != nil {
		t.Fatal(err)
	}
	n, rows, truths := forecast.NewNetwork(w.spec, 3), mat.NewDense(3, w.spec.Inputs(), nil), make([]float32, 3)
	x := mat.NewDense(3, 1, []float32{1, 2, 3})
	n.Read(rows, 0, x, nil, alone)
	n.Truths(truths)
	if n.Sensor(2) != nil || rows.Row(2)[w.spec.Flag()] != 1 || rows.Row(2)[0] != 0 || truths[2] == truths[2] || truths[0] != rows.Row(0)[0] {
		t.Errorf("a node without neighbours: inputs %v, truths %v, want a flag and no truth", rows.Row(2), truths)
	}
	n.Read(rows, 1, x, nil, joined)
	mean := w.spec.Norms[0].Mean/4 + w.spec.Norms[1].Mean*3/4
	scale := w.spec.Norms[0].Scale/4 + w.spec.Norms[1].Scale*3/4
	if got, want := rows.Row(2)[0], float32((3-mean)/scale); math.Abs(float64(got-want)) > 1e-6 || rows.Row(2)[w.spec.Flag()] != 0 {
		t.Errorf("inputs %v, want %v first", rows.Row(2), want)
	}
	if got := n.Sensor(2).Units(0); math.Abs(float64(got)-mean) > 1e-5 {
		t.Errorf("0 is %v, want %v", got, mean)
	}
	norm := n.Memory()[2].Norm
	n.Read(rows, 2, x, nil, alone)
	if !reflect.DeepEqual(n.Memory()[2].Norm, norm) {
		t.Error("its norm changed with its links")
	}
}

// Read allocates nothing.
func TestReadDoesNotAllocate(t *testing.T) {
	w := newWorld(t, 5, 5)
	n, rows := forecast.NewNetwork(w.spec, 5), mat.NewDense(5, w.spec.Inputs(), nil)
	x, truths := w.readings(0)
	k := uint64(0)
	if got := testing.AllocsPerRun(500, func() {
		n.Read(rows, k, x, truths, w.links)
		k += 1 + k%2
	}); got != 0 {
		t.Errorf("%v allocations for a step, want none", got)
	}
}

// Steps ascend.
func TestReadPanics(t *testing.T) {
	s := spec()
	sensor, row := forecast.NewSensor(s, &s.Norms[0]), make([]float32, s.Inputs())
	sensor.Read(row, 5, nil, 0, false, 0, false)
	defer func() {
		if got, want := recover(), "forecast: Read: step 5 after step 5"; got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	sensor.Read(row, 5, nil, 0, false, 0, false)
}

func BenchmarkRead(b *testing.B) {
	d := loadTraffic(b)
	s := d.fit(b, forecast.ScalePerSensor)
	n, rows := forecast.NewNetwork(s, metrSensors), mat.NewDense(metrSensors, s.Inputs(), nil)
	k := 0
	for b.Loop() {
		n.Read(rows, uint64(k), d.step(k%2016), nil, d.links)
		k++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*metrSensors), "ns/node")
}
