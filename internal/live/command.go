package live

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// waiting is how many commands may wait for the producer.
const waiting = 16

// Command is what somebody who watches asks for.
type Command struct {
	Name  string  `json:"name"`  // of a control of the scene
	Value float64 `json:"value"` // of a switch, a range or a choice
	Node  int     `json:"node"`  // of a control of nodes
}

// Errors of commands.
var (
	errRefused = errors.New("live: the command is refused") // the scene has no such control, or not this value
	ErrBusy    = errors.New("live: too many commands are waiting")
)

// Command hands a command to the producer, if the scene allows it. It does not
// wait for it to be carried out.
func (h *Hub) Command(c Command) error {
	if err := h.Scene().allows(c); err != nil {
		return err
	}
	select {
	case h.commands <- c:
		return nil
	default:
		return ErrBusy
	}
}

// Commands is where the producer finds what is asked of it. The channel is
// never closed.
func (h *Hub) Commands() <-chan Command { return h.commands }

// allows reports why a command is refused, or nil.
func (s *Scene) allows(c Command) error {
	for _, k := range s.Controls {
		if k.Name != c.Name {
			continue
		}
		switch {
		case k.Kind == KindNode && !within(c.Node, len(s.Nodes)):
			return fmt.Errorf("%w: %s: node %d, there are %d", errRefused, k.Name, c.Node, len(s.Nodes))
		case k.Kind == KindSwitch && c.Value != 0 && c.Value != 1:
			return fmt.Errorf("%w: %s is %v, want 0 or 1", errRefused, k.Name, c.Value)
		case k.Kind == KindChoice && !k.offers(c.Value):
			return fmt.Errorf("%w: %s is %v, want %s", errRefused, k.Name, c.Value, k.choices())
		case k.Kind == KindRange && !(c.Value >= k.Low && c.Value <= k.High):
			return fmt.Errorf("%w: %s is %v, want %v to %v", errRefused, k.Name, c.Value, k.Low, k.High)
		}
		return nil
	}
	return fmt.Errorf("%w: nothing is called %.40q here", errRefused, c.Name)
}

// offers says whether a value is the number of an option that may be chosen.
func (c *Control) offers(v float64) bool {
	return v >= max(c.Low, 0) && v < float64(len(c.Options)) && v == math.Trunc(v)
}

// choices lists the options that may be chosen, each with its number.
func (c *Control) choices() string {
	var list []string
	for k := int(c.Low); k < len(c.Options); k++ {
		list = append(list, fmt.Sprintf("%d (%s)", k, c.Options[k]))
	}
	return strings.Join(list, ", ")
}
