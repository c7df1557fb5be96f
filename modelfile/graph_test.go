package modelfile

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
)

func readGraphText(text string, o GraphOptions) (*GraphFile, error) {
	return readGraph(strings.NewReader(text), int64(len(text)), ".csv", "", o)
}

// listed writes the entries of the adjacency matrix, row by row.
func listed(g *graph.Graph) string {
	var b strings.Builder
	for i := range g.Nodes() {
		col, val := g.Adjacency().Row(i)
		for k, j := range col {
			fmt.Fprintf(&b, "%d←%d:%v ", i, j, val[k])
		}
	}
	return strings.TrimSpace(b.String())
}

const (
	pathEntries  = "0←1:1 1←0:1 1←2:2 2←1:2 2←3:3.5 3←2:3.5"
	cycleEntries = "0←2:1 1←0:1 2←1:1"
)

// Edge lists in all their spellings.
func TestEdgeList(t *testing.T) {
	for _, c := range []struct {
		name, ending, text string
		directed           bool
		want               string
	}{
		{"plain", ".csv", "0,1,1\n1,2,2\n2,3,3.5\n", false, pathEntries},
		{"no line end, spaces, comment, blank line", ".csv", "# a path\n\n 0 , 1 , 1\n\t\n1,2,2e0\n  # more\n3,2,+3.5", false, pathEntries},
		{
			"windows, quotes, byte order mark", ".csv",
			"\ufeff\"Source\",\"Target\",\"Weight\"\r\n\"0\",\"1\",\"1\"\r\n1,2,2\r\n2,3,3.5\r\n", false, pathEntries,
		},
		{"columns in another order", ".csv", "weight,to,from\n1,1,0\n2,2,1\n3.5,3,2\n", false, pathEntries},
		{"both directions", ".csv", "0,1,1\n1,0,1.0\n1,2,2\n2,3,3.5\n3,2,3.5\n", false, pathEntries},
		{"tabs", ".tsv", "src\tdst\tw\n0\t1\t1\n1\t2\t2\n2\t3\t3.5\n", false, pathEntries},
		{"spaces", ".txt", "0 1\t1\n 1  2 2\n2 3 3.5\n", false, pathEntries},
		{"directed", ".csv", "src,dst\n0,1\n1,2\n2,0\n", true, cycleEntries},
		{"directed, both directions", ".csv", "0,1,1\n1,0,2\n", true, "0←1:2 1←0:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := readGraph(strings.NewReader(c.text), int64(len(c.text)), c.ending, "", GraphOptions{Directed: c.directed})
			if err != nil {
				t.Fatal(err)
			}
			if got := listed(g.Graph); got != c.want || g.Steps != nil || g.Nodes != g.Graph.Nodes() {
				t.Errorf("got %s of %d nodes, want %s", got, g.Nodes, c.want)
			}
			if g.Graph.Directed() != c.directed {
				t.Error("direction lost")
			}
		})
	}
}

