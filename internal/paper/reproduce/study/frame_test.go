package study

import (
	"slices"
	"testing"
	"testing/fstest"
)

// Tables are over units: what a unit saw several times counts once, as a mean, and
// a comparison pairs the units that have both.
func TestFrame(t *testing.T) {
	var f Frame
	f.Add("frozen", "cost", 0, 2, 4)
	f.Add("frozen", "cost", 1, 5)
	f.Add("learning", "cost", 0, 1, 5)
	f.Add("learning", "cost", 1, 4)
	f.Add("learning", "cost", 2, 100)
	if got, want := f.Values("frozen", "cost"), []float64{3, 5}; !slices.Equal(got, want) {
		t.Errorf("got values %v, want %v", got, want)
	}
	f.Compare("change", "learning", "frozen", Less, "cost")
	if got, want := f.Values("change", "cost"), []float64{0, -1}; !slices.Equal(got, want) {
		t.Errorf("got differences %v, want %v", got, want)
	}
	f.Compare("percent", "learning", "frozen", Percent, "cost")
	if got, want := f.Mean("percent", "cost"), -10.0; got < want-1e-12 || got > want+1e-12 {
		t.Errorf("got a change of %v %%, want %v", got, want)
	}
	if above, all := f.Above("learning", "frozen", "cost"); above != 1 || all != 3 {
		t.Errorf("got %d of %d above, want 1 of 3", above, all)
	}
	table := f.Table(Layout{
		Title: "T",
		Columns: []Column{
			{Name: "what it costs", Of: "cost", Decimals: 1},
			{Name: "rows", Cell: func(row string) Cell { return Cell{Text: row} }},
		},
		Lines: []Line{{Name: "as trained", Of: "frozen", Paper: []*Value{{Mean: 7}}}, {Name: "nobody", Ours: true}},
	})
	header, rows := table.grid()
	if want := []string{"", "what it costs", "paper", "rows"}; !slices.Equal(header, want) {
		t.Errorf("got header %q, want %q", header, want)
	}
	for k, want := range [][]string{{"as trained", "4.0 ± 1.4", "7.0", "frozen"}, {"nobody *", "–", "", "nobody"}} {
		if !slices.Equal(rows[k], want) {
			t.Errorf("got row %q, want %q", rows[k], want)
		}
	}
}

// Two standard errors of at least two units show something.
func TestSign(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want int
	}{{Value{3, 1, 5}, 1}, {Value{-3, 1, 5}, -1}, {Value{2, 1, 5}, 0}, {Value{3, 0, 1}, 0}} {
		if got := c.v.Sign(); got != c.want {
			t.Errorf("got sign %d of %+v, want %d", got, c.v, c.want)
		}
	}
}

// Numbers go into a text, which decides by them what it says; blank lines separate
// notes.
func TestTexts(t *testing.T) {
	texts := NewTexts(fstest.MapFS{"a.tmpl": {Data: []byte(`{{define "notes"}}
Learning changes it by {{pm 1 .}}:
{{toward . "a gain" "a loss" "nothing is shown"}}.

{{if gt .Mean 100.0}}Much.{{end}}

Of {{.Count}} units.
{{end}}`)}}, "*.tmpl")
	for want, v := range map[string]Value{
		"Learning changes it by +3.0 ± 1.0: a gain.":           {3, 1, 4},
		"Learning changes it by -3.0 ± 1.0: a loss.":           {-3, 1, 4},
		"Learning changes it by +1.0 ± 1.0: nothing is shown.": {1, 1, 4},
	} {
		if got := texts.Notes("notes", &v); !slices.Equal(got, []string{want, "Of 4 units."}) {
			t.Errorf("got %q, want %q and the count", got, want)
		}
	}
	want := "Learning changes it by +101.0: nothing is shown. Much. Of 1 units."
	if got := texts.Say("notes", &Value{Mean: 101, Count: 1}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
