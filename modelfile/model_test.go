package modelfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// A model that is saved and loaded is the same, to the last bit.
func TestRoundTrip(t *testing.T) {
	for name, c := range architectures {
		t.Run(name, func(t *testing.T) {
			m := randomModel(t, c)
			m.Network.Params.Flat[0] = float32(math.Copysign(0, -1))
			m.Meta.Nodes = []int{4, 0, 4}
			m.Meta.Seed = math.MaxUint64
			m.Meta.Task = "überwacht \"<&>\"\n\u2028"
			m.Meta.Online = `{"steps":3}`
			m.Extra = map[string]mat.Dense{"online.w": mat.NewDense(3, 5, nil).View(0, 1, 2, 3)}
			m.Precise = map[string]Float64s{
				"online.moment": {2, 2, []float64{1.0 / 3, 1e300, -1e-300, math.Copysign(0, -1)}},
				"online.count":  {1, 1, []float64{1<<53 - 1}},
			}
			path := filepath.Join(t.TempDir(), "model.safetensors")
			if err := Save(path, m); err != nil {
				t.Fatal(err)
			}
			got, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if !sameBits(got.Network.Params.Flat, m.Network.Params.Flat) {
				t.Error("parameters differ after a round trip")
			}
			if !reflect.DeepEqual(got.Network.Config, m.Network.Config) || !reflect.DeepEqual(got.Meta, m.Meta) {
				t.Errorf("got %+v %+v, want %+v %+v", got.Network.Config, got.Meta, m.Network.Config, m.Meta)
			}
			if !sameExtra(got.Extra, m.Extra) {
				t.Errorf("got further tensors %v, want %v", got.Extra, m.Extra)
			}
			if !reflect.DeepEqual(got.Precise, m.Precise) || !math.Signbit(got.Precise["online.moment"].Data[3]) {
				t.Errorf("got float64 tensors %v, want %v", got.Precise, m.Precise)
			}
			if again := encoded(t, got); !bytes.Equal(again, encoded(t, m)) {
				t.Error("what was loaded is saved as other bytes")
			}
		})
	}
}

// The same model gives the same bytes, every time and on every machine: these
// are the bytes that doc/modelfile.md shows.
func TestBytes(t *testing.T) {
	m := smallModel(t)
	copy(m.Network.Params.Flat, []float32{1, 2, 3, 4, 5})
	m.Extra = map[string]mat.Dense{"node.7.wide.tap.0": mat.NewDense(1, 1, []float32{6})}
	const text = `{"__metadata__":{"wdgnn.config":"{\"in\":1,\"features\":1,\"wide\":{\"order\":1},\"outputs\":1}",` +
		`"wdgnn.delayed":"true","wdgnn.format":"1","wdgnn.nodes":"3,1","wdgnn.seed":"7","wdgnn.shift":"symmetric",` +
		`"wdgnn.task":"classify","wdgnn.version":"v1.2.3"},` +
		`"wide.tap.0":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},` +
		`"wide.tap.1":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]},` +
		`"wide.bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},` +
		`"readout.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[12,16]},` +
		`"readout.bias":{"dtype":"F32","shape":[1],"data_offsets":[16,20]},` +
		`"node.7.wide.tap.0":{"dtype":"F32","shape":[1,1],"data_offsets":[20,24]}}`
	padded := text + strings.Repeat(" ", (8-len(text)%8)%8)
	want := binary.LittleEndian.AppendUint64(nil, uint64(len(padded)))
	want = append(want, padded...)
	for v := float32(1); v <= 6; v++ {
		want = binary.LittleEndian.AppendUint32(want, math.Float32bits(v))
	}
	for range 3 {
		if got := encoded(t, m); !bytes.Equal(got, want) {
			t.Fatalf("got %q\nwant %q", got, want)
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "doc", "modelfile.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.NewReplacer(`,"wdgnn.`, ",\n \"wdgnn.", `"},"wide.tap.0`, "\"},\n \"wide.tap.0", `]},"`, "]},\n \"").Replace(text)
	if !strings.Contains(string(page), shown) {
		t.Errorf("doc/modelfile.md does not show this header:\n%s", shown)
	}
}

