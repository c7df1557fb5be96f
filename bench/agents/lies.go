package agents

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
)

// lie is what a host tells its neighbours in place of the truth.
type lie struct {
	name  string // on a command line
	words string

	// tell returns what is sent in place of a frame; nil sends the frame.
	tell func(l *liar, frame []byte) [][]byte

	// twist changes a row, and with it whoever tells nothing else.
	twist func(l *liar, m *agent.Message, row, params []float32)

	// labels says that the truth is told of what was learned from wrong labels.
	labels bool
}

// blatantLies are such as no honest host tells, plausibleLies such as it might.
var (
	truth   = lie{name: "truth", words: "nobody lies"}
	silence = lie{name: "silence", words: "a host says nothing", tell: func(*liar, []byte) [][]byte { return nil }}

	blatantLies = []lie{
		{name: "bounds", words: "rows of a million", twist: rows(func(_ *liar, row []float32) { fill(row, 1e6) })},
		{name: "numbers", words: "rows of NaN", twist: rows(func(_ *liar, row []float32) { fill(row, float32(math.NaN())) })},
		{name: "replay", words: "its first 40 frames again and again", tell: func(l *liar, f []byte) [][]byte { return [][]byte{l.old(f)} }},
		{name: "echo", words: "its first 40 frames beside the truth", tell: func(l *liar, f []byte) [][]byte { return [][]byte{f, l.old(f)} }},
		{name: "degree", words: "degrees of 1e-30", twist: func(_ *liar, m *agent.Message, _, _ []float32) { m.Degree *= 1e-30 }},
		{name: "model", words: "frames of another model", tell: func(l *liar, f []byte) [][]byte { return l.header(f, 1) }},
		{name: "waver", words: "every other frame of another model", tell: func(l *liar, f []byte) [][]byte { return l.header(f, l.frames%2) }},
		{name: "impostor", words: "rows in the name of others", twist: func(l *liar, m *agent.Message, _, _ []float32) { m.From = l.other }},
		{name: "malformed", words: "frames that cannot be read", tell: func(_ *liar, f []byte) [][]byte { return [][]byte{f[:len(f)-1]} }},
	}

	plausibleLies = []lie{
		{name: "half-degree", words: "half of each degree", twist: func(_ *liar, m *agent.Message, _, _ []float32) { m.Degree /= 2 }},
		{name: "negated-rows", words: "rows times -1", twist: rows(func(_ *liar, row []float32) { scale(row, -1) })},
		{name: "long-rows", words: "rows times 3", twist: rows(func(_ *liar, row []float32) { scale(row, 3) })},
		{name: "random-rows", words: "random rows as long as the true ones", twist: rows((*liar).shuffle)},
		{name: "stuck-rows", words: "the first rows for ever", twist: func(l *liar, m *agent.Message, row, _ []float32) { l.stick(m, row) }},
		{name: "negated-parameters", words: "parameters times -1", twist: params(func(_ *liar, p []float32) { scale(p, -1) })},
		{name: "long-parameters", words: "parameters times 5", twist: params(func(_ *liar, p []float32) { scale(p, 5) })},
		{name: "random-parameters", words: "random parameters as long as the true ones", twist: params((*liar).shuffle)},
		{name: "wrong-labels", words: "what it learned from wrong labels", labels: true},
	}
)

// rows is a lie about rows alone, params one about parameters.
func rows(do func(l *liar, row []float32)) func(*liar, *agent.Message, []float32, []float32) {
	return func(l *liar, _ *agent.Message, row, _ []float32) { do(l, row) }
}

func params(do func(l *liar, p []float32)) func(*liar, *agent.Message, []float32, []float32) {
	return func(l *liar, _ *agent.Message, _, p []float32) { do(l, p) }
}

// allLies returns every lie, the truth first.
func allLies() []lie {
	return append(append([]lie{truth, silence}, blatantLies...), plausibleLies...)
}

func fill(v []float32, x float32) {
	for k := range v {
		v[k] = x
	}
}

func scale(v []float32, by float32) {
	for k := range v {
		v[k] *= by
	}
}

// liar is a bus that tells lies.
type liar struct {
	transport.Bus
	lie    lie
	inputs int          // numbers of a row of exchange 0
	other  agent.NodeID // that is another host's
	lies   bool         // by now
	frames uint32
	first  [][]byte
	stuck  map[[2]uint32][]float32
	reader agent.Reader
	rng    *rand.Rand
}

const (
	remembered = 40 // frames that a liar records, to say them again
	honestTill = 50 // the step in which it begins to lie: all are up by then
)

