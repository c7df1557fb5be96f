package modelfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// GraphFile is what a graph file holds: one graph, or one per time step.
type GraphFile struct {
	Graph *graph.Graph   // nil if the file has a time column
	Steps []*graph.Graph // by time, steps without edges included; nil without a time column
	Nodes int            // N
}

// GraphOptions says how a graph file is to be read.
type GraphOptions struct {
	Nodes    int  // N; 0 means the largest id + 1, or the size of the matrix
	Directed bool // a link src → dst is heard by dst alone; otherwise each hears the other
	NoLoops  bool // links of a node to itself are left out; otherwise they are an error

	// Heard, if set, says which nodes' links matter: of a graph without times, those
	// that none of them hears are looked at and left out. Whoever runs a part of a
	// large network need not hold all of it.
	Heard func(node int) bool
}

// LoadGraph reads a graph. The ending of the path says what the file is:
//
//	.csv .tsv .txt   edges as text, src, dst and perhaps weight and time, separated
//	                 by commas, tabs or spaces
//	.npz             a sparse matrix by scipy.sparse.save_npz: csr, csc or coo
//	.npy             a square matrix; "data.npz:name" is one in an archive
//
// Entry (i,j) of a matrix is the weight of the link j → i, as in package graph;
// zeros are no links.
//
// If the graph is undirected, an edge is listed once, or in both directions
// with the same weight. Twice in the same direction, or with two weights, is an
// error, as are self loops and weights that are not positive and finite. A graph
// without edges is a matrix of zeros or, with GraphOptions.Nodes, a text of the
// names of its columns alone.
//
// A number of nodes or time steps far beyond what the number of edges makes
// plausible is refused; give GraphOptions.Nodes where it is meant.
func LoadGraph(path string, o GraphOptions) (*GraphFile, error) {
	file, member := splitMember(path)
	f, size, err := open(file)
	if err != nil {
		return nil, fmt.Errorf("modelfile: load graph: %w", err)
	}
	defer f.Close()
	g, err := readGraph(f, size, strings.ToLower(filepath.Ext(file)), member, o)
	if err != nil {
		return nil, fmt.Errorf("modelfile: load graph %s: %w", path, err)
	}
	return g, nil
}

// readGraph reads a graph from the content of a file with the given ending.
func readGraph(r io.ReaderAt, size int64, ending, member string, o GraphOptions) (*GraphFile, error) {
	if o.Nodes < 0 || o.Nodes > math.MaxInt32 {
		return nil, fmt.Errorf("%d nodes: want 1 to %d, or 0 to take the number from the file", o.Nodes, math.MaxInt32)
	}
	l := links{options: o}
	var err error
	switch ending {
	case ".csv":
		err = l.readText(io.NewSectionReader(r, 0, size), ",")
	case ".tsv":
		err = l.readText(io.NewSectionReader(r, 0, size), "\t")
	case ".txt":
		err = l.readText(io.NewSectionReader(r, 0, size), " ")
	case ".npz":
		err = l.readArchive(r, size, member)
	case ".npy":
		var a *Array
		if a, err = readArray(r, size, false, ""); err == nil {
			err = l.readDense(a)
		}
	default:
		return nil, fmt.Errorf("ending %q is unknown; want .csv, .tsv, .txt, .npz or .npy", ending)
	}
	if err != nil {
		return nil, err
	}
	return l.graphs()
}

// link is one edge as a file lists it.
type link struct {
	step     int32 // t
	from, to int32
	weight   float32
	pos      int // line of a text, position in a matrix
}

// links is what a file lists, before it becomes a graph.
type links struct {
	options GraphOptions
	list    []link
	left    int // out of it, because nobody hears them who matters
	timed   bool
	matrix  bool // list comes from a matrix, not from a text
	nodes   int  // N of a matrix; of a text, the largest id + 1
	steps   int  // T, the largest time + 1
	backed  int  // nodes that have a place of their own in the file
}

// where names the place of a link in the file.
func (l *links) where(e link) string {
	if l.matrix {
		return fmt.Sprintf("entry %d, at (%d, %d)", e.pos, e.to, e.from)
	}
	return fmt.Sprintf("line %d", e.pos)
}

// add checks one link and adds it to the list.
func (l *links) add(e link, weight float64) error {
	most := math.MaxInt32 - 1
	if l.options.Nodes > 0 {
		most = l.options.Nodes - 1
	}
	for _, node := range []int32{e.from, e.to} {
		if int(node) > most {
			return fmt.Errorf("%s: no node %d among %d; nodes count from 0", l.where(e), node, most+1)
		}
		if !l.matrix {
			l.nodes = max(l.nodes, int(node)+1)
		}
	}
	if e.from == e.to && l.options.NoLoops {
		return nil
	}
	if e.from == e.to {
		return fmt.Errorf("%s: node %d linked to itself; leave self loops out, the filter's tap 0 is that link", l.where(e), e.from)
	}
	e.weight = float32(weight)
	if !(weight > 0) || !mat.Finite(weight) {
		return fmt.Errorf("%s: weight %v; want a positive number", l.where(e), weight)
	}
	if e.weight == 0 || !mat.Finite(e.weight) {
		return fmt.Errorf("%s: weight %v is beyond the range of float32; scale the weights", l.where(e), weight)
	}
	l.steps = max(l.steps, int(e.step)+1)
	if !l.matters(e) {
		l.left++
		return nil
	}
	l.list = append(l.list, e)
	return nil
}

