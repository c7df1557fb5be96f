package config

import (
	"fmt"
	"reflect"
	"strings"
)

// field is a field of a struct that has a key.
type field struct {
	key string
	reflect.StructField
}

// keyed returns the fields of a struct type that have keys, in their order.
// Those of an inline struct stand with the others.
func keyed(t reflect.Type) []field {
	var list []field
	for f := range t.Fields() {
		key, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if option == "inline" {
			for _, inner := range keyed(f.Type) {
				inner.Index = append([]int{f.Index[0]}, inner.Index...)
				list = append(list, inner)
			}
		} else if key != "" && key != "-" {
			if f.Type.Kind() == reflect.Interface {
				if f.Type = reflect.TypeOf(linked[key]); f.Type == nil {
					continue // its scenario is not linked in
				}
			}
			list = append(list, field{key, f})
		}
	}
	return list
}

func fieldByKey(v reflect.Value, key string) (reflect.Value, bool) {
	for _, f := range keyed(v.Type()) {
		if f.key == key {
			return v.FieldByIndex(f.Index), true
		}
	}
	return reflect.Value{}, false
}

// suggestion says which key of struct type t is meant by a wrong one: the
// nearest, or, if none is near, all there are.
func suggestion(t reflect.Type, wrong string) string {
	var keys []string
	for _, f := range keyed(t) {
		keys = append(keys, f.key)
	}
	if best := Nearest(wrong, keys); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return "; the keys here are " + strings.Join(keys, ", ")
}

// Nearest returns the one of the known words that somebody may have meant by a wrong
// one, and nothing if half of its letters would have to change.
func Nearest(wrong string, known []string) string {
	best, least := "", min(len(wrong)/2, 20)+1
	for _, word := range known {
		if len(wrong) >= len(word)+least {
			continue // too far, and a large table to find that out
		}
		if d := distance(strings.ToLower(wrong), word); d < least {
			best, least = word, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or exchange with the
// next to get from a to b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
		for j := 1; j <= len(b); j++ {
			if i == 0 {
				rows[i][j] = j
				continue
			}
			d := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
