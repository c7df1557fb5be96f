package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Adaptation is what a model file says of the online run that left it. It is
// JSON in the metadata of the file.
type Adaptation struct {
	Mode         config.Mode  `json:"mode"`
	Preset       string       `json:"preset,omitempty"`
	Rule         rule.Config  `json:"rule"`
	MixingMatrix graph.Mixing `json:"mixing_matrix"`
	Nodes        int          `json:"nodes"`          // N of the network it learned on
	Read         []int        `json:"read,omitempty"` // nodes that have a gate, ascending

	online.Drift // where the taps are; steps of all runs together

	// The last run.
	Stream string `json:"stream"` // what identifies its stream
	At     int    `json:"at"`     // next step of that stream
	Length int    `json:"length"` // steps of that stream

	// Of forecasts: that they are, and the first step of the stream on the clock of the
	// model.
	Forecasts bool   `json:"forecasts,omitempty"`
	First     uint64 `json:"first,omitempty"`

	Diverged bool   `json:"diverged,omitempty"` // learning ended at that step
	Scores   scores `json:"scores"`

	// News are what happened to sensors in that run; see OnlineRun.News.
	News []SensorNews `json:"news,omitempty"`

	// Metered is what was counted of the sets or intervals of the nodes read
	// before that run; nil if it was the first.
	Metered []conformal.Meter `json:"metered,omitempty"`
}

// scores count how the answers of a run were, with online learning and without.
type scores struct {
	Online     tally `json:"online"`
	Frozen     tally `json:"frozen"`
	LateOnline tally `json:"late_online"` // in the last quarter of the stream
	LateFrozen tally `json:"late_frozen"`
	EndOnline  tally `json:"end_online,omitzero"` // at its end; see endFrom
	EndFrozen  tally `json:"end_frozen,omitzero"`
}

// comparison sets the end of a run beside the model as trained: the end of the
// stream, or what was judged last before it.
func (s *scores) comparison() rule.Comparison {
	online, frozen := &s.EndOnline, &s.EndFrozen
	if online.Steps == 0 {
		online, frozen = &s.LateOnline, &s.LateFrozen
	}
	if online.Steps == 0 {
		online, frozen = &s.Online, &s.Frozen
	}
	return rule.Comparison{Steps: online.Steps, Learned: online.score().Cost, Frozen: frozen.score().Cost, Usual: s.Frozen.score().Cost}
}

// Warning says in words that what was learned does harm, and what to try; it is
// empty if it does not.
func (a *Adaptation) Warning() string {
	c := a.Scores.comparison()
	if !c.Harmful() {
		return ""
	}
	if a.Forecasts && a.Rule.Season == nil {
		return fmt.Sprintf("online learning did harm: %s; try online.preset: auto, by which forecasts learn, or online.gate: on", c)
	}
	return fmt.Sprintf("online learning did harm: %s; try online.%s", c, strings.Join(a.Rule.Calmer(), ", or online."))
}

// answers returns what is remembered of the answers of the k-th node that is read.
func (a *Adaptation) answers(s *online.Snapshot, k int) rule.State {
	at := a.Read[k]
	if a.Mode == config.Centralized { // the first state is that of the learner
		at = 1 + k
	}
	if at >= len(s.Nodes) {
		return nil
	}
	return s.Nodes[at]
}

// startName begins the names of tensors that centralized learning replaced, as
// they were trained.
const startName = "online.start."

// forecastName begins the names of tensors that say what a forecast model knows of
// its sensors.
const forecastName = "online.forecast."

// copyNamed copies those tensors.
func copyNamed[T any](dst, src map[string]T) {
	for name, x := range src {
		if strings.HasPrefix(name, forecastName) {
			dst[name] = x
		}
	}
}

// AdaptationOf returns what a model file says of the online run that left it,
// nil if it is as trained.
func AdaptationOf(file *modelfile.Model) (*Adaptation, error) {
	if file.Meta.Online == "" {
		return nil, nil
	}
	a := new(Adaptation)
	if err := json.Unmarshal([]byte(file.Meta.Online), a); err != nil {
		return nil, fmt.Errorf("what the model file says of online learning cannot be read: %w; try a newer wdgnn", err)
	}
	if a.Mode != config.Distributed && a.Mode != config.Centralized || a.Nodes < 1 || a.At < 0 || a.At > a.Length {
		return nil, errors.New("what the model file says of online learning makes no sense; the file is damaged")
	}
	return a, nil
}

