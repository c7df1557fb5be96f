package live

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	frameGap  = time.Second / 30 // between frames that are worth making
	aloneGap  = time.Second / 5  // where nobody watches: whoever comes late sees how it went
	keptWords = 50               // that a newcomer is told
	maxReader = 64               // subscriptions at once
)

// Hub stands between one producer and those who watch. All methods are safe
// for concurrent use; none but [Subscription.Next] waits.
type Hub struct {
	commands chan Command

	mutex   sync.Mutex
	scene   *Scene
	frame   *message
	at      time.Time // when frame was published
	words   []*message
	story   *message // nil if there is none
	history history
	readers map[*Subscription]struct{}
	closed  bool
	frames  int64
	lost    int64 // by all readers so far
}

// NewHub returns a hub for a scene. It computes positions if the layout is
// LayoutForce. The scene belongs to the hub.
func NewHub(s Scene) (*Hub, error) {
	placed, err := placed(s)
	if err != nil {
		return nil, err
	}
	return &Hub{scene: placed, commands: make(chan Command, waiting), readers: map[*Subscription]struct{}{}}, nil
}

// placed returns a scene that is right, with positions.
func placed(s Scene) (*Scene, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.Layout == LayoutForce {
		s.Positions, s.Layout = place(&s), LayoutFixed
	}
	return &s, nil
}

// Scene returns what the hub shows. It is read-only.
func (h *Hub) Scene() *Scene {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.scene
}

// Show goes on with another scene, of a process in which nodes or links came up that were
// not known: it has the same curves, which keep their past. A recording ends there. The
// next frame is whole.
func (h *Hub) Show(s Scene) error {
	next, err := placed(s)
	if err != nil {
		return err
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(next.Curves) != len(h.scene.Curves) {
		return fmt.Errorf("live: scene: %d curves, there were %d", len(next.Curves), len(h.scene.Curves))
	}
	h.scene, h.frame, h.story = next, nil, nil
	for r := range h.readers {
		h.begin(r)
	}
	return nil
}

// Due says whether it is worth making a frame: the last one is a thirtieth of a
// second old, or a fifth where nobody watches.
func (h *Hub) Due() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.due()
}

func (h *Hub) due() bool {
	gap := frameGap
	if len(h.readers) == 0 {
		gap = aloneGap
	}
	return !h.closed && time.Since(h.at) >= gap
}

// Offer takes a whole frame of every step of a process that is fast: one that is
// due is shown, of others the curves are kept. It does not wait.
func (h *Hub) Offer(f *Frame) error {
	if h.Due() {
		return h.Publish(f)
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if err := h.scene.check(f); err != nil {
		return err
	}
	h.history.add(f)
	return nil
}

// Publish shows a frame, which belongs to the hub from now on. It does not
// wait: whoever is slow loses frames. A frame that does not fit the scene is an
// error and is not shown.
func (h *Hub) Publish(f *Frame) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if err := h.scene.check(f); err != nil {
		return err
	}
	if h.closed {
		return nil
	}
	if h.frame != nil {
		f.complete(h.frame.value.(*Frame))
	}
	m := &message{kind: kindFrame, value: f}
	h.frame, h.at = m, time.Now()
	h.frames++
	h.history.add(f)
	for r := range h.readers {
		h.lost += int64(r.put(m))
	}
	return nil
}

// Say tells in words what happened. Text beyond a few hundred bytes is cut.
func (h *Hub) Say(at float64, format string, args ...any) { h.Mark(at, "", format, args...) }

// Mark is Say with a few words, mark, that stand at that time in the curves.
func (h *Hub) Mark(at float64, mark, format string, args ...any) {
	h.tell(Words{Time: at, Text: cut(fmt.Sprintf(format, args...)), Mark: cut(mark)})
}

// Anew is Mark for a process that begins anew: the curves start at that time. A
// recording keeps what was before.
func (h *Hub) Anew(at float64, mark, format string, args ...any) {
	h.tell(Words{Time: at, Text: cut(fmt.Sprintf(format, args...)), Mark: cut(mark), Anew: true})
}

func (h *Hub) tell(w Words) {
	m := &message{kind: kindWords, value: w}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.closed {
		return
	}
	if w.Anew {
		h.history = history{}
	}
	h.words = append(h.words, m)
	if extra := len(h.words) - keptWords; extra > 0 {
		h.words = h.words[extra:]
	}
	for r := range h.readers {
		h.lost += int64(r.put(m))
	}
}

// cut returns text as UTF-8 of at most a few hundred bytes.
func cut(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
		for !utf8.ValidString(text) && len(text) > maxText-utf8.UTFMax {
			text = text[:len(text)-1]
		}
		text += "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// ErrClosed is what readers of a closed hub get after the last message.
var ErrClosed = errors.New("live: the hub is closed")

// errFull is what Subscribe returns when there are too many readers.
var errFull = errors.New("live: too many readers")

// Subscribe returns a reader that holds at most buffer frames, at least 1. It
// begins with the scene, the history of the curves, the latest words, the story
// and the latest frame; of a hub that is closed that is all. The caller closes it.
func (h *Hub) Subscribe(buffer int) (*Subscription, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(h.readers) >= maxReader {
		return nil, errFull
	}
	s := &Subscription{hub: h, buffer: max(buffer, 1), wake: make(chan struct{}, 1)}
	h.begin(s)
	if h.story != nil {
		s.put(h.story)
	}
	if h.frame != nil {
		s.put(h.frame)
	}
	if h.closed {
		s.end()
		return s, nil
	}
	h.readers[s] = struct{}{}
	return s, nil
}

// begin tells a reader what there is to see, and what happened. The caller locks.
func (h *Hub) begin(s *Subscription) {
	s.put(&message{kind: kindScene, value: h.scene})
	if past := h.history.copy(); past != nil {
		s.put(&message{kind: kindHistory, value: past})
	}
	for _, m := range h.words {
		s.put(m)
	}
}

// Ended says whether the hub was closed.
func (h *Hub) Ended() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.closed
}

// Stats counts what a hub did.
type Stats struct {
	Readers int
	Frames  int64 // published
	Lost    int64 // messages that readers were too slow for
}

// Stats returns the counts so far.
func (h *Hub) Stats() Stats {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return Stats{len(h.readers), h.frames, h.lost}
}

// Close says that the run has ended: nothing more is shown. Readers get the whole
// history once more, of which they saw what they were fast enough for.
func (h *Hub) Close() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	past := h.history.copy()
	for r := range h.readers {
		if past != nil {
			r.put(&message{kind: kindHistory, value: past})
		}
		r.end()
	}
	clear(h.readers)
}
