package modelfile

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// A calibration comes back from a file to the last bit.
func TestCalibration(t *testing.T) {
	for name, c := range map[string]*Calibration{
		"own and pooled": {
			Nodes: []int{3, 17}, Scores: [][][]float64{{{1, 1.0 / 3}, {-2}}, {{}, {4, 5, 6}}}, Pooled: [][]float64{{1, 2}, {3}},
		},
		"pooled alone": {Pooled: [][]float64{{0.1, -0.2}}},
	} {
		m := smallModel(t)
		m.SetCalibration(c)
		var b bytes.Buffer
		if err := Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		again, err := Decode(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := again.Calibration()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Pooled, c.Pooled) || !reflect.DeepEqual(got.Nodes, c.Nodes) || len(got.Scores) != len(c.Scores) {
			t.Errorf("%s: got %v, want %v", name, got, c)
		}
		for _, node := range []int{3, 17, 4} {
			wantScores, wantOwn := c.Of(node)
			scores, own := got.Of(node)
			if !reflect.DeepEqual(scores, wantScores) || own != wantOwn {
				t.Errorf("%s: node %d: got %v, own %t, want %v, %t", name, node, scores, own, wantScores, wantOwn)
			}
		}
	}
	k := &Calibration{Nodes: []int{3}, Scores: [][][]float64{{{1}}}, Pooled: [][]float64{{2}}}
	for _, c := range []struct {
		node int
		read []int
		want [][]float64
	}{{3, []int{3, 5}, [][]float64{{2, 1}}}, {5, []int{3, 5}, [][]float64{{2}}}, {6, []int{3, 5}, nil}, {6, nil, [][]float64{{2}}}} {
		if got := k.Begin(c.node, c.read); !reflect.DeepEqual(got, c.want) {
			t.Errorf("node %d of %v begins with %v, want %v", c.node, c.read, got, c.want)
		}
	}
	if got, err := smallModel(t).Calibration(); got != nil || err != nil {
		t.Errorf("a model without: got %v and %v, want neither", got, err)
	}
	empty := smallModel(t)
	empty.SetCalibration(new(Calibration))
	if got, err := empty.Calibration(); got != nil || err != nil {
		t.Errorf("without scores: got %v and %v, want neither", got, err)
	}
}

func TestCalibrationRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(m *Model)
		want  string
	}{
		{"rows", func(m *Model) { delete(m.Precise, calibratedName) }, "for 0 nodes"},
		{"order", func(m *Model) { m.Precise[calibratedName].Data[0] = 17 }, "ascending"},
		{"node", func(m *Model) { m.Precise[calibratedName].Data[0] = 0.5 }, "ascending"},
		{"count", func(m *Model) { m.Precise[countsName].Data[0] = 0.5 }, "holds 0.5"},
		{"too many", func(m *Model) { m.Precise[countsName].Data[2] = 1e9 }, "scores are left"},
		{"negative", func(m *Model) { m.Precise[countsName].Data[1] = -1 }, "holds -1"},
		{"too few", func(m *Model) { m.Precise[countsName].Data[2] = 0 }, "more than"},
		{"no scores", func(m *Model) { delete(m.Precise, scoresName) }, "scores are left"},
	} {
		m := smallModel(t)
		m.SetCalibration(&Calibration{Nodes: []int{3, 17}, Scores: [][][]float64{{{1}}, {{2, 3}}}, Pooled: [][]float64{{1, 2}}})
		c.spoil(m)
		if _, err := m.Calibration(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
