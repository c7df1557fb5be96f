package modelfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func readArrayBytes(file []byte, zipped bool, member string) (*Array, error) {
	return readArray(bytes.NewReader(file), int64(len(file)), zipped, member)
}

// npyBytes returns a .npy file with the given header text and values.
func npyBytes(version byte, header, values string) []byte {
	b := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), values...)
}

// bomb returns an archive of about 40 kB with an array of 40 MB of zeros.
func bomb(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("a.npy")
	if err != nil {
		tb.Fatal(err)
	}
	w.Write(npyBytes(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (10000000,), }", ""))
	block := make([]byte, 400_000)
	for range 100 {
		w.Write(block)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// npzClaiming returns an archive whose directory announces a stored array of
// size bytes but that holds its header only.
func npzClaiming(tb testing.TB, size uint64) []byte {
	tb.Helper()
	content := npyBytes(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }", "")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{
		Name: "a.npy", Method: zip.Store, CRC32: crc32.ChecksumIEEE(content),
		CompressedSize64: size, UncompressedSize64: size,
	})
	if err != nil {
		tb.Fatal(err)
	}
	w.Write(content)
	z.Close()
	return b.Bytes()
}

// What NumPy writes is read, whatever type, byte order and version.
func TestLoadArray(t *testing.T) {
	for _, c := range []struct{ name, kind string }{
		{"f2.npy", "<f2"},
		{"f4.npy", "<f4"},
		{"f8.npy", "<f8"},
		{"i1.npy", "|i1"},
		{"i2.npy", "<i2"},
		{"i4.npy", "<i4"},
		{"i8.npy", "<i8"},
		{"u1.npy", "|u1"},
		{"u2.npy", "<u2"},
		{"u4.npy", "<u4"},
		{"u8.npy", "<u8"},
		{"b1.npy", "|b1"},
		{"f4be.npy", ">f4"},
		{"f8be.npy", ">f8"},
		{"i2be.npy", ">i2"},
		{"i4be.npy", ">i4"},
		{"i8be.npy", ">i8"},
		{"fortran.npy", "<f4"},
		{"version2.npy", "<f4"},
		{"version3.npy", "<f4"},
		{"one.npz", "<f4"},
		{"one.npz:arr_0", "<f4"},
		{"two.npz:signals", "<f4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := LoadArray(filepath.Join("testdata", c.name))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(a.Shape, []int{2, 3, 4}) || a.Type != c.kind || a.Len() != 24 {
				t.Errorf("got shape %v, type %s, %d values", a.Shape, a.Type, a.Len())
			}
			floats, err := a.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			ints, err := a.Int32s()
			if err != nil {
				t.Fatal(err)
			}
			for i := range floats {
				want := 100*(i/12) + 10*(i/4%3) + i%4 - 50
				switch {
				case c.kind == "|b1":
					want = (want + 1) % 2 & 1
				case c.kind[1] == 'u':
					want += 50
				case c.kind == "|i1":
					want = int(math.Floor(float64(want) / 2))
				}
				if floats[i] != float32(want) || ints[i] != int32(want) {
					t.Errorf("value %d: got %v and %v, want %v", i, floats[i], ints[i], want)
				}
			}
		})
	}
}

