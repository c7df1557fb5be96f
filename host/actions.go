package host

import (
	"log/slog"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// Event is an input of [Machine.Step]: [Start], a [*Line] of the world, [Arrive],
// [Shown], [Tick], [Look], [Stop], [Drop], [Arm] or [Agree].
type Event interface{ event() }

// Start is the first event: the bus hears whom [Machine.Hears] names.
type Start struct{}

// Arrive is a frame from another host. The machine may keep its bytes.
type Arrive struct{ transport.Frame }

// Tick says that the time has come that Actions.Wake named. It may come early or
// late: the machine looks at the clock that it is given.
type Tick struct{}

// Shown is the record of a host that joins, which came by another way than frames:
// on a subject for all, in a certificate, in a file.
type Shown struct{ Record []byte }

// Look asks for a report; Final says that nothing will follow.
type Look struct{ Final bool }

// Stop ends the step under way with what is there: who is silent is given up, the world
// has its answer, and nodes learn from what they were told.
type Stop struct{}

func (Start) event()  {}
func (*Line) event()  {}
func (Arrive) event() {}
func (Tick) event()   {}
func (Shown) event()  {}
func (Look) event()   {}
func (Stop) event()   {}

// Actions is what one Step asks of whoever runs the machine.
type Actions struct {
	Log    []Entry            // to be logged
	Joined []*Member          // hosts that joined just now; the bus should know where they are before it is to hear them
	Hear   []transport.HostID // whom the bus is to hear from now on; nil means as before
	Frames [][]byte           // to be sent, to all hosts that hear this one; losing one is allowed
	Hail   []byte             // this host's own record, to be shown to all of the run; nil means not now
	Answer *Answer            // for the world; nil if there is none
	Ready  *Ready             // set once, when the machine is ready for the world's lines
	Report *Report            // what Look asked for
	Save   bool               // a step is over and a checkpoint due: take it from Checkpoint
	Ended  bool               // the world has
	Failed error              // the machine cannot go on

	// Changed says that another plan was agreed on, or is that of the step that begins: this
	// is to be kept on disk before anything else is done.
	Changed *Changed

	Refused error         // why a record that was shown, a Drop, Arm or Agree is not taken; nil if it is
	Wake    time.Duration // when the machine wants a Tick, after its start; 0 means never
	Busy    bool          // the world's next line should wait
}

// Ready is where a machine begins.
type Ready struct {
	Next uint64 // the first step that its nodes have not made
}

// Entry is a line for the log, for whoever runs a machine.
type Entry struct {
	Level slog.Level
	Text  string
	Args  []any // keys and values, as package slog wants them
}

// clear forgets the actions of the step before.
func (a *Actions) clear() {
	clear(a.Log)
	*a = Actions{Log: a.Log[:0], Frames: a.Frames[:0]}
}

func (h *Machine) log(level slog.Level, text string, args []any) {
	h.actions.Log = append(h.actions.Log, Entry{level, text, args})
}

func (h *Machine) debug(text string, args ...any) { h.log(slog.LevelDebug, text, args) }
func (h *Machine) info(text string, args ...any)  { h.log(slog.LevelInfo, text, args) }
func (h *Machine) warn(text string, args ...any)  { h.log(slog.LevelWarn, text, args) }

// reply begins the answer to a line of the given step.
func (h *Machine) reply(time uint64) *Answer {
	a := &h.answer
	a.Time, a.Outputs, a.Error, a.began = time, a.Outputs[:0], "", h.now
	h.date(a)
	h.actions.Answer = a
	return a
}
