package sim

import (
	"math"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/agent"
)

// lie is a way to talk nonsense.
type lie int

const (
	noise     lie = iota // bits are flipped
	another              // frames of another run
	stranger             // frames of a host with another model
	impostor             // rows in somebody else's name
	nan                  // rows that are no numbers
	large                // rows a thousand times as long
	enormous             // rows as long as a float can say
	ahead                // rows of steps far ahead
	alternate            // now and then a row that is no number
	replays              // the first frames again, in place of others
	echoes               // and beside them
	degrees              // rows whose sender has next to no links, and would count the more
	wavering             // now this model, now another
	twoFaced             // every row once more, with other numbers
	lies
)

// recorded is how many frames a liar remembers.
const recorded = 4

var lieNames = [lies]string{
	"flipped bits", "another run", "another model", "rows of others",
	"NaN", "rows of 1e3", "rows of 3e38", "rows of the far future", "NaN now and then",
	"replays", "replays beside the truth", "tiny degrees", "now this model, now another", "rows that contradict each other",
}

// blatant lies are those that nobody else can be taken for: whoever tells nothing else
// is put in quarantine before long.
var blatant = []lie{another, nan, enormous}

func (l lie) String() string { return lieNames[l] }

// tell returns what a liar sends instead of a frame, who remembers some of its first.
func (l lie) tell(frame []byte, past [][]byte, rng *rand.Rand) [][]byte {
	switch l {
	case replays, echoes, twoFaced:
		var old []byte
		if l == twoFaced {
			old = l.alter(frame, rng)
		} else if len(past) > 0 {
			old = past[rng.IntN(len(past))]
		}
		if l == replays {
			return [][]byte{old}
		}
		return [][]byte{frame, old}
	}
	return [][]byte{l.alter(frame, rng)}
}

// alter returns a frame with something else in it.
func (l lie) alter(frame []byte, rng *rand.Rand) []byte {
	if l == noise {
		out := append([]byte(nil), frame...)
		for range 1 + rng.IntN(3) {
			out[rng.IntN(len(out))] ^= 1 << rng.IntN(8)
		}
		return out
	}
	var reader agent.Reader
	header, messages, err := reader.Read(frame)
	if err != nil {
		return frame
	}
	switch l {
	case another:
		header.Run++
	case stranger:
		header.Plan = (header.Plan + 1) & (1<<24 - 1)
	case wavering:
		header.Plan = (header.Plan + uint32(rng.IntN(2))) & (1<<24 - 1)
	}
	if l != alternate || rng.IntN(3) == 0 {
		for k := range messages {
			l.twist(&messages[k])
		}
	}
	return agent.AppendFrame(nil, header, messages)
}

// twist changes one message.
func (l lie) twist(m *agent.Message) {
	if m.Kind != agent.Row {
		return
	}
	switch l {
	case impostor:
		m.From++
	case ahead:
		m.Time += 1 << 40
	case degrees:
		m.Degree *= 1e-30
	}
	for i := range m.Values {
		switch l {
		case nan, alternate:
			m.Values[i] = float32(math.NaN())
		case large:
			m.Values[i] *= 1e3
		case enormous:
			m.Values[i] = 3e38
		case twoFaced:
			m.Values[i] = -m.Values[i] - 1
		}
	}
}
