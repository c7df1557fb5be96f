package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/script"
	"github.com/wdgnn/wdgnn/transport"
)

// scriptHost is the machine of a script, and what surrounds it.
type scriptHost struct {
	config   host.Config
	links    map[agent.NodeID][]agent.Link // of all nodes
	next     *agent.Plan                   // that the host is armed with
	machines [2]*host.Machine              // that are told the same
	born     time.Duration                 // when they were made
	now      time.Duration
	saved    []byte // the last checkpoint

	records map[transport.HostID][]byte // of hosts that come later

	sent map[transport.HostID]uint64 // frames of the other hosts so far

	wake  time.Duration // what was asked for last
	busy  bool
	trace strings.Builder
}

// hostCommands by name. "at 20ms" before one says when it happens; without, it is
// when the one before did.
var hostCommands = map[string]func(s *scriptHost, w script.Words) error{
	// 0-1 0-2:0.5 here=0 pace=lockstep stale= deadline=1s first= retry= suspect=3 exchanges=1
	// every=1h step-size=0.1 delay=0 max-norm= learns forgiving; unlinked nodes: knows=3
	"host": (*scriptHost).create,

	"line":    (*scriptHost).line,   // 0 x=(1) y=(20) only=0 links=(0-1) near=3 came=20ms: rows, perhaps targets and neighbours; came ago
	"told":    (*scriptHost).told,   // 0 y=(20): targets alone
	"row":     (*scriptHost).row,    // 1 t=0 e=0 x=(1) to= host= seq= run= plan= version=: a frame with a row of node 1
	"ask":     (*scriptHost).ask,    // 1 t=0 e=0 to=0 lost=0: a frame in which node 1 asks for a row, and says how many frames it lost
	"notyet":  (*scriptHost).notYet, // 1 t=0 e=0 to=0: a frame in which node 1 says that it has no row yet
	"arm":     (*scriptHost).arm,    // 1 step=3 exchanges=1 gain=2 reset: another model, whose taps are so many times those of this one
	"agree":   (*scriptHost).agree,  // 1 gone: all hosts are armed; or some have gone over
	"drop":    (*scriptHost).drop,   // 1: for another change
	"word":    (*scriptHost).word,   // 1 t=AGREEMENT e=HOPS plan=new: a frame in which node 1 says that it is agreed on
	"lost":    (*scriptHost).lost,   // 1: a frame of host 1 that does not come
	"tick":    func(s *scriptHost, _ script.Words) error { return s.step(host.Tick{}) },
	"until":   (*scriptHost).until, // 1s: a tick whenever one is wanted, up to then
	"end":     func(s *scriptHost, _ script.Words) error { return s.step(&host.Line{End: true}) },
	"restart": (*scriptHost).restart, // from the last checkpoint
	"join":    (*scriptHost).join,    // 5 nodes=5 links=(0-5) serial=1 run= unsigned: the record of a host is shown; with hold, made only
	"member":  (*scriptHost).member,  // 1 of=5 knows=5: a frame in which node 1 passes a record on, and says what it knows
	"look":    (*scriptHost).look,    // what was counted, and who is not waited for
}

// run carries out a line and returns its trace.
func (s *scriptHost) run(line string) (string, error) {
	s.trace.Reset()
	if rest, ok := strings.CutPrefix(line, "at "); ok {
		when, command, _ := strings.Cut(rest, " ")
		at, err := time.ParseDuration(when)
		if err != nil || at < s.now {
			return "", fmt.Errorf("time %q, want one after %v: %w", when, s.now, err)
		}
		s.now, line = at, command
	}
	name, rest, _ := strings.Cut(line, " ")
	do := hostCommands[name]
	if do == nil {
		return "", fmt.Errorf("no command is called %q", name)
	}
	if s.machines[0] == nil && name != "host" {
		return "", errors.New("a script begins with host")
	}
	err := do(s, script.Split(rest))
	return s.trace.String(), err
}

// step tells both machines what happened, and writes down what they ask for.
func (s *scriptHost) step(ev host.Event) error {
	a, b := s.machines[0].Step(s.now-s.born, ev), s.machines[1].Step(s.now-s.born, ev)
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("two machines that were told the same ask for different actions:\n%+v\n%+v", a, b)
	}
	for _, e := range a.Log {
		if e.Level > slog.LevelDebug {
			s.printf("logs %s%s", e.Text, args(e.Args))
		}
	}
	for _, m := range a.Joined {
		s.printf("joined: host %d with nodes %s", m.Host, m.Nodes)
	}
	if a.Refused != nil {
		s.printf("refused: %v", a.Refused)
	}
	if a.Hail != nil {
		s.printf("shows its own record to all")
	}
	s.changes(a)
	if a.Hear != nil {
		s.hears(a.Hear)
	}
	for _, f := range a.Frames {
		if err := s.sends(f); err != nil {
			return err
		}
	}
	if a.Answer != nil {
		s.answers(a.Answer)
	}
	if a.Ready != nil {
		s.ready(a.Ready)
	}
	if a.Save {
		if err := s.save(); err != nil {
			return err
		}
	}
	if a.Ended {
		s.printf("ended")
	}
	if a.Failed != nil {
		s.printf("failed: %v", a.Failed)
	}
	s.waits(a)
	if a.Report != nil {
		s.report(a.Report)
	}
	return nil
}

