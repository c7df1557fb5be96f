package modelfile

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
)

// rebuilt returns a file with another header text and the same values.
func rebuilt(file []byte, change func(header string) string) []byte {
	n := binary.LittleEndian.Uint64(file)
	text := change(string(file[8 : 8+n]))
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	out = append(out, text...)
	return append(out, file[8+n:]...)
}

// replaced is rebuilt with parts of the header replaced.
func replaced(tb testing.TB, file []byte, oldNew ...string) []byte {
	tb.Helper()
	return rebuilt(file, func(text string) string {
		for i := 0; i < len(oldNew); i += 2 {
			if !strings.Contains(text, oldNew[i]) {
				tb.Fatalf("%q is not in the header %s", oldNew[i], text)
			}
			text = strings.Replace(text, oldNew[i], oldNew[i+1], 1)
		}
		return text
	})
}

// A file that is cut off anywhere, or that has more at its end, is refused.
func TestDecodeTruncated(t *testing.T) {
	file := encoded(t, smallModel(t))
	for n := range file {
		if _, err := decode(file[:n]); err == nil {
			t.Errorf("the first %d of %d bytes were accepted", n, len(file))
		}
		// The same where the file is longer when it is measured than when it is read.
		if _, err := Decode(&cutReader{file, n}, int64(len(file))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("reads that end at byte %d: got %v, want %v", n, err, io.ErrUnexpectedEOF)
		}
	}
	_, err := decode(append(file, 0))
	wantError(t, err, "belong to no tensor")
}

// cutReader has fewer bytes than its file.
type cutReader struct {
	file []byte
	n    int
}