// A node may be alone, and so may all: where their number is known a graph needs no edge.
func TestGraphsWithoutEdges(t *testing.T) {
	for _, n := range []int{1, 3} {
		text, err := readGraphText("src,dst,weight\n", GraphOptions{Nodes: n})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "none.npy")
		if err := SaveArray(path, []int{n, n}, make([]float32, n*n)); err != nil {
			t.Fatal(err)
		}
		matrix, err := LoadGraph(path, GraphOptions{Directed: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []*GraphFile{text, matrix} {
			if g.Steps != nil || g.Nodes != n || g.Graph.Nodes() != n || g.Graph.Edges() != 0 {
				t.Errorf("got %+v, want %d nodes alone", g, n)
			}
		}
	}
}

// With a time column there is a graph per step, also where nothing is listed.
func TestEdgeListInTime(t *testing.T) {
	g, err := readGraphText("time,src,dst\n4,0,1\n0,1,0\n1,1,2\n1,0,1\n0,0,1\n", GraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0←1:1 1←0:1", "0←1:1 1←0:1 1←2:1 2←1:1", "", "", "0←1:1 1←0:1"}
	if g.Graph != nil || g.Nodes != 3 || len(g.Steps) != len(want) {
		t.Fatalf("got %+v, want %d steps of 3 nodes", g, len(want))
	}
	for s, w := range want {
		if got := listed(g.Steps[s]); got != w || g.Steps[s].Nodes() != 3 {
			t.Errorf("step %d: got %s of %d nodes, want %s", s, got, g.Steps[s].Nodes(), w)
		}
	}
	g, err = readGraphText("0,1,2.5,1\n", GraphOptions{Nodes: 7, Directed: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Steps) != 2 || listed(g.Steps[1]) != "1←0:2.5" || g.Steps[0].Nodes() != 7 || !g.Steps[0].Directed() {
		t.Errorf("got %+v", g)
	}
}

// Matrices that SciPy and NumPy wrote.
func TestMatrixGraphs(t *testing.T) {
	for _, ending := range []string{"_coo.npz", "_csr.npz", "_csc.npz", ".npy"} {
		g, err := LoadGraph(filepath.Join("testdata", "path"+ending), GraphOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := listed(g.Graph); got != pathEntries || g.Nodes != 4 || g.Graph.Directed() {
			t.Errorf("path%s: got %s of %d nodes, want %s", ending, got, g.Nodes, pathEntries)
		}
		g, err = LoadGraph(filepath.Join("testdata", "cycle"+ending), GraphOptions{Directed: true, Nodes: 3})
		if err != nil {
			t.Fatal(err)
		}
		if got := listed(g.Graph); got != cycleEntries || !g.Graph.Directed() {
			t.Errorf("cycle%s: got %s, want %s", ending, got, cycleEntries)
		}
	}
	file := npzOf(t, map[string][3]string{"a": {"|u1", "2,2", "\x00\x03\x03\x00"}, "b": {"|S1", "2,2", "0110"}})
	dense, err := readGraph(bytes.NewReader(file), int64(len(file)), ".npz", "a", GraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := listed(dense.Graph), "0←1:3 1←0:3"; got != want {
		t.Errorf("a matrix in an archive: got %s, want %s", got, want)
	}
	_, err = readGraph(bytes.NewReader(file), int64(len(file)), ".npz", "b", GraphOptions{})
	wantError(t, err, "it holds text")

	// One triangle of a symmetric matrix is enough.
	g, err := LoadGraph(filepath.Join("testdata", "cycle.npy"), GraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Graph.Edges() != 3 {
		t.Errorf("got %v, want a triangle", g.Graph)
	}
}

// Every complaint names the line and says what to do.
func TestEdgeListRefuses(t *testing.T) {
	for _, c := range []struct {
		text  string
		nodes int
		want  []string
	}{
		{"", 0, []string{"it has no edges"}},
		{"# nothing\n", 5, []string{"it has no edges", "src,dst alone"}},
		{"src,dst,time\n", 5, []string{"it has no edges", "no times"}},
		{"src,dst\n", 0, []string{"it has no edges"}},
		{"0\n", 0, []string{"line 1: one column", "commas in a .csv, tabs in a .tsv"}},
		{"0 1\n", 0, []string{"line 1: one column"}},
		{"0,1,1,0,9\n", 0, []string{"line 1: 5 columns"}},
		{"a,b\n0,1\n", 0, []string{`line 1: "a" is neither a node nor the name of a column; want src, dst, weight or time`}},
		{"src,weight\n", 0, []string{"line 1: the header needs the columns src and dst"}},
		{"src,from\n", 0, []string{"line 1: columns 1 and 2 are both src"}},
		{"0,1\n1,2,3\n", 0, []string{"line 2: 3 columns, but 2 in the first line"}},
		{"0,1\n1\n", 0, []string{"line 2: 1 columns"}},
		{"0,1\n\n1,x\n", 0, []string{`line 3: dst is "x"; nodes are integers that count from 0`}},
		{"0,1\n-1,2\n", 0, []string{`line 2: src is "-1"`}},
		{"0,1\n1.0,2\n", 0, []string{`line 2: src is "1.0"`}},
		{"0,1\n,2\n", 0, []string{`line 2: src is ""`}},
		{"0,99999999999\n", 0, []string{`line 1: dst is "99999999999"`}},
		{"0,1,a\n", 0, []string{`line 1: weight is "a"; want a positive number`}},
		{"0,1,nan\n", 0, []string{"line 1: weight NaN; want a positive number"}},
		{"0,1,1e999\n", 0, []string{"line 1: weight +Inf; want a positive number"}},
		{"0,1,-1\n", 0, []string{"line 1: weight -1; want a positive number"}},
		{"0,1,0\n", 0, []string{"line 1: weight 0; want a positive number"}},
		{"0,1,1e39\n", 0, []string{"line 1: weight 1e+39 is beyond the range of float32"}},
		{"0,1,1e-60\n", 0, []string{"line 1: weight 1e-60 is beyond the range of float32"}},
		{"0,1,1,0.5\n", 0, []string{`line 1: time is "0.5"; times are integers that count steps from 0`}},
		{"0,1\n2,2\n", 0, []string{"line 2: node 2 linked to itself; leave self loops out"}},
		{"0,1\n2,5\n", 5, []string{"line 2: no node 5 among 5; nodes count from 0"}},
		{"0,1\n", -1, []string{"-1 nodes"}},
		{"0,1\n1,2\n# x\n0,1\n", 0, []string{"line 1 and line 4 are the same edge, 0 → 1; keep one of the two or add their weights"}},
		{"0,1\n1,0\n2,3\n1,0\n", 0, []string{"line 2 and line 4 are the same edge, 1 → 0"}},
		{
			"1,0,1\n3,2,1\n2,3,2\n0,1,2\n", 0,
			[]string{"line 2 and line 3 give the edge between 2 and 3 two weights", "read the graph as directed"},
		},
		{"0,1,1,3\n0,1,1,2\n0,1,1,3\n", 0, []string{"line 1 and line 3 are the same edge"}},
		{"0,2000000000\n", 0, []string{
			"2000000001 nodes, but only 1 edges: number nodes 0, 1, 2, … without gaps, or give the number of nodes",
		}},
		{"0,1,1,1700000000\n", 0, []string{"times up to 1700000000, but only 1 edges: times are steps"}},
		{"0,1\n" + strings.Repeat("1", 1<<17), 0, []string{"line 2 has more than 65536 bytes"}},
		{"0,1\n\x00\x01\x02,4\n", 0, []string{`line 2: src is "\x00\x01\x02"`}},
	} {
		_, err := readGraphText(c.text, GraphOptions{Nodes: c.nodes})
		wantError(t, err, c.want...)
	}
	_, err := readGraphText("0,1\n0,1\n", GraphOptions{Directed: true})
	wantError(t, err, "line 1 and line 2 are the same edge")
	path := filepath.Join(t.TempDir(), "edges.csv")
	if err := os.WriteFile(path, []byte("0,1\n0,a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = LoadGraph(path, GraphOptions{})
	wantError(t, err, "modelfile: load graph "+path+": line 2: dst is")
}

func TestMatrixRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"path_dia.npz":     `sparse matrix of kind "dia"; convert it with .tocsr()`,
		"f4.npy":           "shape [2 3 4]; a graph is a square matrix",
		"nan.npy":          "entry 3, at (1, 0): weight NaN; want a positive number",
		"two.npz":          "several arrays, signals, labels",
		"two.npz:labels":   "shape [5]; a graph is a square matrix",
		"path_csr.npz:col": `no array "col"`,
		"arrays.py":        `ending ".py" is unknown; want .csv, .tsv, .txt, .npz or .npy`,
		"missing.csv":      "no such file",
	} {
		_, err := LoadGraph(filepath.Join("testdata", name), GraphOptions{})
		wantError(t, err, "modelfile: load graph", want)
	}
	_, err := LoadGraph(filepath.Join("testdata", "path_csr.npz"), GraphOptions{Nodes: 5})
	wantError(t, err, "the matrix is for 4 nodes, want 5")
	_, err = LoadGraph(filepath.Join("testdata", "path.npy"), GraphOptions{Nodes: 2})
	wantError(t, err, "the matrix is for 4 nodes, want 2")
}

// npzOf returns an archive of arrays, each an element type, a shape and values.
func npzOf(tb testing.TB, arrays map[string][3]string) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, a := range arrays {
		w, err := z.Create(name + ".npy")
		if err != nil {
			tb.Fatal(err)
		}
		w.Write(npyBytes(1, "{'descr': '"+a[0]+"', 'fortran_order': False, 'shape': ("+a[1]+")}", a[2]))
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// Sparse matrices whose parts do not fit together.
func TestSparseRefuses(t *testing.T) {
	word := func(w string) [3]string { return [3]string{"|S3", "", w} }
	csr := map[string][3]string{
		"format": word("csr"), "shape": {"|u1", "2,", "\x02\x02"}, "data": {"|u1", "2,", "\x01\x01"},
		"indices": {"|u1", "2,", "\x01\x00"}, "indptr": {"|u1", "3,", "\x00\x01\x02"},
	}
	coo := map[string][3]string{
		"format": {"<U3", "", "c\x00\x00\x00o\x00\x00\x00o\x00\x00\x00"}, "shape": {"|u1", "2,", "\x02\x02"}, "data": {"|u1", "2,", "\x01\x01"},
		"row": {"|u1", "2,", "\x01\x00"}, "col": {"|u1", "2,", "\x00\x01"},
	}
	read := func(parts map[string][3]string) (*GraphFile, error) {
		file := npzOf(t, parts)
		return readGraph(bytes.NewReader(file), int64(len(file)), ".npz", "", GraphOptions{})
	}
	for _, whole := range []map[string][3]string{csr, coo} {
		g, err := read(whole)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := listed(g.Graph), "0←1:1 1←0:1"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		for name := range whole {
			if name == "format" {
				continue // without it the archive is one of ordinary arrays
			}
			parts := maps.Clone(whole)
			delete(parts, name)
			_, err := read(parts)
			wantError(t, err, fmt.Sprintf("the archive has no array %q", name))
		}
	}
	for _, c := range []struct {
		whole map[string][3]string
		name  string
		part  [3]string
		want  string
	}{
		{csr, "format", word("bsr"), `sparse matrix of kind "bsr"`},
		{csr, "format", [3]string{"|u1", "", "c"}, "array format: 1 values of type |u1; want one word"},
		{csr, "shape", [3]string{"|u1", "2,", "\x02\x03"}, "shape [2 3]; a graph is a square matrix"},
		{csr, "shape", [3]string{"|u1", "1,", "\x02"}, "shape [2]; a graph is a square matrix"},
		{csr, "shape", [3]string{"|i1", "2,", "\xff\xff"}, "-1 nodes; want at most"},
		{csr, "shape", [3]string{"<f2", "2,", "\x01\x38\x01\x38"}, "array shape: value 0 is 0.50048828125; want integers"},
		{csr, "shape", [3]string{"|S1", "2,", "22"}, "array shape: it holds text"},
		{csr, "data", [3]string{"|S1", "2,", "11"}, "array data: it holds text"},
		{csr, "data", [3]string{"|u1", "1,", "\x01"}, "data of 1 do not make a matrix of 2 nodes"},
		{csr, "data", [3]string{"|u1", "2,", "\x01\x02"}, "entry 1, at (0, 1) and entry 2, at (1, 0) give the edge between 0 and 1 two weights"},
		{csr, "indices", [3]string{"|u1", "2,", "\x01\x02"}, "entry 2, at (1, 2), is outside a matrix of 2 nodes"},
		{csr, "indices", [3]string{"|i1", "2,", "\x01\xff"}, "entry 2, at (1, -1), is outside"},
		{csr, "indices", [3]string{"|u1", "2,", "\x00\x00"}, "entry 1, at (0, 0): node 0 linked to itself"},
		{csr, "indptr", [3]string{"|u1", "3,", "\x01\x01\x02"}, "do not make a matrix"},
		{csr, "indptr", [3]string{"|u1", "3,", "\x00\x01\x03"}, "do not make a matrix"},
		{csr, "indptr", [3]string{"|u1", "3,", "\x00\x09\x02"}, "indptr goes from 0 to 9"},
		{csr, "indptr", [3]string{"|i1", "3,", "\x00\xff\x02"}, "indptr goes from 0 to -1"},
		{csr, "indptr", [3]string{"|u1", "2,", "\x00\x02"}, "indptr of 2 values"},
		{coo, "row", [3]string{"|u1", "1,", "\x01"}, "row, col and data have 1, 2 and 2 values"},
		{coo, "row", [3]string{"|u1", "2,", "\x01\x01"}, "entry 2, at (1, 1): node 1 linked to itself"},
		{
			coo, "shape",
			[3]string{"<i8", "2,", "\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00"},
			"268435456 nodes, but only 2 edges",
		},
		{
			coo, "shape",
			[3]string{"<i8", "2,", "\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00"},
			"4294967296 nodes; want at most 2147483647",
		},
	} {
		parts := maps.Clone(c.whole)
		parts[c.name] = c.part
		_, err := read(parts)
		wantError(t, err, c.want)
	}
	same := maps.Clone(coo)
	same["row"], same["col"] = [3]string{"|u1", "2,", "\x01\x01"}, [3]string{"|u1", "2,", "\x00\x00"}
	_, err := read(same)
	wantError(t, err, "entry 1, at (1, 0) and entry 2, at (1, 0) are the same edge, 0 → 1")
}
