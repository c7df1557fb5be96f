package box_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

var olderProgram = flag.String("older", "", "path of an earlier wdgnn-agent, to record testdata/older anew")

// olderLives are how many steps the recorded boxes made in each of their lives: they
// were started twice, the second time with the checkpoint of the first.
var olderLives = []int{6, 6}

const older = "testdata/older"

// A box of this program that has one of an earlier program for a neighbour says to it
// what the earlier one said, and answers what it answered, bit for bit; at the second
// start from the checkpoint that the earlier one wrote. Its own checkpoint holds all
// that the earlier one's does, so that there is a way back. In the first life gates
// limit answers, which the earlier program rounded otherwise: there the bits of what
// nodes learn and say are compared, and not those of answers.
func TestOlderNeighbour(t *testing.T) {
	if mat.Family() != "fused" {
		t.Skipf("SKIPPED %s: kernels are %s, and bits were recorded with fused ones", t.Name(), mat.Kernels())
	}
	for life := range olderLives {
		t.Run(fmt.Sprintf("life %d", life), func(t *testing.T) {
			dir, recorded := t.TempDir(), filepath.Join(older, fmt.Sprintf("life-%d", life))
			for _, name := range []string{"agent.yaml", "model.safetensors"} {
				copyFile(t, filepath.Join(older, name), filepath.Join(dir, name))
			}
			if life > 0 {
				check(t, os.CopyFS(filepath.Join(dir, "state"), os.DirFS(filepath.Join(older, "state"))))
			}
			c, err := box.Load(filepath.Join(dir, "agent.yaml"))
			check(t, err)
			lines, err := os.ReadFile(filepath.Join(recorded, "lines.jsonl"))
			check(t, err)
			bus := newPlayback(readFrames(t, filepath.Join(recorded, "frames-1")))
			join := func(transport.HostID) (transport.Bus, error) { return bus, nil }
			var out syncBuffer
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			check(t, box.Run(ctx, c, box.Streams{In: bytes.NewReader(lines), Out: &out, Given: box.Given{Join: join}}))
			check(t, ctx.Err())

			want, err := os.ReadFile(filepath.Join(recorded, "answers.jsonl"))
			check(t, err)
			if got, want := answersIn(t, []byte(out.String())), answersIn(t, want); life > 0 && !reflect.DeepEqual(got, want) {
				t.Errorf("answers: got %v, want those of the earlier program %v", got, want)
			}
			sent, said := knownMessages(t, bus.sent), knownMessages(t, readFrames(t, filepath.Join(recorded, "frames-0")))
			if !reflect.DeepEqual(sent, said) {
				t.Errorf("frames: got %d that are other than the %d of the earlier program", len(sent), len(said))
			}
			if life == 0 { // the next begins with what this one left
				sameMemory(t, "checkpoint", lastCheckpoint(t, filepath.Join(older, "state")), lastCheckpoint(t, filepath.Join(dir, "state")))
			}
		})
	}
}

// lastCheckpoint returns what lies in a folder of checkpoints.
func lastCheckpoint(t *testing.T, folder string) (c any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "snapshot-*"))
	check(t, err)
	if len(files) == 0 {
		t.Fatalf("%s: no checkpoint", folder)
	}
	text, err := os.ReadFile(slices.Max(files))
	check(t, err)
	_, body, _ := bytes.Cut(text, []byte("\n"))
	check(t, json.Unmarshal(body, &c))
	return c
}

// sameMemory checks that everything which an earlier program wrote is there, and the
// same: it can then read it, passing over what came later. Counts depend on the moment
// at which frames come, and numbers of answers on how those that gates limit are rounded.
func sameMemory(t *testing.T, at string, was, is any) {
	t.Helper()
	switch was := was.(type) {
	case map[string]any:
		now, ok := is.(map[string]any)
		for key := range was {
			if key != "stats" {
				sameMemory(t, at+"."+key, was[key], now[key])
			}
		}
		if !ok {
			t.Errorf("%s: got %v, want %v", at, is, was)
		}
	case []any:
		now, ok := is.([]any)
		if !ok || len(now) != len(was) {
			t.Errorf("%s: got %v, want %v", at, is, was)
			return
		}
		for k := range was {
			sameMemory(t, fmt.Sprintf("%s[%d]", at, k), was[k], now[k])
		}
	default:
		if was != is && (is == nil || !strings.Contains(at, ".answers.")) {
			t.Errorf("%s: got %v, want %v", at, is, was)
		}
	}
}

