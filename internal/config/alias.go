package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// mostCopied bounds how many values aliases may stand for: a few lines of them
// can stand for billions.
const mostCopied = 1 << 20

// expander puts values in the place of the aliases (*name) and merges (<<) of a
// tree. Whoever reads it need not know that there are any.
type expander struct {
	within []*yaml.Node // anchors around the node
	copied int
}

func (e *expander) expand(n *yaml.Node) error {
	if n.Anchor != "" {
		e.within = append(e.within, n)
		defer func() { e.within = e.within[:len(e.within)-1] }()
	}
	for i, child := range n.Content {
		if child.Kind != yaml.AliasNode {
			if err := e.expand(child); err != nil {
				return err
			}
			continue
		}
		if slices.Contains(e.within, child.Alias) {
			return fmt.Errorf("line %d: *%s stands within what it means", child.Line, child.Value)
		}
		e.within = append(e.within, child.Alias)
		n.Content[i] = e.copy(child.Alias)
		if e.copied > mostCopied {
			return fmt.Errorf("line %d: *%s: aliases stand for more than %d values", child.Line, child.Value, mostCopied)
		}
		err := e.expand(n.Content[i])
		e.within = e.within[:len(e.within)-1]
		if err != nil {
			return err
		}
	}
	if n.Kind == yaml.MappingNode {
		return merge(n)
	}
	return nil
}

// copy returns a copy of what an anchor names.
func (e *expander) copy(n *yaml.Node) *yaml.Node {
	e.copied++
	same := *n
	same.Anchor = ""
	same.Content = nil
	for _, child := range n.Content {
		if e.copied > mostCopied {
			break
		}
		same.Content = append(same.Content, e.copy(child))
	}
	return &same
}

func isNoMapping(n *yaml.Node) bool { return n.Kind != yaml.MappingNode }

// merge gives the mapping n the keys of those under <<, where it has no own.
func merge(n *yaml.Node) error {
	var own, more []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Tag != "!!merge":
			own = append(own, key, value)
		case value.Kind == yaml.MappingNode:
			more = append(more, value)
		case value.Kind == yaml.SequenceNode && !slices.ContainsFunc(value.Content, isNoMapping):
			more = append(more, value.Content...)
		default:
			return fmt.Errorf("line %d: << is %s, want a section or a list of them", key.Line, describe(value))
		}
	}
	if len(more) == 0 {
		return nil
	}
	has := map[string]bool{}
	for i := 0; i < len(own); i += 2 {
		has[own[i].Value] = true
	}
	for _, m := range more {
		for i := 0; i+1 < len(m.Content); i += 2 {
			if key := m.Content[i].Value; !has[key] {
				has[key] = true
				own = append(own, m.Content[i], m.Content[i+1])
			}
		}
	}
	n.Content = own
	return nil
}
