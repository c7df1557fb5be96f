package config

import (
	"fmt"
	"reflect"
	"strings"
)

// suggestion says which key of struct type t is meant by a wrong one: the
// nearest, or, if none is near, all there are.
func suggestion(t reflect.Type, wrong string) string {
	var keys []string
	best, least := "", len(wrong)/2+1
	for i := range t.NumField() {
		key := keyOf(t.Field(i))
		if key == "" {
			continue
		}
		keys = append(keys, key)
		if d := distance(strings.ToLower(wrong), key); d < least {
			best, least = key, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return "; the keys here are " + strings.Join(keys, ", ")
}

// distance counts the letters to insert, remove or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
