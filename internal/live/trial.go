package live

import "fmt"

// Trial is one signal of a demo, looked at closely: where it started, how it
// spread, and what every learner answered.
type Trial struct {
	Source  int32     `json:"source"`  // the node where it started
	Truth   int32     `json:"truth"`   // the group of that node, which is the right answer
	Hops    []Floats  `json:"hops"`    // by step and node, how it spread; the last is what the models were shown
	Answers [][]int32 `json:"answers"` // by learner and node: the group that it believes in, -1 where it says nothing
	Shown   int32     `json:"shown"`   // the learner that stands beside the first
}

// checkTrial reports a trial that does not fit the scene.
func (s *Scene) checkTrial(t *Trial) error {
	n := len(s.Nodes)
	switch {
	case t == nil:
		return nil
	case !within(int(t.Source), n):
		return fmt.Errorf("live: trial: it starts at node %d, there are %d", t.Source, n)
	case len(t.Answers) != len(s.Learners) || !within(int(t.Shown), len(s.Learners)):
		return fmt.Errorf("live: trial: answers of %d learners with number %d on show, the scene has %d",
			len(t.Answers), t.Shown, len(s.Learners))
	}
	for _, v := range t.Hops {
		if len(v) != n {
			return fmt.Errorf("live: trial: a step of %d nodes, the scene has %d", len(v), n)
		}
	}
	for _, v := range t.Answers {
		if len(v) != n {
			return fmt.Errorf("live: trial: answers of %d nodes, the scene has %d", len(v), n)
		}
	}
	return nil
}
