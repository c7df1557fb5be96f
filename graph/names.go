package graph

import (
	"fmt"
	"slices"
	"strings"
)

// nameOf returns the name of value v, or a placeholder such as Shift(9).
func nameOf(kind string, v int, names []string) string {
	if v < 0 || v >= len(names) {
		return fmt.Sprintf("%s(%d)", kind, v)
	}
	return names[v]
}

// parseName returns the value with the given name.
func parseName(kind, text string, names []string) (int, error) {
	if v := slices.Index(names, text); v >= 0 {
		return v, nil
	}
	return 0, fmt.Errorf("graph: no %s is called %q; try %s", kind, text, strings.Join(names, ", "))
}

// marshalName returns the name of value v as text.
func marshalName(kind string, v int, names []string) ([]byte, error) {
	if v < 0 || v >= len(names) {
		return nil, fmt.Errorf("graph: no %s has number %d", kind, v)
	}
	return []byte(names[v]), nil
}
