package live

import (
	"encoding/json"
	"fmt"
	"io"
)

// Writer writes a recording of something that is over, without a hub.
type Writer struct {
	scene *Scene
	out   io.Writer
}

// NewWriter begins a recording with its scene; positions of LayoutForce are
// computed. The text belongs into a file called EventsName.
func NewWriter(w io.Writer, s Scene) (*Writer, error) {
	h, err := NewHub(s)
	if err != nil {
		return nil, err
	}
	v := &Writer{h.Scene(), w}
	return v, v.line(kindScene, v.scene)
}

// Frame adds a frame.
func (v *Writer) Frame(f *Frame) error {
	if err := v.scene.check(f); err != nil {
		return err
	}
	return v.line(kindFrame, f)
}

// Say adds words.
func (v *Writer) Say(at float64, format string, args ...any) error {
	return v.Tell(Words{Time: at, Text: fmt.Sprintf(format, args...)})
}

// Tell adds words that may be marked.
func (v *Writer) Tell(w Words) error { return v.line(kindWords, w) }

func (v *Writer) line(kind string, value any) error {
	text, err := json.Marshal(map[string]any{kind: value})
	if err != nil {
		return fmt.Errorf("live: write: %w", err)
	}
	if _, err := v.out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("live: write: %w", err)
	}
	return nil
}
