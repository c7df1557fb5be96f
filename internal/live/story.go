package live

import "fmt"

// Story is what a demo keeps of its own run for those who come later, so that
// they can be told what happened: a signal with all links, one after links were
// lost, and how one node learned from then on. What has not happened yet is nil.
type Story struct {
	Before *Moment `json:"before,omitempty"`
	After  *Moment `json:"after,omitempty"`
	Opened *Opened `json:"opened,omitempty"`
}

// Moment is a signal of the story.
type Moment struct {
	Time   float64 `json:"t"`
	Shares Numbers `json:"shares"` // of right answers by learner lately, in %
	Out    []int32 `json:"out"`    // links that were lost by then
	Trial  *Trial  `json:"trial"`
}

// Opened is one node of the learner on show while it learned.
type Opened struct {
	Node    int32    `json:"node"`
	Columns int32    `json:"columns"` // of Taps: groups that the node may answer
	Trained Floats   `json:"trained"` // its taps as they were trained, as in Update
	Updates []Update `json:"updates"` // in the order of time
}

// Update is what one signal did to a node: what it heard, what it answered
// beside the model as trained, and its taps before it was told the truth.
type Update struct {
	Moment
	Heard  []Heard  `json:"heard"`  // what arrived from neighbours
	Belief []Floats `json:"belief"` // probabilities of every group: the first learner's, and of the one on show
	Error  Numbers  `json:"error"`  // cross entropy of either
	Taps   Floats   `json:"taps"`   // by hop and group: what a unit of the hop adds to the group's score
}

// Heard is a value that came from a neighbour.
type Heard struct {
	From  int32   `json:"from"`
	Value float32 `json:"value"`
}

// Tell replaces the story, for those who watch and for newcomers. It belongs to
// the hub from now on.
func (h *Hub) Tell(s *Story) error {
	m := &message{kind: kindStory, value: s}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if err := h.scene.checkStory(s); err != nil {
		return err
	}
	if h.closed {
		return nil
	}
	h.story = m
	for r := range h.readers {
		h.lost += int64(r.put(m))
	}
	return nil
}

// checkStory reports a story that does not fit the scene.
func (s *Scene) checkStory(story *Story) error {
	moments := []*Moment{story.Before, story.After}
	if o := story.Opened; o != nil {
		if !within(int(o.Node), len(s.Nodes)) || o.Columns < 1 {
			return fmt.Errorf("live: story: node %d with %d columns, there are %d nodes", o.Node, o.Columns, len(s.Nodes))
		}
		for k := range o.Updates {
			u := &o.Updates[k]
			moments = append(moments, &u.Moment)
			if len(u.Belief) != 2 || len(u.Taps)%int(o.Columns) != 0 || len(u.Taps) != len(o.Trained) {
				return fmt.Errorf("live: story: update %d has %d beliefs and %d taps in %d columns", k, len(u.Belief), len(u.Taps), o.Columns)
			}
			for _, h := range u.Heard {
				if !within(int(h.From), len(s.Nodes)) {
					return fmt.Errorf("live: story: something heard from node %d, there are %d", h.From, len(s.Nodes))
				}
			}
		}
	}
	for _, m := range moments {
		if m == nil {
			continue
		}
		if m.Trial == nil || len(m.Shares) != len(s.Learners) {
			return fmt.Errorf("live: story: a moment without a signal, or with %d shares of %d learners", len(m.Shares), len(s.Learners))
		}
		if err := s.checkTrial(m.Trial); err != nil {
			return err
		}
		for _, e := range m.Out {
			if !within(int(e), len(s.Edges)) {
				return fmt.Errorf("live: story: link %d is out, there are %d", e, len(s.Edges))
			}
		}
	}
	return nil
}
