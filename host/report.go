package host

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// Stats counts what happened to a host, beside what its agents and its bus count.
type Stats struct {
	Steps uint64 `json:"steps"` // in which every node was done

	Skipped    uint64 `json:"skipped"`     // steps left out to catch up
	CaughtUp   uint64 `json:"caught_up"`   // times that all neighbours were ahead
	Retries    uint64 `json:"retries"`     // times that silent neighbours were asked
	Prompt     uint64 `json:"prompt"`      // times that somebody was asked at once, because a frame of it was lost
	Repeated   uint64 `json:"repeated"`    // rows that were sent twice, because others lose frames
	Suspected  uint64 `json:"suspected"`   // neighbours that were no longer waited for
	LateRows   uint64 `json:"late_rows"`   // rows of past steps
	Gaps       uint64 `json:"gaps"`        // frames that did not come, by their numbers
	Disordered uint64 `json:"disordered"`  // frames that came late or twice
	Overflows  uint64 `json:"overflows"`   // frames of steps to come for which there was no room
	BadFrames  uint64 `json:"bad_frames"`  // no frame, or a broken one
	OtherRuns  uint64 `json:"other_runs"`  // frames of another run
	OtherPlans uint64 `json:"other_plans"` // frames of hosts with another model, scale or rule
	Impostors  uint64 `json:"impostors"`   // frames and rows in somebody else's name

	Joined         uint64 `json:"joined,omitempty"`          // records of hosts that came later, taken
	RefusedRecords uint64 `json:"refused_records,omitempty"` // and such as were not

	Quarantined uint64 `json:"quarantined"` // frames of hosts in quarantine, not used

	UnknownMessages uint64 `json:"unknown_messages"` // of kinds that came after this program; passed over

	RefusedEvents     uint64 `json:"refused_events"`     // events that an agent refused
	BadLines          uint64 `json:"bad_lines"`          // lines of the world that cannot be read
	StaleLines        uint64 `json:"stale_lines"`        // lines of the world about past steps
	StrayLines        uint64 `json:"stray_lines"`        // about nodes that are not here, or of a trial where there is none
	BadTargets        uint64 `json:"bad_targets"`        // costs that make no sense
	LostAnswers       uint64 `json:"lost_answers"`       // answers that the world did not take
	Unanswered        uint64 `json:"unanswered"`         // steps that the next line, or the end, ended before there was an answer
	LostOutputs       uint64 `json:"lost_outputs"`       // of nodes, not finite and left out of an answer
	UnknownNeighbours uint64 `json:"unknown_neighbours"` // links to nodes that nobody runs
	Broken            uint64 `json:"broken,omitempty"`   // times that a sensor was found broken

	Checkpoints      uint64 `json:"checkpoints"`       // written
	FailedCheckpoint uint64 `json:"failed_checkpoint"` // not written; the one before is still there
}

// Add adds the counts of o.
func (s *Stats) Add(o Stats) {
	s.Steps += o.Steps
	s.Skipped += o.Skipped
	s.CaughtUp += o.CaughtUp
	s.Retries += o.Retries
	s.Prompt += o.Prompt
	s.Repeated += o.Repeated
	s.Suspected += o.Suspected
	s.LateRows += o.LateRows
	s.Gaps += o.Gaps
	s.Disordered += o.Disordered
	s.Overflows += o.Overflows
	s.BadFrames += o.BadFrames
	s.OtherRuns += o.OtherRuns
	s.OtherPlans += o.OtherPlans
	s.Impostors += o.Impostors
	s.Joined += o.Joined
	s.RefusedRecords += o.RefusedRecords
	s.Quarantined += o.Quarantined
	s.UnknownMessages += o.UnknownMessages
	s.RefusedEvents += o.RefusedEvents
	s.BadLines += o.BadLines
	s.StaleLines += o.StaleLines
	s.StrayLines += o.StrayLines
	s.BadTargets += o.BadTargets
	s.LostAnswers += o.LostAnswers
	s.Unanswered += o.Unanswered
	s.LostOutputs += o.LostOutputs
	s.UnknownNeighbours += o.UnknownNeighbours
	s.Broken += o.Broken
	s.Checkpoints += o.Checkpoints
	s.FailedCheckpoint += o.FailedCheckpoint
}