// playback is a bus over which a recorded host speaks: its frames of an exchange
// arrive when this host has sent its own.
type playback struct {
	mu     sync.Mutex
	frames [][]byte // that have not arrived
	sent   [][]byte
	inbox  chan transport.Frame
	closed bool
}

func newPlayback(frames [][]byte) *playback {
	return &playback{frames: frames, inbox: make(chan transport.Frame, len(frames))}
}

func (p *playback) Send(frame []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return transport.ErrClosed
	}
	p.sent = append(p.sent, bytes.Clone(frame))
	for now := moment(frame); len(p.frames) > 0 && moment(p.frames[0]) <= now; p.frames = p.frames[1:] {
		p.inbox <- transport.Frame{From: 1, Data: p.frames[0]}
	}
	return nil
}

// moment returns step and exchange of a frame, in their order.
func moment(frame []byte) uint64 {
	var r agent.Reader
	_, messages, err := r.Read(frame)
	if err != nil || len(messages) == 0 {
		return 0
	}
	return messages[0].Time<<16 | uint64(messages[0].Exchange)
}

func (p *playback) Hear([]transport.HostID) error  { return nil }
func (p *playback) Frames() <-chan transport.Frame { return p.inbox }
func (p *playback) Stats() transport.Stats         { return transport.Stats{} }

func (p *playback) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		close(p.inbox)
	}
	return nil
}

// answersIn returns the answers among lines that a box printed.
func answersIn(t *testing.T, lines []byte) (list []host.Answer) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var s spoken
		check(t, json.Unmarshal(line, &s))
		if s.Report == nil {
			list = append(list, s.Answer)
		}
	}
	return list
}

// lastKind is that of the messages which the recorded program knew.
const lastKind = agent.NotYet

// knownMessages returns frames without messages of later kinds, as bytes.
func knownMessages(t *testing.T, frames [][]byte) (list [][]byte) {
	t.Helper()
	for _, frame := range frames {
		var r agent.Reader
		h, messages, err := r.Read(frame)
		check(t, err)
		var known []agent.Message
		for _, m := range messages {
			if m.Kind <= lastKind {
				known = append(known, m)
			}
		}
		if h.Sequence = 0; len(known) > 0 {
			list = append(list, agent.AppendFrame(nil, h, known))
		}
	}
	return list
}

// readFrames reads frames, each behind its length.
func readFrames(t *testing.T, path string) (frames [][]byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	for len(text) > 0 {
		size := binary.LittleEndian.Uint32(text)
		frames, text = append(frames, text[4:4+size]), text[4+size:]
	}
	return frames
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	check(t, err)
	check(t, os.MkdirAll(filepath.Dir(to), 0o755))
	check(t, os.WriteFile(to, text, 0o644))
}

