package script

import (
	"math"
	"strconv"
	"strings"
)

// Words are the arguments of a command: plain ones, and those with a "=".
type Words struct {
	Plain  []string
	Values map[string]string
}

// Split cuts arguments at spaces outside of parentheses.
func Split(text string) Words {
	w := Words{Values: map[string]string{}}
	inside := false
	for _, f := range strings.FieldsFunc(text, func(r rune) bool {
		inside = r == '(' || inside && r != ')'
		return r == ' ' && !inside
	}) {
		if name, value, ok := strings.Cut(f, "="); ok {
			w.Values[name] = strings.Trim(value, "()")
		} else {
			w.Plain = append(w.Plain, f)
		}
	}
	return w
}

// Number returns a named number, or the default.
func (w Words) Number(name string, otherwise float64) float64 {
	if v, err := strconv.ParseFloat(w.Values[name], 64); err == nil {
		return v
	}
	return otherwise
}

// List returns a named list of numbers, NaN for what is none.
func (w Words) List(name string) []float32 {
	var list []float32
	for _, f := range strings.Fields(w.Values[name]) {
		v, err := strconv.ParseFloat(f, 32)
		if err != nil {
			v = math.NaN()
		}
		list = append(list, float32(v))
	}
	return list
}

// Numbers writes what List reads, with five digits.
func Numbers(v []float32) string {
	var list []string
	for _, x := range v {
		list = append(list, strconv.FormatFloat(float64(x)+0, 'g', 5, 64))
	}
	return strings.Join(list, " ")
}
