package live

import (
	"context"
	"encoding/json"
	"sync"
)

// Kinds of messages.
const (
	kindScene   = "scene"
	kindHistory = "history"
	kindFrame   = "frame"
	kindWords   = "words"
	kindStory   = "story"
)

// message is encoded at most once, by the first reader that needs it.
type message struct {
	kind  string
	value any
	once  sync.Once
	text  []byte
}

// encode returns the message as JSON on one line.
func (m *message) encode() []byte {
	m.once.Do(func() {
		text, err := json.Marshal(m.value)
		if err != nil { // a number that is not finite where none may be
			text = []byte("null")
		}
		m.text = text
	})
	return m.text
}

// Message is something to see.
type Message struct {
	Kind string // "scene", "history", "frame", "words" or "story"
	Text []byte // JSON on one line; read-only
}

// Subscription is a reader of a hub. Next is for one goroutine at a time.
type Subscription struct {
	hub    *Hub
	buffer int

	mutex  sync.Mutex
	queue  []*message
	frames int // in the queue
	lost   int64
	ended  bool
	wake   chan struct{} // holds at most one token
}

// maxQueue bounds words and others in the queue of a reader.
const maxQueue = 256

// put adds a message and returns how many were thrown away for it: the oldest
// frame if there are too many frames, the oldest message if there is too much
// of the rest.
func (s *Subscription) put(m *message) (lost int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.queue = append(s.queue, m)
	if m.kind == kindFrame {
		s.frames++
	}
	for i := 0; i < len(s.queue) && (s.frames > s.buffer || len(s.queue) > s.buffer+maxQueue); i++ {
		old := s.queue[i]
		if old.kind == kindScene || s.frames > s.buffer && old.kind != kindFrame {
			continue
		}
		if old.kind == kindFrame {
			s.frames--
		}
		s.queue = append(s.queue[:i], s.queue[i+1:]...)
		i--
		lost++
	}
	s.lost += int64(lost)
	s.signal()
	return lost
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Next waits for the next message. It returns ErrClosed once the hub or the
// subscription is closed and everything was read.
func (s *Subscription) Next(ctx context.Context) (Message, error) {
	for {
		if m, ended := s.take(); m != nil {
			return Message{m.kind, m.encode()}, nil
		} else if ended {
			return Message{}, ErrClosed
		}
		select {
		case <-ctx.Done():
			return Message{}, ctx.Err()
		case <-s.wake:
		}
	}
}

func (s *Subscription) take() (m *message, ended bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.queue) == 0 {
		if s.ended {
			s.signal() // for the next call
		}
		return nil, s.ended
	}
	m = s.queue[0]
	s.queue[0] = nil
	s.queue = s.queue[1:]
	if m.kind == kindFrame {
		s.frames--
	}
	return m, false
}

// Lost returns how many messages the reader was too slow for.
func (s *Subscription) Lost() int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.lost
}

func (s *Subscription) end() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.ended = true
	s.signal()
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.hub.mutex.Lock()
	delete(s.hub.readers, s)
	s.hub.mutex.Unlock()
	s.end()
}