// With -older, boxes of an earlier program are recorded: what two of them say to each
// other and answer to a world, in two lives.
func TestRecordOlder(t *testing.T) {
	if *olderProgram == "" {
		t.Skipf("SKIPPED %s: it records testdata/older anew, with -older PATH of an earlier wdgnn-agent", t.Name())
	}
	f := newFixture(t, graph.ShiftRowStochastic, false)
	s, err := broker.Start(broker.Config{})
	check(t, err)
	defer s.Stop()
	tap, err := natsbus.Dial(t.Context(), natsbus.Config{URL: s.URL(), Run: "test", Host: 2})
	check(t, err)
	defer tap.Close()
	check(t, tap.Hear([]transport.HostID{0, 1}))
	check(t, tap.Flush(t.Context()))
	var configs []string
	for id := range 2 {
		c := f.config(id, 2)
		c.Bus = box.Bus{Kind: box.BusNATS, URL: s.URL()}
		c.World = box.World{Kind: box.WorldLines}
		c.Pace.Retry, c.Pace.Linger, c.State, c.Hear = -1, 0, fmt.Sprintf("state-%d", id), []transport.HostID{transport.HostID(1 - id)}
		configs = append(configs, f.write(t, c))
		if id == 0 {
			c.Bus.URL, c.State = "nats://127.0.0.1:4222", "state" // which nobody asks
			copyFile(t, f.write(t, c), filepath.Join(older, "agent.yaml"))
			c.Bus.URL, c.State = s.URL(), "state-0"
			f.write(t, c)
		}
	}
	copyFile(t, f.path("model.safetensors"), filepath.Join(older, "model.safetensors"))
	from := 0
	for life, count := range olderLives {
		recordLife(t, f, tap, configs, from, count, filepath.Join(older, fmt.Sprintf("life-%d", life)))
		if from += count; life == 0 {
			check(t, os.RemoveAll(filepath.Join(older, "state")))
			files, err := filepath.Glob(f.path("state-0/snapshot-*"))
			check(t, err)
			for _, file := range files {
				copyFile(t, file, filepath.Join(older, "state", filepath.Base(file)))
			}
		}
	}
}

// recordLife plays steps to two processes and keeps what they said.
func recordLife(t *testing.T, f *fixture, tap *natsbus.Conn, configs []string, from, count int, folder string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	all := make([]*recorded, len(configs))
	for id, config := range configs {
		all[id] = startRecorded(ctx, t, config)
	}
	for _, r := range all { // nobody speaks before all hear
		for line := range r.lines {
			if bytes.Contains(line, []byte(`"report"`)) {
				break
			}
		}
	}
	var said bytes.Buffer
	for step := from; step < from+count; step++ {
		for id, r := range all {
			own := everybody()[id*nodes/2 : (id+1)*nodes/2]
			line := f.line(step, own...) + "\n"
			if id == 0 {
				said.WriteString(line)
			}
			_, err := io.WriteString(r.in, line)
			check(t, err)
		}
	}
	check(t, os.MkdirAll(folder, 0o755))
	check(t, os.WriteFile(filepath.Join(folder, "lines.jsonl"), said.Bytes(), 0o644))
	for id, r := range all {
		r.in.Close()
		var answers []byte
		for line := range r.lines {
			if !bytes.Contains(line, []byte(`"report"`)) {
				answers = append(append(answers, line...), '\n')
			}
		}
		check(t, r.cmd.Wait())
		if id == 0 {
			check(t, os.WriteFile(filepath.Join(folder, "answers.jsonl"), answers, 0o644))
		}
	}
	check(t, tap.Flush(ctx))
	files := map[transport.HostID][]byte{}
	for waiting := len(tap.Frames()); waiting > 0; waiting-- {
		frame := <-tap.Frames()
		files[frame.From] = append(binary.LittleEndian.AppendUint32(files[frame.From], uint32(len(frame.Data))), frame.Data...)
	}
	for id, text := range files {
		check(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("frames-%d", id)), text, 0o644))
	}
}

// recorded is a process of an earlier program.
type recorded struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte
}

func startRecorded(ctx context.Context, t *testing.T, config string) *recorded {
	t.Helper()
	r := &recorded{cmd: exec.CommandContext(ctx, *olderProgram, "--config", config), lines: make(chan []byte, 1000)}
	in, err1 := r.cmd.StdinPipe()
	out, err2 := r.cmd.StdoutPipe()
	check(t, errors.Join(err1, err2, r.cmd.Start()))
	r.in = in
	go func() {
		defer close(r.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			r.lines <- bytes.Clone(s.Bytes())
		}
	}()
	return r
}
