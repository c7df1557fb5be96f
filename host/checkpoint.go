package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Checkpoint is what a host keeps on disk, as JSON: all that its nodes remember
// between two steps.
type Checkpoint struct {
	Version int            `json:"version"`
	Run     string         `json:"run"`
	Time    uint64         `json:"time"` // of the last step
	Nodes   []agent.Memory `json:"nodes"`

	// Members are the records of hosts that came later.
	Members [][]byte `json:"members,omitempty"`

	// Links are those that the world has said; empty if it never did.
	Links map[agent.NodeID][]Link `json:"links,omitempty"`

	// Beat is after how many nanoseconds the world's lines come; 0 if it does not set the pace.
	Beat time.Duration `json:"beat,omitempty"`

	// Quarantine is who was in quarantine.
	Quarantine []Quarantine `json:"quarantine,omitempty"`

	// Ages are how many steps ago sensors were last read, of those that were not in the last.
	Ages map[agent.NodeID]uint64 `json:"ages,omitempty"`

	// Model is that of Config; empty if it is the one that the box was set up with.
	Model string `json:"model,omitempty"`

	// Learning says how nodes learned, and among whom, for whoever gathers what
	// they know; nil if they do not learn.
	Learning *Learning `json:"learning,omitempty"`
}

// Learning is what nodes of a checkpoint have in common with those of other hosts.
type Learning struct {
	Digest uint32       `json:"digest"`          // of the plan
	Rule   *rule.Config `json:"rule"`            // of the plan
	Own    bool         `json:"own,omitempty"`   // and a rule that it does not say
	Cost   Cost         `json:"cost"`            // what targets mean
	Scale  float64      `json:"scale,omitempty"` // of the plan
	Nodes  string       `json:"nodes"`           // of all hosts, as ParseNodes reads them

	// Where nodes forecast: the names of this host's sensors, and whom each heard
	// last.
	Sensors map[agent.NodeID]string `json:"sensors,omitempty"`
	Links   map[agent.NodeID][]Link `json:"links,omitempty"`
}

// checkpointVersion is the one that is written, and read. Whoever changes what is
// written so that it would be misread gives it the next number.
const checkpointVersion = 5

// ErrState says that a host cannot go on from the checkpoint in its [Store]. The
// checkpoint is left as it is.
var ErrState = errors.New("host: state")

// Checkpoint returns a copy of what the nodes remember, nil if there was no step or one
// waits for neighbours, for whoever writes it; the next is due a while later. It is meant
// for when Actions.Save says so, and for the end, after Stop. A line may end a step and
// begin the next: what is returned then is from between the two. A checkpoint of a step
// that is only under way would count it as made, and whoever goes on from there leave it
// out: one that has its answer ends here.
func (h *Machine) Checkpoint() *Checkpoint {
	switch {
	case h.between != nil:
	case !h.begun || h.waits():
		return nil
	default:
		h.conclude()
		h.between = h.memory()
	}
	h.saved = h.now
	return h.between
}

// memory returns a copy of what the nodes remember after step h.time.
func (h *Machine) memory() *Checkpoint {
	c := &Checkpoint{Version: checkpointVersion, Run: h.cfg.Run, Time: h.time, Model: h.cfg.Model}
	for i := range h.cells {
		m := h.cells[i].node.Memory()
		c.Nodes = append(c.Nodes, m)
		if age := h.cells[i].age; age > 0 {
			if c.Ages == nil {
				c.Ages = map[agent.NodeID]uint64{}
			}
			c.Ages[m.Node] = age
		}
	}
	c.Quarantine, c.Links, c.Beat = h.inQuarantine(), maps.Clone(h.named), h.beat.sets()
	for _, host := range slices.Sorted(maps.Keys(h.members.known)) {
		c.Members = append(c.Members, h.members.known[host].record)
	}
	if p := h.cfg.Plan; h.learns() {
		c.Learning = &Learning{Digest: h.plan, Rule: p.Rule, Own: p.Rule.Rule != nil, Cost: h.cfg.Cost, Scale: p.Scale, Nodes: h.everybody}
		h.noteSensors(c.Learning)
	}
	return c
}

// noteSensors says who the sensors of this host are, and whom they heard last. A weight
// that is no number, which nodes refuse to step with, must not keep all else from being
// written.
func (h *Machine) noteSensors(l *Learning) {
	if !h.forecasts() {
		return
	}
	l.Sensors, l.Links = map[agent.NodeID]string{}, map[agent.NodeID][]Link{}
	for i := range h.cells {
		id := h.cells[i].node.ID()
		l.Sensors[id] = h.cfg.Names[id]
		for _, link := range h.cells[i].links {
			if mat.Finite(link.Weight) {
				l.Links[id] = append(l.Links[id], Link(link))
			}
		}
	}
}

// resume reads the checkpoint that the nodes go on from; nil if there is none.
func (h *Machine) resume(text []byte) (*Checkpoint, error) {
	if text == nil {
		return nil, nil
	}
	c, err := ReadCheckpoint(text)
	if err == nil && c.Run != h.cfg.Run {
		err = fmt.Errorf("%w: it belongs to the run %q, this is %q; use another folder", ErrState, c.Run, h.cfg.Run)
	}
	return c, err
}

// restore puts the nodes where a checkpoint left them; nil means that there is
// none, and nodes begin with their seed.
func (h *Machine) restore(c *Checkpoint) error {
	if c == nil {
		return h.seed()
	}
	for _, m := range c.Nodes {
		i, ok := h.index[m.Node]
		if !ok {
			return fmt.Errorf("%w: it has node %d, which is not here; use another folder", ErrState, m.Node)
		}
		if err := h.cells[i].node.Restore(m); err != nil {
			return fmt.Errorf("%w: %w; move the folder away to begin anew", ErrState, err)
		}
		h.cells[i].age = c.Ages[m.Node]
	}
	h.time, h.begun = c.Time, true
	h.shutAgain(c.Quarantine)
	h.rewireAgain(c.Links)
	if c.Beat > 0 {
		h.beat = beat{every: c.Beat, early: beatSure}
	}
	return nil
}

// seed gives nodes that have no checkpoint what they remember of an earlier life.
func (h *Machine) seed() error {
	for _, m := range h.cfg.Seed {
		i, ok := h.index[m.Node]
		if !ok {
			return fmt.Errorf("host: seed: node %d is not here", m.Node)
		}
		if err := h.cells[i].node.Seed(m); err != nil {
			return fmt.Errorf("host: seed: node %d: %w", m.Node, err)
		}
	}
	return nil
}

// ReadCheckpoint reads a checkpoint.
func ReadCheckpoint(text []byte) (*Checkpoint, error) {
	c := new(Checkpoint)
	err := json.Unmarshal(text, c) // of another one at least the version: fields of other types are passed over
	switch {
	case c.Version != checkpointVersion && (err == nil || c.Version > 0):
		return nil, fmt.Errorf("%w: a checkpoint of version %d, this program reads %d: another wrote it; "+
			"use that one, or another folder to begin anew", ErrState, c.Version, checkpointVersion)
	case err != nil:
		return nil, fmt.Errorf("%w: this is no checkpoint: %w; move the folder away to begin anew", ErrState, err)
	}
	return c, nil
}
