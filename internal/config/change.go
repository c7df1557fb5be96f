package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Change is a value that stands in the place of the one that a file holds.
type Change struct {
	Key   string // with a dot after each section, such as train.epochs
	Value string
}

// apply makes changes to the mapping of a whole configuration. Sections that are
// not there, or have nothing in them, are made.
func apply(root *yaml.Node, changes []Change) {
	for _, c := range changes {
		n, key := root, c.Key
		for {
			section, rest, more := strings.Cut(key, ".")
			value := valueOf(n, section)
			if !more {
				*value = yaml.Node{Kind: yaml.ScalarNode, Value: c.Value, Line: value.Line, LineComment: value.LineComment}
				if value.ShortTag() == "!!null" { // a text that YAML takes for nothing
					value.Tag = "!!str"
				}
				break
			}
			if value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
				*value = yaml.Node{Kind: yaml.MappingNode, Line: value.Line, LineComment: value.LineComment}
			}
			n, key = value, rest
		}
	}
}

// valueOf returns the value of a key, which is made if it is not there: an empty
// mapping.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	value := &yaml.Node{Kind: yaml.MappingNode}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	return value
}