func (r *cutReader) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(r.n) {
		return 0, io.EOF
	}
	n := copy(p, r.file[at:r.n])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func TestDecodeRefuses(t *testing.T) {
	file := encoded(t, smallModel(t))
	swap := func(oldNew ...string) []byte { return replaced(t, file, oldNew...) }
	all := func(text string) []byte { return rebuilt(file, func(string) string { return text }) }
	withLength := func(n uint64) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, n), file[8:]...)
	}
	withValue := func(v float32) []byte {
		f := append([]byte(nil), file...)
		h := 8 + int(binary.LittleEndian.Uint64(f))
		binary.LittleEndian.PutUint32(f[h+4:], math.Float32bits(v))
		return f
	}
	const tap0 = `"wide.tap.0":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}`
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "0 bytes are too few"},
		{"header length huge", withLength(math.MaxUint64), "announce a header of 18446744073709551615 bytes"},
		{"header length negative", withLength(1 << 63), "announce a header"},
		{"header longer than the file", withLength(uint64(len(file))), "cut off"},
		{"header of length 0", withLength(0), "does not begin with {"},
		{"not JSON", all("hello"), "does not begin with {"},
		{"JSON cut off", all(`{"a":`), "header: "},
		{"JSON without end", all(`{`), "header: "},
		{"deep JSON", all(`{"a":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + "}"), "exceeded max depth"},
		{"deep metadata", all(`{"__metadata__":` + strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_001)), "header"},
		{"two objects", rebuilt(file, func(s string) string { return s + "{}" }), "more text follows"},
		{"metadata not text", swap(`"wdgnn.seed":"7"`, `"wdgnn.seed":7`), "__metadata__: json"},
		{"metadata twice", swap(`"wide.tap.0":`, `"__metadata__":{},"wide.tap.0":`), "__metadata__ occurs twice"},
		{"no metadata", all(`{"a":{"dtype":"F32","shape":[11],"data_offsets":[0,44]}}`), `no "wdgnn.format": this is not a model of wdgnn`},
		{"unknown format", swap(`"wdgnn.format":"1"`, `"wdgnn.format":"2"`), `wdgnn.format is "2", this program reads "1"; try a newer wdgnn`},
		{"no config", swap(`"wdgnn.config"`, `"other.config"`), `no "wdgnn.config"`},
		{"no shift", swap(`"wdgnn.shift"`, `"other.shift"`), `no "wdgnn.shift"`},
		{"unknown shift", swap(`"symmetric"`, `"sideways"`), `no shift is called "sideways"; try adjacency`},
		{"bad delayed", swap(`"wdgnn.delayed":"true"`, `"wdgnn.delayed":"maybe"`), `"maybe", want true or false`},
		{"bad seed", swap(`"wdgnn.seed":"7"`, `"wdgnn.seed":"-7"`), `wdgnn.seed is "-7"`},
		{"bad nodes", swap(`"wdgnn.nodes":"3,1"`, `"wdgnn.nodes":"3,,1"`), `wdgnn.nodes: "" is not a node`},
		{"config not JSON", swap(`"{\"in\":1,`, `"{\"in\":,`), "wdgnn.config: invalid character"},
		{"config with more", swap(`\"outputs\":1}"`, `\"outputs\":1} x"`), "wdgnn.config: more text follows"},
		{"config with a new key", swap(`\"in\":1,`, `\"in\":1,\"attention\":3,`), `unknown field "attention"; try a newer wdgnn`},
		{"config not valid", swap(`\"in\":1,`, `\"in\":-1,`), "in is -1"},
		{
			"config of two parts",
			swap(`\"outputs\":1`, `\"deep\":[{\"order\":1,\"features\":1,\"activation\":\"relu\"}],\"outputs\":1`),
			"tensor deep.1.tap.0 is missing",
		},
		{
			"config of many layers", swap(`\"outputs\":1`, `\"deep\":[`+strings.Repeat(`{},`, 1000)+`{}],\"outputs\":1`),
			"1001 layers in a file of 8 tensors",
		},
		{
			"config with an activation",
			swap(`\"outputs\":1`, `\"deep\":[{\"order\":1,\"features\":1,\"activation\":\"gelu\"}],\"outputs\":1`),
			`no activation is called "gelu"`,
		},
		{
			"order huge", swap(`\"order\":1`, `\"order\":2147483647`),
			"tensor wide.tap.2 is missing, the architecture of the file has it; the file has",
		},
		{
			"features huge", swap(`\"features\":1`, `\"features\":2147483647`),
			"tensor wide.tap.0 has shape [1 1], the architecture of the file wants [1 2147483647]",
		},
		{"tensor missing", swap(`"wide.tap.1":`, `"online.tap.1":`), "tensor wide.tap.1 is missing"},
		{"tensor unknown", swap(`"online.whiten.left":`, `"whiten.left":`), `tensor "whiten.left" belongs neither`},
		{"tensor twice", swap(`"wide.tap.1":`, `"wide.tap.0":`), `tensor "wide.tap.0" occurs twice`},
		{
			"own shape", swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`),
			"tensor wide.tap.0 has shape [1], the architecture of the file wants [1 1]",
		},
		{
			"shape of a node's tensor",
			swap(`"node.7.wide.tap.0":{"dtype":"F32","shape":[1,1]`, `"node.7.wide.tap.0":{"dtype":"F32","shape":[1]`),
			"tensor node.7.wide.tap.0 has shape [1], wide.tap.0 has [1 1]",
		},
		{"dimensions", swap(`"shape":[2,2]`, `"shape":[2,2,1]`), "tensor online.whiten.left has 3 dimensions"},
		{
			"no dimensions", swap(`"node.7.wide.tap.0":{"dtype":"F32","shape":[1,1]`, `"node.7.x":{"dtype":"F32","shape":[]`),
			"tensor node.7.x has 0 dimensions",
		},
		{"nine dimensions", swap(`"shape":[2,2]`, `"shape":[2,2,1,1,1,1,1,1,1]`), "at most 8 numbers"},
		{
			"empty tensor", swap(tap0, tap0+`,"online.x":{"dtype":"F32","shape":[0,2147483647],"data_offsets":[4,4]}`),
			"tensor online.x is empty",
		},
		{"no shape", swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":null,"data_offsets":[0,4]}`), "want a shape"},
		{"no offsets", swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[1,1]}`), "two data_offsets"},
		{"three offsets", swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4,8]}`), "two data_offsets"},
		{"unknown key", swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4],"x":1}`), `unknown field "x"`},
		{"type", swap(tap0, `"wide.tap.0":{"dtype":"I32","shape":[1,1],"data_offsets":[0,4]}`), `type "I32" cannot be read; convert them to F32`},
		{
			"negative shape", swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}`),
			"shape [-1 -1] of F32 does not fill bytes 0 to 4",
		},
		{"shape beyond int64", swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[18446744073709551617],"data_offsets":[0,4]}`), "header: tensor"},
		{
			"product beyond int64",
			swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[4294967296,4294967296,1],"data_offsets":[0,4]}`), "does not fill",
		},
		{"bytes beyond int64", swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}`), "does not fill"},
		{"offsets out of order", swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[1,1],"data_offsets":[4,0]}`), "bytes 4 to 0 are not a range"},
		{"negative offset", swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[1,1],"data_offsets":[-4,0]}`), "not a range"},
		{
			"offset behind the end",
			swap(tap0, `"wide.tap.0":{"dtype":"F32","shape":[1,1],"data_offsets":[9223372036854775803,9223372036854775807]}`),
			"cut off",
		},
		{"overlap", swap(`"data_offsets":[4,8]`, `"data_offsets":[0,4]`), "inside the tensor before it"},
		{"gap", swap(`"data_offsets":[0,4]`, `"data_offsets":[4,8]`, `"data_offsets":[4,8]`, `"data_offsets":[8,12]`,
			`"data_offsets":[8,12]`, `"data_offsets":[12,16]`), "belong to no tensor"},
		{"NaN", withValue(float32(math.NaN())), "tensor wide.tap.1, value 0: NaN"},
		{"Inf", withValue(float32(math.Inf(1))), "tensor wide.tap.1, value 0: +Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode(c.file)
			wantError(t, err, c.want)
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
}

// Messages stay short whatever a file says.
func TestLongNames(t *testing.T) {
	file, long := encoded(t, smallModel(t)), strings.Repeat("x", 100_000)
	for _, f := range [][]byte{
		replaced(t, file, `"wide.tap.1":`, `"`+long+`":`),
		replaced(t, file, `"symmetric"`, `"`+long+`"`),
		replaced(t, file, `"wdgnn.format":"1"`, `"wdgnn.format":"`+long+`"`),
		replaced(t, file, `\"in\":1`, `\"`+long+`\":1`),
		replaced(t, file, `"wdgnn.seed":"7"`, `"wdgnn.seed":"`+long+`"`),
		replaced(t, file, `"dtype":"F32"`, `"dtype":"`+long+`"`),
		replaced(t, file, `"dtype":"F32"`, `"`+long+`":"F32"`),
	} {
		if _, err := decode(f); err == nil || len(err.Error()) > 1000 {
			t.Errorf("got %.200v…, want a short error", err)
		}
	}
}

