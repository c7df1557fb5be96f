package agents

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
)

// notes keeps what is sent.
type notes struct {
	transport.Bus
	frames [][]byte
}

func (n *notes) Send(frame []byte) error {
	n.frames = append(n.frames, slices.Clone(frame))
	return nil
}

// Every lie has a name of its own, and tells something else than the truth, or learned
// it; the truth is told to the bit.
func TestLiesAreTold(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range allLies() {
		if a.name == "" || a.words == "" || seen[a.name] {
			t.Errorf("%q: %q, want a name of its own and words", a.name, a.words)
		}
		seen[a.name] = true
		bus := &notes{}
		l := &liar{Bus: bus, lie: a, inputs: 1, other: 9, stuck: map[[2]uint32][]float32{}, rng: random.Stream(1, "liar")}
		var truths [][]byte
		for k := range 2 * remembered {
			m := agent.Message{
				From: 3, To: agent.Everyone, Time: uint64(k + honestTill/2), Kind: agent.Row, Links: 2, Degree: 2,
				Values: []float32{float32(k + 1), 2, 3},
			}
			truths = append(truths, agent.AppendFrame(nil, agent.Header{Run: 1, Plan: 2, Host: 1, Sequence: uint64(k + 1)}, []agent.Message{m}))
			if err := l.Send(truths[k]); err != nil {
				t.Fatal(err)
			}
		}
		same := slices.EqualFunc(bus.frames, truths, bytes.Equal)
		if want := a.name == "truth" || a.labels; same != want {
			t.Errorf("%s: %d frames, the same as the truth: %t, want %t", a.name, len(bus.frames), same, want)
		}
	}
}

// A lie within bounds is as long as the truth.
func TestShuffleKeepsLength(t *testing.T) {
	l := &liar{rng: random.Stream(1, "liar")}
	v := []float32{3, 0, 4}
	l.shuffle(v)
	if got := math.Hypot(float64(v[0]), math.Hypot(float64(v[1]), float64(v[2]))); math.Abs(got-5) > 1e-4 || v[0] == 3 {
		t.Errorf("got %v of length %v, want something else of length 5", v, got)
	}
}

// A host that is told wrong labels hears all else as it is.
func TestMislabelled(t *testing.T) {
	in := `{"time":7,"nodes":[{"node":3,"row":[0.5],"target":[4]},{"node":5,"row":[1]}]}` + "\n"
	text, err := io.ReadAll(mislabelled(strings.NewReader(in), 5))
	if err != nil {
		t.Fatal(err)
	}
	var l host.Line
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	if l.Time != 7 || len(l.Nodes) != 2 || l.Nodes[0].Row[0] != 0.5 || l.Nodes[0].Target[0] != 0 || l.Nodes[1].Target != nil {
		t.Errorf("got %s, want class 0 in place of 4 and nothing else changed", text)
	}
}