// Report is how a host is doing. It never changes once made.
type Report struct {
	Run   string           `json:"run"`
	Host  transport.HostID `json:"host"`
	Nodes string           `json:"nodes"` // as ParseNodes reads them
	Time  uint64           `json:"time"`  // of the latest step
	Next  uint64           `json:"next"`  // the first step that the nodes have not begun
	Final bool             `json:"final,omitempty"`

	Stats   Stats           `json:"stats"`
	Agents  agent.Stats     `json:"agents"` // of all nodes together
	Bus     transport.Stats `json:"bus"`
	Latency Latency         `json:"latency"`
	Silent  []agent.NodeID  `json:"silent,omitempty"`  // neighbours that are not waited for
	Unsaved bool            `json:"unsaved,omitempty"` // the last checkpoint could not be written
	Kept    int             `json:"kept,omitempty"`    // bytes of frames for steps to come
	Waits   bool            `json:"waits,omitempty"`   // a step is under way and has no answer yet
	Outside int             `json:"outside,omitempty"` // neighbours on other hosts

	// Unlinked says that nobody has said whom the nodes hear: each answers as if it were alone.
	Unlinked bool `json:"unlinked,omitempty"`

	// Stale is by how many steps the latest line of the world was before the step of this
	// host, or of the checkpoint that it began with, and refused for it; 0 if it was taken.
	Stale uint64 `json:"stale,omitempty"`

	// Late is for how many seconds lines of a world that speaks by a clock have been waiting
	// for the host; 0 if the latest was taken when it came.
	Late float64 `json:"late_seconds,omitempty"`

	// Health is said by the program around the host; nil if it does not.
	Health *Health `json:"health,omitempty"`

	// Digest stands for what this host runs, Differ names hosts that run
	// something else.
	Digest string             `json:"digest"`
	Differ []transport.HostID `json:"differ,omitempty"`

	// Apart are hosts that are heard and have been in other steps for a while, in real time.
	Apart []Apart `json:"apart,omitempty"`

	// Joined are the hosts that came later, or got more nodes, ascending.
	Joined []Joined `json:"joined,omitempty"`

	// Quarantine names hosts whose frames are not used, because they sent what no
	// honest host sends; Quarantines is how often hosts were put there, by reason.
	Quarantine  []Quarantine      `json:"quarantine,omitempty"`
	Quarantines map[string]uint64 `json:"quarantines,omitempty"`

	// Model is that of Config, Change one that the host is armed with, or has made.
	Model  string        `json:"model,omitempty"`
	Change *ChangeReport `json:"change,omitempty"`

	// Learning sets what answers cost in the last steps in which targets were
	// told beside what those of the model as trained would have; nil if none were,
	// or nodes do not learn.
	Learning *rule.Comparison `json:"learning,omitempty"`

	// Gate says how many nodes answer with what they learned, and which do not;
	// nil if nodes have no gates.
	Gate *GateReport `json:"gate,omitempty"`

	// Coverage says how often sets or intervals held the truth; nil if there are
	// none, or no truth was told.
	Coverage *CoverageReport `json:"coverage,omitempty"`

	// Broken are sensors whose readings are not used, the first thousand of
	// BrokenSensors.
	Broken        []BrokenSensor `json:"broken,omitempty"`
	BrokenSensors int            `json:"broken_sensors,omitempty"`

	// Ages say how long ago sensors were last read, where they are not read in every step:
	// the first thousand, the oldest first. SilentSensors are those that the log names.
	Ages          []SensorAge `json:"ages,omitempty"`
	SilentSensors int         `json:"silent_sensors,omitempty"`

	// Scale is λmax that the model's shift is divided by, 0 if it is not.
	Scale float64 `json:"scale,omitempty"`

	// Params are the parameters x_i of the nodes that learn, by node, unless
	// they are too many.
	Params map[agent.NodeID][]float32 `json:"params,omitempty"`
}

// Latency is how long recent steps took from their beginning to the answer.
type Latency struct {
	Median time.Duration `json:"median_ns"`
	P90    time.Duration `json:"p90_ns"`
	P99    time.Duration `json:"p99_ns"`
	Max    time.Duration `json:"max_ns"`
}

// Worst returns the larger of each.
func (l Latency) Worst(o Latency) Latency {
	return Latency{max(l.Median, o.Median), max(l.P90, o.P90), max(l.P99, o.P99), max(l.Max, o.Max)}
}

// mostParams bounds the parameters in a report.
const mostParams = 50_000

// look makes a report, and logs what it says of learning. A host that is told to end
// while a step waits leaves a line without an answer: the last report counts it.
func (h *Machine) look(final bool) {
	if final && h.waits() {
		h.stats.Unanswered++
	}
	r := &Report{
		Run: h.cfg.Run, Host: h.cfg.Host, Time: h.time, Next: h.Next(), Final: final, Stats: h.stats, Learning: h.contest.comparison(),
		Digest: fmt.Sprintf("%06x", h.plan), Model: h.cfg.Model, Change: h.reportChange(),
	}
	if len(h.others) > 0 {
		r.Differ = slices.Sorted(maps.Keys(h.others))
	}
	r.Joined, r.Apart, r.Late = h.joined(), h.lookApart(), h.lookPiled().Seconds()
	ids, numbers := make([]agent.NodeID, len(h.cells)), 0
	for i := range h.cells {
		n := h.cells[i].node
		ids[i] = n.ID()
		r.Agents.Add(n.Stats())
		numbers += len(n.Params())
	}
	r.Nodes = FormatNodes(ids)
	r.Gate, r.Coverage = h.gates(), h.coverage()
	r.Broken, r.BrokenSensors = h.broken()
	r.Ages, r.SilentSensors = h.ages()
	if h.cfg.Plan.Operator == graph.ShiftSpectral {
		r.Scale = h.cfg.Plan.Scale
	}
	if numbers > 0 && numbers <= mostParams {
		r.Params = map[agent.NodeID][]float32{}
		for i := range h.cells {
			r.Params[ids[i]] = slices.Clone(h.cells[i].node.Params())
		}
	}
	for _, node := range h.outside {
		if h.suspect(node) {
			r.Silent = append(r.Silent, node)
		}
	}
	slices.Sort(r.Silent)
	r.Waits, r.Outside, r.Unlinked, r.Stale = h.waits(), len(h.outside), h.unlinked(), h.stale
	for _, mark := range h.spoke {
		r.Kept += mark.held
	}
	h.reportQuarantine(r)
	h.judge(r)
	h.sayGates(r.Gate)
	h.sayCoverage(r.Coverage, final)
	h.actions.Report = r
}

// latencies remembers the durations of the last steps.
type latencies struct {
	last [1024]time.Duration
	n    int
}

func (l *latencies) add(d time.Duration) {
	l.last[l.n%len(l.last)] = d
	l.n++
}

func (l *latencies) summary() Latency {
	sorted := slices.Sorted(slices.Values(l.last[:min(l.n, len(l.last))]))
	if len(sorted) == 0 {
		return Latency{}
	}
	at := func(share float64) time.Duration { return sorted[int(share*float64(len(sorted)-1))] }
	return Latency{at(0.5), at(0.9), at(0.99), at(1)}
}
