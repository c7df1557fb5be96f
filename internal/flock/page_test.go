package flock

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// The page is well-formed, asks nothing of the network and holds the flight.
func TestPage(t *testing.T) {
	p := somePlan()
	p.Online, p.Gamma = OnlineCentralized, 0.1
	p.World.Faults.Stops = []flocking.Stop{{Robot: 1, Step: 4}}
	r := fly(t, p)
	var b bytes.Buffer
	if err := r.Recording.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if found := regexp.MustCompile(`(?i)https?:|//[a-z0-9.-]+\.[a-z]|\b(src|href)\s*=|url\(|@import|\bfetch\(|XMLHttpRequest|WebSocket|import\(`).FindString(text); found != "" {
		t.Errorf("the page contains %q", found)
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	var flight []byte
	inside := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inside = x.Name.Local == "script" && hasAttr(x, "id", "flight")
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				flight = append(flight, x...)
			}
		}
	}
	var data pageFlightRead
	if err := json.Unmarshal(flight, &data); err != nil {
		t.Fatal(err)
	}
	if data.Robots != 12 || data.Frames != 30 || len(data.Curves) != 3 || len(data.Stops) != 1 || len(data.Moved) != 30 {
		t.Errorf("got %d robots, %d frames, %d curves, %d stops", data.Robots, data.Frames, len(data.Curves), len(data.Stops))
	}
	raw, err := base64.StdEncoding.DecodeString(data.States)
	if err != nil || len(raw) != 12*30*4*2 {
		t.Fatalf("got %d bytes of states, %v, want %d", len(raw), err, 12*30*4*2)
	}
	for k, f := range r.Recording.Frames {
		for i, want := range f.Position {
			for c := range want {
				v := binary.LittleEndian.Uint16(raw[2*(4*(12*k+i)+c):])
				if got := data.Low[c] + float64(v)/math.MaxUint16*data.Span[c]; math.Abs(got-want[c]) > data.Span[c]/65535 {
					t.Fatalf("frame %d, robot %d: got %v, want %v", k, i, got, want[c])
				}
			}
		}
	}
}

type pageFlightRead struct {
	Robots, Frames int
	States         string
	Low, Span      [2]float64
	Stops          []flocking.Stop
	Curves         []struct{ Values []float64 }
	Moved          []float64
}

func hasAttr(x xml.StartElement, name, value string) bool {
	for _, a := range x.Attr {
		if a.Name.Local == name && a.Value == value {
			return true
		}
	}
	return false
}

// A page of the paper's flight is small enough to send, and so is one of a
// large team.
func TestPageSize(t *testing.T) {
	for _, c := range []struct{ robots, steps, most int }{{50, 200, 2 << 20}, {1000, 40, 2 << 20}, {400, 1000, 2 << 20}} {
		w := flocking.Default()
		w.Robots, w.DurationSeconds = c.robots, float64(c.steps)*w.SampleSeconds
		tape := newRecording(w)
		s, err := flocking.New(w, random.Stream(1, "size"))
		if err != nil {
			t.Fatal(err)
		}
		tape.Learned = &flocking.Flight{}
		for step := range c.steps {
			tape.Learned.Watch(s)
			if step%tape.Stride == 0 {
				tape.Frames = append(tape.Frames, Frame{Step: step, Position: s.Positions(), Velocity: s.Velocities()})
			}
		}
		tape.Expert = tape.Learned
		var b bytes.Buffer
		if err := tape.WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		if b.Len() > c.most {
			t.Errorf("%d robots, %d steps: got %d bytes, want at most %d", c.robots, c.steps, b.Len(), c.most)
		}
	}
}
