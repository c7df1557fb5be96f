package lifecycle

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Confidence is how far the answers of a Prediction can be trusted: sets of
// classes, or intervals of numbers, that hold the truth as often as asked for, if
// the samples are like those that training set aside for validation, or like the
// last that an online run met.
type Confidence struct {
	Coverage float64
	Classes  bool // sets; otherwise intervals

	// Values are those of sets, 1 for a class that is in and otherwise 0, of the
	// shape of the answers; or of intervals, for each answer the lower end and
	// the upper one, -Inf and +Inf if nothing is known.
	Shape  []int
	Values []float32

	// How many nodes have scores of their own, of how many that answer. Others have
	// those of all nodes together if training read them; otherwise nothing is known.
	Own, Nodes int

	Known int     // answers of which something is known
	Size  float64 // their mean number of classes, or width
}

// errUncalibrated says that a model file does not know how its answers turn out.
var errUncalibrated = errors.New("the model file holds no scores of validation samples, from which sets and intervals are made; " +
	"train it again with this version, with samples to validate on")

// Confidence returns how far the answers can be trusted, by what the model file
// knows of earlier ones.
func (p *Prediction) Confidence(m *modelfile.Model, coverage float64) (*Confidence, error) {
	k := conformal.Config{Coverage: coverage, Classes: m.Meta.Task == string(config.Classify)}
	if err := k.Validate(); err != nil {
		return nil, err
	}
	known, err := latestOf(m, &k)
	if err != nil {
		return nil, err
	}
	if known == nil {
		return nil, errUncalibrated
	}
	nodes, outputs := p.Shape[len(p.Shape)-2], p.Shape[len(p.Shape)-1]
	c := &Confidence{Coverage: coverage, Classes: k.Classes, Shape: p.Shape, Nodes: nodes}
	if !c.Classes {
		c.Shape = append(append([]int{}, p.Shape...), 2)
	}
	bounds := make([]conformal.Bound, 0, nodes*len(known.Pooled))
	for r := range nodes {
		node := r
		if p.nodes != nil {
			node = p.nodes[r]
		}
		own := false
		if bounds, own = appendBounds(bounds, &k, known, node, m.Meta.Nodes); own {
			c.Own++
		}
	}
	each := len(known.Pooled)
	for row := range len(p.Values) / outputs {
		r := row % nodes
		c.add(p.Values[row*outputs:(row+1)*outputs], bounds[r*each:(r+1)*each])
	}
	c.Size /= float64(max(c.Known, 1))
	return c, nil
}

// appendBounds appends the bounds of the answers of a node, by output, and says
// whether they are by scores of its own. If these are too few, those of all nodes
// count; of a node that training did not read nothing is known.
func appendBounds(
	dst []conformal.Bound, k *conformal.Config, known *modelfile.Calibration, node int, read []int,
) ([]conformal.Bound, bool) {
	scores, own := known.Of(node)
	if !own && len(read) > 0 && !slices.Contains(read, node) {
		scores = make([][]float64, len(known.Pooled))
		known = &modelfile.Calibration{Pooled: scores}
	}
	for w, pooled := range known.Pooled {
		b := k.Bound(scores[w])
		if b.Unknown() {
			b, own = k.Bound(pooled), false
		}
		dst = append(dst, b)
	}
	return dst, own
}

// add takes in the answer y.
func (c *Confidence) add(y []float32, bounds []conformal.Bound) {
	if c.Classes {
		for class := range y {
			in := float32(0)
			if bounds[0].Holds(y, class) {
				in = 1
			}
			c.Values = append(c.Values, in)
			if !bounds[0].Unknown() {
				c.Size += float64(in)
			}
		}
		if !bounds[0].Unknown() {
			c.Known++
		}
		return
	}
	for k, v := range y {
		low, high := bounds[k].Interval(v)
		c.Values = append(c.Values, low, high)
		if !bounds[k].Unknown() {
			c.Known++
			c.Size += float64(high) - float64(low)
		}
	}
}

// latestOf returns what a model file knows of the latest answers of nodes: those of
// an online run, if it left any, and otherwise those of calibrationOf.
func latestOf(m *modelfile.Model, k *conformal.Config) (*modelfile.Calibration, error) {
	trained, err := calibrationOf(m, k)
	if err != nil {
		return nil, err
	}
	a, err := AdaptationOf(m)
	if a == nil || err != nil {
		return trained, err
	}
	s, _, err := snapshot.Of(m)
	if err != nil {
		return trained, err
	}
	outputs := k.Windows(m.Network.Outputs())
	c := &modelfile.Calibration{Pooled: make([][]float64, outputs)}
	for n, i := range a.Read {
		own := a.answers(&s, n).Scores(outputs)
		if own == nil {
			return trained, nil
		}
		c.Nodes, c.Scores = append(c.Nodes, i), append(c.Scores, own)
		for w, scores := range own {
			c.Pooled[w] = append(c.Pooled[w], scores...)
		}
	}
	if trained != nil {
		c.Pooled = trained.Pooled
	}
	return c, nil
}

// calibrationOf returns what a model file knows of answers of the model as trained,
// nil if it knows nothing.
func calibrationOf(m *modelfile.Model, k *conformal.Config) (*modelfile.Calibration, error) {
	c, err := m.Calibration()
	if c == nil || err != nil {
		return nil, err
	}
	if want := k.Windows(m.Network.Outputs()); len(c.Pooled) != want {
		return nil, fmt.Errorf("the model file holds scores of %d outputs, want %d; train it again with this version", len(c.Pooled), want)
	}
	return c, nil
}