// matters says whether a link is heard by a node whose links matter.
func (l *links) matters(e link) bool {
	heard := l.options.Heard
	return heard == nil || l.timed || heard(int(e.to)) || !l.options.Directed && heard(int(e.from))
}

// graphs builds the graph or graphs from the list, which it reorders.
func (l *links) graphs() (*GraphFile, error) {
	if len(l.list)+l.left == 0 && (l.timed || max(l.nodes, l.options.Nodes) == 0) {
		return nil, errors.New("it has no edges, src,dst with nodes that count from 0; without any, give the number of nodes and no times")
	}
	if err := l.checkSize(); err != nil {
		return nil, err
	}
	if err := l.unique(); err != nil {
		return nil, err
	}
	g := &GraphFile{Nodes: l.nodes}
	if !l.timed {
		var err error
		g.Graph, err = l.build(l.list)
		return g, err
	}
	empty, err := l.build(nil)
	if err != nil {
		return nil, err
	}
	g.Steps = make([]*graph.Graph, l.steps)
	for rest := l.list; len(rest) > 0; {
		t := rest[0].step
		n, _ := slices.BinarySearchFunc(rest, t+1, func(e link, t int32) int { return cmp.Compare(e.step, t) })
		if g.Steps[t], err = l.build(rest[:n]); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	for t := range g.Steps {
		if g.Steps[t] == nil {
			g.Steps[t] = empty // graphs never change: all such steps share one
		}
	}
	return g, nil
}

// checkSize settles the number of nodes and refuses sizes that a few edges do
// not make plausible: memory grows with nodes and steps, and a single line can
// name any of them.
func (l *links) checkSize() error {
	edges := len(l.list) + l.left
	budget := 1<<20 + 64*edges // nodes of all graphs together
	if n := l.options.Nodes; n > 0 {
		l.nodes = n
		budget = 1 << 28
	} else if l.nodes > max(1<<16+32*edges, l.backed) {
		return fmt.Errorf("%d nodes, but only %d edges: number nodes 0, 1, 2, … without gaps, or give the number of nodes", l.nodes, edges)
	}
	if l.steps > 1<<16+32*edges {
		return fmt.Errorf("times up to %d, but only %d edges: times are steps 0, 1, 2, …, not seconds or dates", l.steps-1, edges)
	}
	if !l.timed {
		return nil
	}
	if steps := min(l.steps, edges); steps > budget/(l.nodes+1) {
		return fmt.Errorf("%d steps of %d nodes, but only %d edges; give the number of nodes, or split the file into shorter runs",
			steps, l.nodes, edges)
	}
	return nil
}

// unique sorts the list by step and nodes, refuses repetitions and, if the
// graph is undirected, keeps one of two directions.
func (l *links) unique() error {
	key := func(e link) (lo, hi int32) {
		if !l.options.Directed && e.from > e.to {
			return e.to, e.from
		}
		return e.from, e.to
	}
	slices.SortFunc(l.list, func(a, b link) int {
		aLo, aHi := key(a)
		bLo, bHi := key(b)
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(aLo, bLo), cmp.Compare(aHi, bHi),
			cmp.Compare(a.from, b.from), cmp.Compare(a.pos, b.pos))
	})
	if len(l.list) == 0 {
		return nil
	}
	kept := l.list[:1]
	before := l.list[0]
	var first, again link // the pair at fault that a reader of the file meets first
	for _, e := range l.list[1:] {
		lo, hi := key(e)
		bLo, bHi := key(before)
		switch same := e.step == before.step && lo == bLo && hi == bHi; {
		case !same:
			kept = append(kept, e)
		case e.from == before.from || e.weight != before.weight:
			a, b := before, e
			if a.pos > b.pos {
				a, b = b, a
			}
			if again.pos == 0 || b.pos < again.pos {
				first, again = a, b
			}
		}
		before = e
	}
	if again.pos == 0 {
		l.list = kept
		return nil
	}
	if first.from != again.from {
		return fmt.Errorf("%s and %s give the edge between %d and %d two weights, "+
			"one for each direction; make them equal, or read the graph as directed",
			l.where(first), l.where(again), again.from, again.to)
	}
	return fmt.Errorf("%s and %s are the same edge, %d → %d; keep one of the two or add their weights",
		l.where(first), l.where(again), again.from, again.to)
}

// build returns the graph with the given links.
func (l *links) build(list []link) (*graph.Graph, error) {
	edges := make([]graph.Edge, len(list))
	for i, e := range list {
		edges[i] = graph.Edge{From: int(e.from), To: int(e.to), Weight: float64(e.weight)}
	}
	return graph.FromEdges(l.nodes, edges, l.options.Directed)
}