// The names that Decode expects are those that gnn gives its parameters.
func TestLayout(t *testing.T) {
	for name, c := range architectures {
		var got []gnn.Window
		offset := 0
		for tensor, shape := range layout(c) {
			w := gnn.Window{Name: tensor, Offset: offset, Rows: 1, Cols: shape[len(shape)-1]}
			if len(shape) == 2 {
				w.Rows = shape[0]
			}
			if isVector(tensor) != (len(shape) == 1) {
				t.Errorf("%s: %s has %d dimensions", name, tensor, len(shape))
			}
			got = append(got, w)
			offset += w.Len()
		}
		p := gnn.NewParams(c, nil)
		if !reflect.DeepEqual(got, p.Windows()) {
			t.Errorf("%s: got %v, want %v", name, got, p.Windows())
		}
	}
}

// Models that no reader would accept are not written.
func TestEncodeRefuses(t *testing.T) {
	one := mat.NewDense(1, 1, []float32{1})
	extra := func(name string, d mat.Dense) func(*Model) {
		return func(m *Model) { m.Extra = map[string]mat.Dense{name: d} }
	}
	precise := func(name string, x Float64s) func(*Model) {
		return func(m *Model) { m.Precise = map[string]Float64s{name: x} }
	}
	for _, c := range []struct {
		change func(*Model)
		want   string
	}{
		{func(m *Model) { m.Network = nil }, "no network"},
		{func(m *Model) { m.Network.Params.Flat[1] = float32(math.NaN()) }, "tensor wide.tap.1, row 0, column 0: NaN"},
		{func(m *Model) { m.Network.Params.Flat[2] = float32(math.Inf(-1)) }, "tensor wide.bias, row 0, column 0: -Inf"},
		{func(m *Model) { m.Meta.Shift = 99 }, "shift"},
		{func(m *Model) { m.Meta.Nodes = []int{-1} }, "node -1"},
		{func(m *Model) { m.Meta.Task = "\xff" }, "UTF-8"},
		{extra("online.w", mat.NewDense(1, 1, []float32{float32(math.NaN())})), "tensor online.w"},
		{extra("online.w", mat.Dense{}), "online.w is empty"},
		{precise("online.w", Float64s{}), "online.w is empty"},
		{precise("online.w", Float64s{1, 2, []float64{1}}), "online.w is 1×2 with 1 numbers"},
		{precise("online.w", Float64s{1, 1, []float64{math.Inf(1)}}), "tensor online.w, value 0: +Inf"},
		{precise("online.whiten.left", Float64s{1, 1, []float64{1}}), "in both Extra and Precise"},
		{precise("node.3.wide.tap.0", Float64s{1, 2, []float64{1, 2}}), "has shape [1 2], wide.tap.0 has [1 1]"},
		{precise("wide.tap.0", Float64s{1, 1, []float64{1}}), `"wide.tap.0"`},
		{func(m *Model) { m.Meta.Online = "\xff" }, "UTF-8"},
		{func(m *Model) { m.Meta.Forecast = "\xff" }, "UTF-8"},
		{extra("node.3.wide.tap.0", mat.NewDense(2, 1, nil)), "tensor node.3.wide.tap.0 has shape [2 1], wide.tap.0 has [1 1]"},
		{extra("wide.tap.0", one), `"wide.tap.0"`},
		{extra("online", one), `"online"`},
		{extra("online.", one), `"online."`},
		{extra("online.A", one), `"online.A"`},
		{extra("node.x.y", one), `"node.x.y"`},
		{extra("node.07.y", one), `"node.07.y"`},
		{extra("node.-1.y", one), `"node.-1.y"`},
		{extra("node.7", one), `"node.7"`},
		{extra("__metadata__", one), `"__metadata__"`},
	} {
		m := smallModel(t)
		c.change(m)
		var b bytes.Buffer
		wantError(t, Encode(&b, m), c.want)
		if b.Len() > 0 {
			t.Errorf("%s: %d bytes were written before the error", c.want, b.Len())
		}
		path := filepath.Join(t.TempDir(), "m")
		wantError(t, Save(path, m), "modelfile: save model: write "+path, c.want)
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file was left behind", c.want)
		}
	}
}
