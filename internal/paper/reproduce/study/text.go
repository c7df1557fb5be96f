package study

import (
	"fmt"
	"io/fs"
	"strings"
	"text/template"
)

// Texts are the sentences of experiments: templates that are given numbers. What
// they conclude they conclude from these, so that no sentence says of a run what
// another run gave.
//
// Templates have the functions
//
//	signed d v     a number with its sign and d decimals
//	pm d v         a Value as mean ± spread with d decimals, signed
//	near v paper   whether v is within two of the paper's standard deviations
//	toward v a b c a if v is above 0 by two standard errors, b if below, else c
type Texts struct{ t *template.Template }

// NewTexts reads the templates of the files that match the pattern. It panics if
// one is malformed: they are part of the program.
func NewTexts(files fs.FS, pattern string) Texts {
	return Texts{template.Must(template.New("").Option("missingkey=error").Funcs(words).ParseFS(files, pattern))}
}

var words = template.FuncMap{
	"signed": func(decimals int, v float64) string { return fmt.Sprintf("%+.*f", decimals, v) },
	"pm": func(decimals int, v *Value) string {
		return Cell{Value: v, Decimals: decimals, Signed: true}.String()
	},
	"near": Near,
	"toward": func(v *Value, above, below, neither string) string {
		switch v.Sign() {
		case 1:
			return above
		case -1:
			return below
		}
		return neither
	},
}

// Say returns a text as one paragraph.
func (t Texts) Say(name string, data any) string { return strings.Join(t.Notes(name, data), " ") }

// Notes returns the paragraphs of a text, which blank lines separate; one that is
// empty is left out.
func (t Texts) Notes(name string, data any) (notes []string) {
	var b strings.Builder
	if err := t.t.ExecuteTemplate(&b, name, data); err != nil {
		panic("study: " + err.Error()) // a template that does not fit its numbers
	}
	var words []string
	for line := range strings.Lines(b.String() + "\n\n") {
		if fields := strings.Fields(line); len(fields) > 0 {
			words = append(words, fields...)
		} else if len(words) > 0 {
			notes, words = append(notes, strings.Join(words, " ")), nil
		}
	}
	return notes
}
