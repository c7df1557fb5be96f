package modelfile

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
)

// layout yields the name and shape of every tensor of an architecture, in the
// order of gnn.Params.Windows. Unlike gnn.NewParams it allocates nothing for
// them, so that the architecture that a file claims can be compared with the
// tensors that it has, and it stops when the first is missing.
func layout(c gnn.Config) iter.Seq2[string, []int] {
	return func(yield func(string, []int) bool) {
		filter := func(name string, in, out, order int) bool {
			for k := 0; k <= order; k++ {
				if !yield(fmt.Sprintf("%s.tap.%d", name, k), []int{in, out}) {
					return false
				}
			}
			return c.NoBias || yield(name+".bias", []int{out})
		}
		if c.Wide != nil && !filter("wide", c.In, c.Features, c.Wide.Order) {
			return
		}
		in := c.In
		for l, layer := range c.Deep {
			if !filter(fmt.Sprintf("deep.%d", l+1), in, layer.Features, layer.Order) {
				return
			}
			in = layer.Features
		}
		if c.Outputs > 0 {
			if !yield("readout.weight", []int{c.Features, c.Outputs}) {
				return
			}
			if !c.NoBias && !yield("readout.bias", []int{c.Outputs}) {
				return
			}
		}
		if c.Wide != nil && len(c.Deep) > 0 {
			yield("gain", []int{3})
		}
	}
}

// isVector says whether the tensor with the given name is stored with one
// dimension: biases and gains are, all others are matrices.
func isVector(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return last == "bias" || last == "gain"
}

// isExtra says whether a tensor may be called name without being one of the
// network's own: "online." or "node.<i>." and at least one more word.
func isExtra(name string) bool {
	words := strings.Split(name, ".")
	for _, w := range words {
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return false
		}
	}
	switch words[0] {
	case "online":
		return len(words) > 1
	case "node":
		return len(words) > 2 && isNode(words[1])
	}
	return false
}

// isNode says whether word is a node's number as this package writes it.
func isNode(word string) bool {
	i, err := strconv.ParseInt(word, 10, 32)
	return err == nil && i >= 0 && strconv.FormatInt(i, 10) == word
}

// ownName returns what a tensor of one node stands for: "wide.tap.0" for
// "node.7.wide.tap.0", and false for names that do not begin with a node.
func ownName(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "node.")
	if !ok {
		return "", false
	}
	_, own, ok := strings.Cut(rest, ".")
	return own, ok
}