func (s *scriptHost) printf(format string, args ...any) {
	fmt.Fprintf(&s.trace, "%-7v "+format+"\n", append([]any{s.now}, args...)...)
}

// args writes keys and values of a line for the log.
func args(list []any) string {
	var words []string
	for pair := range slices.Chunk(list, 2) {
		words = append(words, fmt.Sprintf("%v=%v", pair[0], pair[1]))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, " ") + ")"
}

func (s *scriptHost) hears(hosts []transport.HostID) {
	s.printf("hears hosts %s", strings.Trim(fmt.Sprint(hosts), "[]"))
}

// sends writes down the messages of a frame. What is said about λmax goes to those
// who measure it with the machine.
func (s *scriptHost) sends(frame []byte) error {
	header, messages, err := new(agent.Reader).Read(frame)
	if err != nil {
		return err
	}
	for _, m := range messages {
		text := m.String()
		if m.Kind == agent.Row {
			text += " (" + script.Numbers(m.Values) + ")"
		}
		s.printf("sends #%d %s", header.Sequence, text)
	}
	return nil
}

func (s *scriptHost) answers(a *host.Answer) {
	line := fmt.Sprintf("answers t=%d", a.Time)
	for _, o := range a.Outputs {
		line += fmt.Sprintf(" %d:(%s)", o.Node, script.Numbers(o.Value))
	}
	if a.Error != "" {
		line += " error: " + a.Error
	}
	s.printf("%s", line)
}

func (s *scriptHost) ready(r *host.Ready) {
	s.printf("ready for step %d", r.Next)
}

// waits writes down when the machine wants to be woken and whether the world must
// wait, if that has changed.
func (s *scriptHost) waits(a *host.Actions) {
	wake := a.Wake
	if wake > 0 {
		wake += s.born
	}
	if wake == s.wake && a.Busy == s.busy {
		return
	}
	s.wake, s.busy = wake, a.Busy
	switch {
	case wake == 0:
		s.printf("waits for the world")
	case a.Busy:
		s.printf("wake at %v; the world waits", wake)
	default:
		s.printf("wake at %v", wake)
	}
}

// save takes the checkpoint that is due.
func (s *scriptHost) save() error {
	var texts [2][]byte
	for k, m := range s.machines {
		c := m.Checkpoint()
		var err error
		if texts[k], err = json.Marshal(c); err != nil {
			return err
		}
		if k == 0 {
			s.printf("saves step %d", c.Time)
		}
	}
	if s.saved = texts[0]; string(texts[0]) != string(texts[1]) {
		return fmt.Errorf("two machines that were told the same have different checkpoints:\n%s\n%s", texts[0], texts[1])
	}
	return nil
}

// report writes down what was counted.
func (s *scriptHost) report(r *host.Report) {
	s.printf("host t=%d%s", r.Time, counts(r.Stats))
	s.printf("nodes%s", counts(r.Agents))
	if len(r.Silent) > 0 {
		s.printf("nodes that are not waited for: %s", strings.Trim(fmt.Sprint(r.Silent), "[]"))
	}
	if r.Unlinked {
		s.printf("nobody has said whom nodes hear")
	}
	if len(r.Differ) > 0 {
		s.printf("hosts that run something else: %s", strings.Trim(fmt.Sprint(r.Differ), "[]"))
	}
	for _, a := range r.Apart {
		s.printf("host %d is %+d steps from here", a.Host, a.Steps)
	}
	for _, j := range r.Joined {
		s.printf("host %d joined with nodes %s, heard %v", j.Host, j.Nodes, j.Heard)
	}
	for _, q := range r.Quarantine {
		s.printf("host %d is in quarantine for the %d. time: %s, %vs so far, %vs to go, %d frames not used, evidence %v",
			q.Host, q.Times, q.Why, q.Seconds, q.Left, q.Frames, q.Evidence)
	}
	if r.Kept > 0 {
		s.printf("frames of later steps: %d bytes", r.Kept)
	}
	for _, node := range slices.Sorted(maps.Keys(r.Params)) {
		if p := r.Params[node]; p != nil {
			s.printf("parameters of %d: (%s)", node, script.Numbers(p))
		}
	}
}

// counts writes the numbers of a struct that are not 0.
func counts(stats any) string {
	line, v := "", reflect.ValueOf(stats)
	for k := range v.NumField() {
		if c := v.Field(k).Uint(); c > 0 {
			name, _, _ := strings.Cut(v.Type().Field(k).Tag.Get("json"), ",")
			line += fmt.Sprintf(" %s=%d", name, c)
		}
	}
	return line
}