// adaptedFile returns the file of a model that has learned: trained is the
// model as trained offline, l the learner that began with it.
//
// A distributed learner leaves the network as trained, and the taps of node i
// beside it as node.<i>.wide.tap.<k>. A centralized one replaces the network's
// own taps and keeps the trained ones as online.start.wide.tap.<k>. Both keep
// what the learner remembers; of nodes that weight their neighbours one by one,
// whose taps alone mean nothing, that is all.
func adaptedFile(trained *modelfile.Model, l online.Learner, a *Adaptation) (*modelfile.Model, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	network, err := gnn.New(trained.Network.Config)
	if err != nil {
		return nil, err
	}
	copy(network.Params.Flat, trained.Network.Params.Flat)
	file := &modelfile.Model{Network: network, Meta: trained.Meta, Extra: map[string]mat.Dense{}, Precise: maps.Clone(trained.Precise)}
	file.Meta.Online = string(text)
	maps.Copy(file.Extra, trained.Extra)
	snapshot.Put(file, l.Snapshot())
	switch l := l.(type) {
	case *online.Consensus:
		if a.Rule.Retrain == rule.RetrainHeard { // what the learner remembers is all that says what nodes answer
			break
		}
		for i := range l.Nodes() {
			taps := make([]float32, l.Basis().TapsLen())
			l.Taps(taps, i)
			eachWindow(network, len(taps), func(w gnn.Window) {
				file.Extra[fmt.Sprintf("node.%d.%s", i, w.Name)] = mat.NewDense(w.Rows, w.Cols, taps[w.Offset:w.Offset+w.Len()])
			})
		}
	case *online.Centralized:
		n := l.Basis().TapsLen()
		eachWindow(network, n, func(w gnn.Window) {
			start := slices.Clone(network.Params.Flat[w.Offset : w.Offset+w.Len()])
			file.Extra[startName+w.Name] = mat.NewDense(w.Rows, w.Cols, start)
		})
		l.Taps(network.Params.Flat[:n])
	case *online.Forecaster: // the network stays as trained; what nodes add to it is in the snapshot
	default:
		return nil, fmt.Errorf("a learner of type %T leaves no model", l)
	}
	return file, nil
}

// eachWindow visits the tensors that lie in the first n parameters.
func eachWindow(net *gnn.WideDeep, n int, visit func(w gnn.Window)) {
	for _, w := range net.Params.Windows() {
		if w.Offset+w.Len() <= n {
			visit(w)
		}
	}
}

// Settled returns a model that has learned online, one set of taps for all nodes,
// as if it had been trained so.
func Settled(file *modelfile.Model) (*modelfile.Model, error) {
	m := *file
	m.Extra = map[string]mat.Dense{}
	for name, x := range file.Extra {
		if !strings.HasPrefix(name, startName) {
			m.Extra[name] = x
		}
	}
	return asTrained(&m)
}

// asTrained returns the model of a file as it was trained offline, without what
// online learning changed and added.
func asTrained(file *modelfile.Model) (*modelfile.Model, error) {
	network, err := gnn.New(file.Network.Config)
	if err != nil {
		return nil, err
	}
	copy(network.Params.Flat, file.Network.Params.Flat)
	for _, w := range network.Params.Windows() {
		start, ok := file.Extra[startName+w.Name]
		if !ok {
			continue
		}
		if start.Rows != w.Rows || start.Cols != w.Cols {
			return nil, fmt.Errorf("tensor %s%s is %d×%d, want %d×%d", startName, w.Name, start.Rows, start.Cols, w.Rows, w.Cols)
		}
		for i := range w.Rows {
			copy(network.Params.Flat[w.Offset+i*w.Cols:], start.Row(i))
		}
	}
	m := &modelfile.Model{Network: network, Meta: file.Meta}
	m.Meta.Online = ""
	if m.Meta.Forecast != "" {
		m.Extra, m.Precise = map[string]mat.Dense{}, map[string]modelfile.Float64s{}
		copyNamed(m.Extra, file.Extra)
		copyNamed(m.Precise, file.Precise)
	}
	moment, err := recipe.MomentOf(file)
	if err != nil {
		return nil, err
	}
	recipe.PutMoment(m, moment)
	if norms, found := file.RowNorms(); found {
		m.SetRowNorms(norms)
	}
	calibration, err := file.Calibration()
	if calibration != nil {
		m.SetCalibration(calibration)
	}
	return m, err
}
