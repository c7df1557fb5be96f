package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/host"
)

// Measurement is one thing that the runtime is judged by.
type Measurement struct {
	Name   string
	Title  string // in a few words
	About  string // what is measured and how
	Wanted string // in words
	Named  bool   // it is made only if it is asked for by name

	run func(ctx context.Context, b *Bench) error
}

// Measurements lists all of them in the order of a report.
func Measurements() []Measurement {
	return []Measurement{sourceMem, sourceFew, sourceMany, flockTen, flockFifty, largeGraph, millionGraph, programSizes, namespaces}
}

// Find returns the measurement called name.
func Find(name string) (Measurement, error) {
	var known []string
	for _, m := range append(Measurements(), Liars...) {
		if m.Name == name {
			return m, nil
		}
		known = append(known, m.Name)
	}
	return Measurement{}, fmt.Errorf("no measurement is called %q; there are %s", name, strings.Join(known, ", "))
}

// Bench says how measurements are made.
type Bench struct {
	// Self starts this program: its command agent runs a host, its command
	// swarm probe a probe.
	Self []string

	// Agent is the path of the program wdgnn-agent; empty leaves its
	// measurements out.
	Agent string

	Dir     string  // to work in; must exist
	Seconds float64 // of the runs whose figures count
	Seed    uint64

	Found func(*Figure)     // hears of every figure
	Say   func(what string) // hears what is being done

	runs int // so far, for names of folders
}

// Run makes one measurement.
func (m Measurement) Run(ctx context.Context, b *Bench) error {
	if err := m.run(ctx, b); err != nil {
		return fmt.Errorf("swarm: bench: %s: %w", m.Name, err)
	}
	return nil
}

// folder makes a folder for one run.
func (b *Bench) folder() (string, error) {
	b.runs++
	dir := filepath.Join(b.Dir, fmt.Sprintf("run-%d", b.runs))
	return dir, os.Mkdir(dir, 0o755)
}

// Goal is what is wanted of a figure, and what came out.
type Goal struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Wanted float64 `json:"wanted"`
	Below  bool    `json:"below"` // the value must be below what is wanted, not at least
}

// Met says whether the value is as wanted.
func (g Goal) Met() bool {
	if g.Below {
		return g.Value < g.Wanted
	}
	return g.Value >= g.Wanted
}

// Figure is what one run showed. Fields that make no sense for it are 0.
type Figure struct {
	Measurement string `json:"measurement"`
	Case        string `json:"case"` // which of its runs
	Bus         string `json:"bus,omitempty"`
	Hosts       int    `json:"hosts,omitempty"`
	Processes   int    `json:"processes,omitempty"` // distinct ones that ran hosts; 0 if hosts were goroutines
	Nodes       int    `json:"nodes,omitempty"`

	Steps     int          `json:"steps,omitempty"` // that were timed
	Seconds   float64      `json:"seconds,omitempty"`
	Rate      float64      `json:"steps_per_second,omitempty"`
	Messages  float64      `json:"messages_per_step,omitempty"` // rows that nodes took in
	Frames    float64      `json:"frames_per_step,omitempty"`   // that hosts received
	Bytes     float64      `json:"bytes_per_step,omitempty"`    // in these frames
	Latency   host.Latency `json:"latency,omitzero"`            // from the beginning of a step to the answer, worst host
	LateShare float64      `json:"late_share"`                  // of rows; also given up
	Missing   int          `json:"missing_answers,omitempty"`   // that the world waited for in vain

	HostCPU  float64 `json:"host_cpu_seconds_per_step,omitempty"`  // of all host processes together
	WorldCPU float64 `json:"world_cpu_seconds_per_step,omitempty"` // of this process: world, NATS server, and hosts that are goroutines

	ProbeRate       float64 `json:"probe_steps_per_second,omitempty"`
	ResidentBytes   int64   `json:"resident_bytes,omitempty"` // at most, of all host processes together
	LargestBytes    int64   `json:"largest_bytes,omitempty"`  // of one of them
	CutEdges        int     `json:"cut_edges,omitempty"`      // links between nodes of different hosts
	BytesPerCutEdge float64 `json:"bytes_per_cut_edge_and_step,omitempty"`
	FileBytes       int64   `json:"file_bytes,omitempty"` // of a program
	StartSeconds    float64 `json:"start_seconds,omitempty"`

	// Of runs in which a host lies: how nodes learn and what is said, the share of
	// right answers of the others, and that share and the rate if nobody lied, or the
	// host said nothing; the seconds in steps that took half a deadline and more, and
	// the rate without the first steps, in which the liar is found out.
	Preset      string  `json:"preset,omitempty"`
	Lie         string  `json:"lie,omitempty"`
	Right       float64 `json:"right,omitempty"`
	RightHonest float64 `json:"right_honest,omitempty"`
	RightSilent float64 `json:"right_silent,omitempty"`
	RateHonest  float64 `json:"steps_per_second_honest,omitempty"`
	RateSilent  float64 `json:"steps_per_second_silent,omitempty"`
	Quarantined uint64  `json:"quarantined_frames,omitempty"` // of all hosts

	Waited       float64 `json:"waited_seconds,omitempty"`
	Steady       float64 `json:"steady_steps_per_second,omitempty"`
	SteadyHonest float64 `json:"steady_steps_per_second_honest,omitempty"`

	Goals []Goal `json:"goals,omitempty"`
}

// Line is a Figure and where it was measured, a line of bench/results.
type Line struct {
	Figure
	About  string  `json:"about"` // the measurement
	Date   string  `json:"date"`
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Load   float64 `json:"load"` // average number of running processes of the last minute; -1 if unknown
	Commit string  `json:"commit"`
	Go     string  `json:"go"`
	Seed   uint64  `json:"seed"`
	Length float64 `json:"run_seconds"` // asked for
}

// goal adds what is wanted of a figure.
func (f *Figure) goal(g Goal) { f.Goals = append(f.Goals, g) }

// errEnough ends a run whose time is over.
var errEnough = errors.New("enough")