// Files of others may hold other floating-point types; their values are rounded.
func TestDecodeTypes(t *testing.T) {
	const meta = `{"__metadata__":{"format":"pt","wdgnn.format":"1","wdgnn.shift":"adjacency",` +
		`"wdgnn.config":"{\"in\":2,\"features\":1,\"no_bias\":true,\"wide\":{\"order\":0}}"},`
	file := func(dtype string, values ...byte) []byte {
		text := meta + `"wide.tap.0":{"dtype":"` + dtype + `","shape":[2,1],"data_offsets":[0,` +
			map[int]string{4: "4", 8: "8", 16: "16"}[len(values)] + `]}}`
		return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), values...)
	}
	double := func(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
	for _, c := range []struct {
		file []byte
		want []float32
	}{
		{file("F64", append(double(0.1), double(-3e38)...)...), []float32{0.1, -3e38}},
		{file("F16", 0x00, 0x3e, 0x01, 0x80), []float32{1.5, -1.0 / (1 << 24)}},
		{file("BF16", 0xc0, 0x3f, 0x00, 0xc0), []float32{1.5, -2}},
	} {
		m, err := decode(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Network.Params.Flat; !sameBits(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
		if m.Meta.Nodes != nil || m.Meta.Delayed || m.Meta.Seed != 0 || m.Extra != nil {
			t.Errorf("got %+v for a file that says nothing of it", m)
		}
	}
	_, err := decode(file("F64", append(double(1), double(1e39)...)...))
	wantError(t, err, "tensor wide.tap.0, value 1: 1e+39 does not fit a float32")
	_, err = decode(file("F16", 0, 0, 0x00, 0xfc))
	wantError(t, err, "value 1: -Inf")
	_, err = decode(file("F16", 0, 0, 0x01, 0xfc))
	wantError(t, err, "value 1: NaN")
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What a file claims costs nothing; only what it holds does.
func TestClaimsAllocateNothing(t *testing.T) {
	small := encoded(t, smallModel(t))
	for name, f := range map[string]func() error{
		"npy of 4e12": func() error {
			_, err := readArrayBytes(npyBytes(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000000,), }", ""), false, "")
			return err
		},
		"npy header of 4 GB": func() error {
			_, err := readArrayBytes([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': "), false, "")
			return err
		},
		"npz bomb": func() error {
			_, err := readArrayBytes(bomb(t), true, "")
			return err
		},
		"npz size": func() error {
			_, err := readArrayBytes(npzClaiming(t, 4e12), true, "")
			return err
		},
		"safetensors header of 90 MB": func() error {
			_, err := decode(binary.LittleEndian.AppendUint64(nil, 90_000_000))
			return err
		},
		"safetensors order": func() error {
			_, err := decode(replaced(t, small, `\"order\":1`, `\"order\":4000000000000`))
			return err
		},
		"safetensors features": func() error {
			_, err := decode(replaced(t, small, `\"features\":1`, `\"features\":4000000000`))
			return err
		},
		"safetensors shape": func() error {
			_, err := decode(replaced(t, small, `"shape":[2,2]`, `"shape":[2000000,2000000]`))
			return err
		},
		"csv node": func() error {
			_, err := readGraphText("0,2147483000", GraphOptions{})
			return err
		},
		"csv time": func() error {
			_, err := readGraphText("0,1,1,2147483000", GraphOptions{})
			return err
		},
		"csv nodes times steps": func() error {
			var b strings.Builder
			for i := range 100 {
				b.WriteString("0,65000,1," + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "\n")
			}
			_, err := readGraphText(b.String(), GraphOptions{})
			return err
		},
	} {
		var err error
		bytes := allocated(func() { err = f() })
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if bytes > 2<<20 {
			t.Errorf("%s: %d bytes allocated before the error %v", name, bytes, err)
		}
	}
}
