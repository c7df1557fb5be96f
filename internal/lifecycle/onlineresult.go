package lifecycle

import (
	"fmt"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// OnlineStep is how one step went: a line of metrics.jsonl.
type OnlineStep struct {
	Step       int      `json:"step"`                  // from 0
	Cost       *float64 `json:"cost,omitempty"`        // of the step; absent if no target is known
	FrozenCost *float64 `json:"frozen_cost,omitempty"` // of the model as trained

	// Of all steps so far.
	MeanCost       float64  `json:"mean_cost"`
	FrozenMeanCost float64  `json:"frozen_mean_cost"`
	Accuracy       *float64 `json:"accuracy,omitempty"` // share of right classes, for classify
	FrozenAccuracy *float64 `json:"frozen_accuracy,omitempty"`
	Asked          int      `json:"asked,omitempty"` // answers that these two are shares of

	// Of the answers of this step, for classify: a letter for each node read, in that
	// order, 1 for a right answer, 0 for a wrong one and - where nobody knows. Absent
	// where more than a few hundred nodes are read.
	Right       string `json:"right,omitempty"`
	FrozenRight string `json:"frozen_right,omitempty"` // of the model as trained

	// Of the taps that made the prediction, now and then: see online.Drift.
	Moved        *float64 `json:"moved,omitempty"`
	Disagreement *float64 `json:"disagreement,omitempty"`

	// Of the gates: how many nodes answer with what they learned at this step, and
	// which do, or answer as trained, from this step on.
	Adapted *int  `json:"adapted,omitempty"`
	Opened  []int `json:"opened,omitempty"`
	Closed  []int `json:"closed,omitempty"`

	// Of the sets or intervals of all answers that were judged before this step:
	// the share that held the truth, and their mean number of classes, or width, but for
	// those that are unknown and hold everything.
	Coverage *float64 `json:"coverage,omitempty"`
	Size     *float64 `json:"size,omitempty"`
	Unknown  uint64   `json:"unknown,omitempty"`

	// Of forecasts: the time of the step, sensors of which something is new, and
	// what a few sensors read and were forecast to.
	Time    string        `json:"time,omitempty"`
	News    []SensorNews  `json:"news,omitempty"`
	Sensors []SensorState `json:"sensors,omitempty"`
}

// onlineScore is how well answers were.
type onlineScore struct {
	Steps    int      `json:"steps"` // with a known target
	Cost     float64  `json:"cost"`  // mean
	Accuracy *float64 `json:"accuracy,omitempty"`
}

// String writes the score for people.
func (s onlineScore) String() string {
	if s.Accuracy != nil {
		return fmt.Sprintf("accuracy %5.1f %%  cost %.4f", 100**s.Accuracy, s.Cost)
	}
	return fmt.Sprintf("cost %.4f", s.Cost)
}

// OnlineResult is what an online run leaves.
type OnlineResult struct {
	Version string `json:"version"`
	Kernels string `json:"kernels"`
	Threads int    `json:"threads"`

	Task     string      `json:"task"`
	Mode     config.Mode `json:"mode"`
	Preset   string      `json:"preset"`
	Rule     rule.Config `json:"rule"`
	Nodes    int         `json:"nodes"`
	Read     []int       `json:"read"`
	Graphs   int         `json:"graphs"` // that followed each other
	Steps    int         `json:"steps"`  // played
	Diverged bool        `json:"diverged,omitempty"`

	Online     onlineScore `json:"online"`
	Frozen     onlineScore `json:"frozen"`
	LateFrom   int         `json:"late_from"` // the step at which the last quarter begins
	LateOnline onlineScore `json:"late_online"`
	LateFrozen onlineScore `json:"late_frozen"`

	// The end of the stream: from when, and how it went. A cost of more than 1.5
	// times that of the model as trained is a warning, in words.
	EndFrom   int         `json:"end_from"`
	EndOnline onlineScore `json:"end_online"`
	EndFrozen onlineScore `json:"end_frozen"`
	Warning   string      `json:"warning,omitempty"`

	Gate     *GateResult     `json:"gate,omitempty"`     // nil without gates
	Coverage *CoverageResult `json:"coverage,omitempty"` // nil without sets and intervals

	Forecast *ForecastResult `json:"forecast,omitempty"` // nil unless the model forecasts

	Drift   online.Drift `json:"drift"`
	Seconds float64      `json:"seconds"` // filled in by whoever has a clock
}

// tally is an online.Meter in JSON.
type tally struct {
	Steps int     `json:"steps"` // with a known target
	Cost  float64 `json:"cost"`  // of the last
	Sum   float64 `json:"sum"`   // of all costs
	Right int     `json:"right"`
	Asked int     `json:"asked"`
}

func (t *tally) meter() online.Meter {
	return online.Meter{Steps: t.Steps, Cost: t.Cost, Sum: t.Sum, Right: t.Right, Asked: t.Asked}
}

// watch takes in a prediction and what it cost.
func (t *tally) watch(y mat.Dense, j loss.Loss) {
	m := t.meter()
	m.Watch(y, j)
	*t = tally{m.Steps, m.Cost, m.Sum, m.Right, m.Asked}
}

// score returns how well the answers were.
func (t *tally) score() onlineScore {
	m := t.meter()
	s := onlineScore{Steps: m.Steps, Cost: m.MeanCost()}
	if m.Asked > 0 {
		accuracy := m.Accuracy()
		s.Accuracy = &accuracy
	}
	return s
}

// Report says what came out.
func (r *OnlineRun) Report(version string) *OnlineResult {
	s, scores := r.Stream, &r.State.Scores
	return &OnlineResult{
		Version: version, Kernels: mat.Kernels(), Threads: r.engine.Threads(),
		Task: string(s.Task), Mode: r.State.Mode, Preset: r.State.Preset, Rule: r.Rule,
		Nodes: s.Nodes, Read: s.Read, Graphs: s.Changes, Steps: r.State.At, Diverged: r.State.Diverged,
		Online: scores.Online.score(), Frozen: scores.Frozen.score(),
		LateFrom: r.lateFrom(), LateOnline: scores.LateOnline.score(), LateFrozen: scores.LateFrozen.score(),
		EndFrom: r.endFrom(), EndOnline: scores.EndOnline.score(), EndFrozen: scores.EndFrozen.score(), Warning: r.State.Warning(),
		Gate: r.gateResult(), Coverage: r.coverage(), Forecast: r.forecastResult(),
		Drift: r.learner.Drift(),
	}
}