// Send implements [transport.Bus].
func (l *liar) Send(frame []byte) error {
	l.frames++
	if len(l.first) < remembered {
		l.first = append(l.first, append([]byte(nil), frame...))
	}
	out := [][]byte{frame}
	switch {
	case !l.begun(frame):
	case l.lie.tell != nil:
		out = l.lie.tell(l, frame)
	case l.lie.twist != nil:
		out = l.twisted(frame)
	}
	var errs []error
	for _, f := range out {
		errs = append(errs, l.Bus.Send(f))
	}
	return errors.Join(errs...)
}

// begun says whether the time has come to lie.
func (l *liar) begun(frame []byte) bool {
	if !l.lies {
		_, messages, err := l.reader.Read(frame)
		l.lies = err == nil && slices.ContainsFunc(messages, func(m agent.Message) bool { return m.Time >= honestTill })
	}
	return l.lies
}

// twisted returns a frame whose rows say something else.
func (l *liar) twisted(frame []byte) [][]byte {
	header, messages, err := l.reader.Read(frame)
	if err != nil {
		return [][]byte{frame}
	}
	for k := range messages {
		m := &messages[k]
		if m.Kind != agent.Row {
			continue
		}
		width := len(m.Values)
		if m.Exchange == 0 {
			width = min(l.inputs, width)
		}
		l.lie.twist(l, m, m.Values[:width], m.Values[width:])
	}
	return [][]byte{agent.AppendFrame(nil, header, messages)}
}

// old returns a frame of the beginning, once there are enough.
func (l *liar) old(frame []byte) []byte {
	if len(l.first) < remembered {
		return frame
	}
	return l.first[l.frames%remembered]
}

// header returns a frame of another model, by so much.
func (l *liar) header(frame []byte, other uint32) [][]byte {
	header, messages, err := l.reader.Read(frame)
	if err != nil {
		return [][]byte{frame}
	}
	header.Plan = (header.Plan + other) & (1<<24 - 1)
	return [][]byte{agent.AppendFrame(nil, header, messages)}
}

// shuffle puts random numbers in the place of others, as long as they were.
func (l *liar) shuffle(v []float32) {
	sum, own := 0.0, 0.0
	for k := range v {
		sum += float64(v[k]) * float64(v[k])
		v[k] = float32(l.rng.NormFloat64())
		own += float64(v[k]) * float64(v[k])
	}
	if own > 0 {
		scale(v, float32(math.Sqrt(sum/own)))
	}
}

// stick says the first row of a node and exchange again.
func (l *liar) stick(m *agent.Message, row []float32) {
	key := [2]uint32{uint32(m.From), uint32(m.Exchange)}
	if old := l.stuck[key]; len(old) == len(row) {
		copy(row, old)
		return
	}
	l.stuck[key] = append([]float32(nil), row...)
}

// Lie runs the box of a configuration, whose world comes in lines, as one that tells
// the lie of that name.
func Lie(ctx context.Context, name, config string, in io.Reader, out, log io.Writer) error {
	c, err := box.Load(config)
	if err != nil {
		return err
	}
	path := c.Model
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(config), path)
	}
	m, err := modelfile.Load(path)
	if err != nil {
		return err
	}
	var names []string
	for _, a := range allLies() {
		if names = append(names, a.name); a.name != name {
			continue
		}
		other, err := host.ParseNodes(c.Hosts[(c.Host+1)%transport.HostID(len(c.Hosts))].Nodes)
		if err != nil {
			return err
		}
		l := &liar{lie: a, inputs: m.Network.Config.In, other: other[0], stuck: map[[2]uint32][]float32{}, rng: random.Stream(1, "liar")}
		s := box.Streams{In: in, Out: out, Log: slog.New(slog.NewTextHandler(log, nil))}
		s.Given.Bend = func(b transport.Bus) transport.Bus {
			l.Bus = b
			return l
		}
		if a.labels {
			s.In = mislabelled(in, m.Network.Outputs())
		}
		return box.Run(ctx, c, s)
	}
	return fmt.Errorf("no lie is called %q; there are %s", name, strings.Join(names, ", "))
}

// mislabelled passes lines of a world on with other classes.
func mislabelled(in io.Reader, classes int) io.Reader {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 64<<20)
		to := json.NewEncoder(w)
		for lines.Scan() {
			var l host.Line
			if json.Unmarshal(lines.Bytes(), &l) != nil {
				continue
			}
			for k := range l.Nodes {
				for c, label := range l.Nodes[k].Target {
					l.Nodes[k].Target[c] = float32((int(label) + 1) % classes)
				}
			}
			if to.Encode(&l) != nil {
				return // nobody reads any more
			}
		}
		w.CloseWithError(lines.Err())
	}()
	return r
}