func TestLoadArrayShapes(t *testing.T) {
	a, err := LoadArray(filepath.Join("testdata", "scalar.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := a.Float32s(); err != nil || len(a.Shape) != 0 || len(v) != 1 || v[0] != 2.5 {
		t.Errorf("got %v of shape %v, %v, want 2.5", v, a.Shape, err)
	}
	_, err = a.Int32s()
	wantError(t, err, "value at [] is 2.5; want an integer")
	a, err = LoadArray(filepath.Join("testdata", "empty.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := a.Float32s(); err != nil || len(v) != 0 || !reflect.DeepEqual(a.Shape, []int{0, 3}) {
		t.Errorf("got %v of shape %v, %v", v, a.Shape, err)
	}
}

// Values that cannot be used are named with their index.
func TestArrayValues(t *testing.T) {
	header := func(kind string) string {
		return "{'descr': '" + kind + "', 'fortran_order': False, 'shape': (2,)}"
	}
	for _, c := range []struct {
		kind, values  string
		float, number string
	}{
		{"<f4", "\x00\x00\x80\x3f\x00\x00\xc0\x7f", "[1] is NaN", "[1] is NaN"},
		{"<f4", "\x00\x00\x80\xff\x00\x00\x00\x00", "[0] is -Inf", "[0] is -Inf"},
		{
			">f8", "\x3f\xb9\x99\x99\x99\x99\x99\x9a\x48\x07\x82\x87\xf4\x9c\x4a\x1d", "[1] is 1e+39 does not fit a float32",
			"[0] is 0.1; want an integer",
		},
		{"<i8", "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x00\x00\x00\x00", "", "[1] is 2147483648; want"},
		{"<u4", "\x01\x00\x00\x00\xff\xff\xff\xff", "", "[1] is 4294967295"},
		{"<u8", "\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff", "", "[1] is 1.8446744073709552e+19"},
	} {
		a, err := readArrayBytes(npyBytes(1, header(c.kind), c.values), false, "")
		if err != nil {
			t.Errorf("%s: %v", c.kind, err)
			continue
		}
		if _, err := a.Float32s(); c.float != "" || err != nil {
			wantError(t, err, "value at "+c.float)
		}
		_, err = a.Int32s()
		wantError(t, err, "value at "+c.number)
	}
	a, err := LoadArray(filepath.Join("testdata", "nan.npy"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Float32s()
	wantError(t, err, "modelfile: testdata", "nan.npy: value at [1, 0] is NaN; fill gaps")
}

func TestLoadArrayRefuses(t *testing.T) {
	const ok = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
	change := func(old, new string) []byte {
		if !strings.Contains(ok, old) {
			t.Fatalf("%q is not in %q", old, ok)
		}
		return npyBytes(1, strings.Replace(ok, old, new, 1), "\x00\x00\x00\x00")
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "0 bytes are too few"},
		{"text", []byte("1,2,3,4,5,6,7"), `does not begin with \x93NUMPY`},
		{"version", npyBytes(4, ok, ""), "version 4.0 of the .npy format"},
		{"header too long", []byte("\x93NUMPY\x01\x00\xff\xff{'descr'"), "a header of 65535 bytes; the file has 18"},
		{"header far too long", npyBytes(2, strings.Repeat(" ", 1<<16+1), ""), "headers at most 65536"},
		{
			"2e9 values", change("(1,)", "(2000000000,)"),
			"shape (2000000000,) of <f4, which makes a file of 8000000076 bytes; the file has 80 bytes",
		},
		{"bytes beyond int64", change("(1,)", "(4611686018427387904,)"), "no file can hold"},
		{"product beyond int64", change("(1,)", "(4294967296, 4294967296)"), "no array has shape (4294967296, 4294967296)"},
		{"dimension beyond int64", change("(1,)", "(99999999999999999999,)"), "want a shape of at most 32 numbers"},
		{"negative", change("(1,)", "(-1,)"), "each 0 or more"},
		{"too many dimensions", change("(1,)", "("+strings.Repeat("1,", 33)+")"), "at most 32"},
		{"too short", npyBytes(1, ok, "\x00\x00\x00"), "cut off"},
		{"too long", npyBytes(1, ok, "\x00\x00\x00\x00\x00"), "damaged"},
		{"shape not closed", change("(1,), }", "(1"), "want a shape"},
		{"shape without comma", change("(1,)", "(1 2)"), "want a comma or )"},
		{"shape not a tuple", change("(1,)", "1"), "want '('"},
		{"no dictionary", change("{", "["), "want '{'"},
		{"no end", change(", }", ""), "want a comma or }"},
		{"more", change("}", "} x"), `" x" follows the closing }`},
		{"order", change("False", "Maybe"), "want True or False"},
		{"key unknown", change("descr", "description"), "want descr, fortran_order or shape"},
		{"key twice", change("'fortran_order': False", "'descr': '<f4'"), `"descr" occurs twice`},
		{"key missing", change("'fortran_order': False, ", ""), `no "fortran_order"`},
		{"escape", change("<f4", `<\\x664`), "want a string"},
		{"type", change("<f4", "<c8"), `type "<c8" cannot be read; convert the array with .astype`},
		{"type of width 0", change("<f4", "|S0"), "cannot be read"},
		{"type short", change("<f4", "f4"), "cannot be read"},
		{"type order", change("<f4", "!f4"), "cannot be read"},
		{"type width", change("<f4", "<f3"), "cannot be read"},
		{"text", change("<f4", "|S4"), "it holds text"},
		{"unended string", change("'<f4', ", "'"), "want"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "no file can hold" && strconv.IntSize == 32 {
				t.Skipf("SKIPPED %s: it needs an int of 64 bits", t.Name())
			}
			_, err := readArrayBytes(c.file, false, "")
			wantError(t, err, c.want)
		})
	}
	whole := npyBytes(1, ok, "\x00\x00\x00\x00")
	for n := range whole {
		if _, err := readArrayBytes(whole[:n], false, ""); err == nil {
			t.Errorf("the first %d of %d bytes were accepted", n, len(whole))
		}
	}
	for name, want := range map[string]string{
		"complex.npy":    `"<c8" cannot be read`,
		"object.npy":     `"|O" cannot be read`,
		"record.npy":     "arrays of structures",
		"two.npz":        "several arrays, signals, labels; append a colon and a name, as in data.npz:signals",
		"two.npz:signal": `no array "signal"; it has signals, labels`,
		"arrays.py":      "NUMPY",
		"missing.npy":    "no such file",
		"":               "is a folder; name a file in it",
	} {
		path := filepath.Join("testdata", name)
		_, err := LoadArray(path)
		wantError(t, err, "modelfile: load array", "testdata", want)
	}
}

func TestNpzRefuses(t *testing.T) {
	_, err := readArrayBytes(bomb(t), true, "")
	wantError(t, err, `array "a": `, "bytes would grow to 40000074; save it without compression")
	_, err = readArrayBytes(npzClaiming(t, 4e12), true, "")
	wantError(t, err, "the archive announces 4000000000000 bytes")
	_, err = readArrayBytes([]byte("PK\x05\x06 not really an archive"), true, "")
	wantError(t, err, "not a .npz archive")
	archive := func(write func(z *zip.Writer)) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		write(z)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	_, err = readArrayBytes(archive(func(z *zip.Writer) { z.Create("a.txt") }), true, "")
	wantError(t, err, "the archive has no .npy array")
	_, err = readArrayBytes(archive(func(z *zip.Writer) { z.Create("a.npy"); z.Create("a.npy") }), true, "")
	wantError(t, err, `two arrays called "a"`)
	_, err = readArrayBytes(archive(func(z *zip.Writer) { z.Create("a.npy") }), true, "")
	wantError(t, err, `array "a": 0 bytes are too few`)
	whole, err := os.ReadFile(filepath.Join("testdata", "one.npz"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := readArrayBytes(whole[:n], true, ""); err == nil {
			t.Errorf("the first %d of %d bytes were accepted", n, len(whole))
		}
	}
	broken := archive(func(z *zip.Writer) {
		w, _ := z.CreateHeader(&zip.FileHeader{Name: "a.npy", Method: zip.Store})
		w.Write(npyBytes(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "abcd"))
	})
	_, err = readArrayBytes(bytes.Replace(broken, []byte("abcd"), []byte("abce"), 1), true, "")
	wantError(t, err, `array "a": zip: checksum error`)
	if _, err := readArrayBytes(broken, true, "a"); err != nil {
		t.Error(err)
	}
}

// What SaveArray writes is what NumPy writes, byte for byte.
func TestSaveArray(t *testing.T) {
	values := make([]float32, 24)
	for i := range values {
		values[i] = float32(100*(i/12) + 10*(i/4%3) + i%4 - 50)
	}
	for name, c := range map[string]struct {
		shape  []int
		values []float32
	}{
		"f4.npy":     {[]int{2, 3, 4}, values},
		"scalar.npy": {nil, []float32{2.5}},
		"empty.npy":  {[]int{0, 3}, nil},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := SaveArray(path, c.shape, c.values); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		a, err := LoadArray(path)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := a.Float32s(); err != nil || !sameBits(back, c.values) {
			t.Errorf("%s: got %v back, %v", name, back, err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	wantError(t, SaveArray(path, []int{2, 2}, values), "save array: write", "24 values do not have shape (2, 2)")
	wantError(t, SaveArray(path, []int{-1}, nil), "0 values do not have shape (-1,)")
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was left behind")
	}
}

// A part of an array is what the whole has at those indices, however it is stored, and
// errors count as the whole does.
func TestLoadPart(t *testing.T) {
	dir := t.TempDir()
	values := make([]float32, 3*4*2)
	for i := range values {
		values[i] = float32(i)
	}
	path := filepath.Join(dir, "x.npy")
	if err := SaveArray(path, []int{3, 4, 2}, values); err != nil {
		t.Fatal(err)
	}
	for _, second := range [][]int{{0, 1, 2, 3}, {2}, {3, 1}, {}} {
		a, err := LoadPart(path, func(shape []int) ([]int, error) {
			if !slices.Equal(shape, []int{3, 4, 2}) {
				t.Errorf("got shape %v, want that of the file", shape)
			}
			return second, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Float32s()
		if err != nil {
			t.Fatal(err)
		}
		var want []float32
		for i := range 3 {
			for _, k := range second {
				want = append(want, values[(i*4+k)*2:(i*4+k+1)*2]...)
			}
		}
		if !slices.Equal(got, want) || !slices.Equal(a.Shape, []int{3, len(second), 2}) {
			t.Errorf("second %v: got %v of shape %v, want %v", second, got, a.Shape, want)
		}
	}
	all, err := LoadPart(path, func([]int) ([]int, error) { return nil, nil })
	if err != nil || all.Len() != len(values) {
		t.Errorf("without indices: got %v, %v, want all %d elements", all, err, len(values))
	}
	values[(1*4+3)*2+1] = float32(math.Inf(1))
	if err := SaveArray(path, []int{3, 4, 2}, values); err != nil {
		t.Fatal(err)
	}
	part, err := LoadPart(path, func([]int) ([]int, error) { return []int{3}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err = part.Float32s(); err == nil || !strings.Contains(err.Error(), "[1, 3, 1]") {
		t.Errorf("got %v, want the place [1, 3, 1] in it", err)
	}
}
