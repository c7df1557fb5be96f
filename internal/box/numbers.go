package box

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// cutNumbers complains about numbers of n that are no whole ones, or too large,
// where type t has integers. The decoder of YAML takes such numbers through a
// float64: it would cut 1.5 to 1, and 2⁶⁴ would wrap around.
func cutNumbers(n *yaml.Node, t reflect.Type, prefix string) (errs []error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			errs = append(errs, cutNumbers(item, t.Elem(), prefix)...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for k := 0; k+1 < len(n.Content); k += 2 {
			errs = append(errs, cutNumbers(n.Content[k], t.Key(), "a key of "+prefix)...)
			errs = append(errs, cutNumbers(n.Content[k+1], t.Elem(), prefix+n.Content[k].Value+".")...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		known := keysOf(t)
		for k := 0; k+1 < len(n.Content); k += 2 {
			if field, ok := known[n.Content[k].Value]; ok {
				errs = append(errs, cutNumbers(n.Content[k+1], field, prefix+n.Content[k].Value+".")...)
			}
		}
	case n.Kind == yaml.ScalarNode && !whole(n, t):
		errs = append(errs, fmt.Errorf("line %d: %s is %s, want a whole number that is not too large", n.Line, strings.TrimSuffix(prefix, "."), n.Value))
	}
	return errs
}

// whole says whether the scalar n can be a t as it is.
func whole(n *yaml.Node, t reflect.Type) bool {
	if n.ShortTag() != "!!float" || t == reflect.TypeFor[time.Duration]() {
		return true
	}
	var v float64
	if err := n.Decode(&v); err != nil {
		return true // the decoder will say so
	}
	const exact = 1 << 53 // up to here a float64 has every whole number
	fits := v == math.Trunc(v) && math.Abs(v) <= exact
	switch z := reflect.Zero(t); {
	case z.CanInt():
		return fits
	case z.CanUint():
		return fits && v >= 0
	}
	return true
}
