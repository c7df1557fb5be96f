package main

import (
	"path/filepath"
	"testing"
)

// The table is what was kept says, every model was asked everything that is in the table,
// and what is proven was exceeded nowhere.
func TestTableIsCurrent(t *testing.T) {
	raw := filepath.Join("..", "results", "answers.json")
	before, after, err := current(raw, filepath.Join("..", "certify.md"))
	if err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Errorf("the table of doc/certify.md is not what %s gives; run go run ./doc/answers", raw)
	}
	kept, err := read(raw)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept.Models) != len(plans) {
		t.Fatalf("%d models were asked, want %d", len(kept.Models), len(plans))
	}
	for k, m := range kept.Models {
		if m.Name != plans[k].name || len(m.Asked) != len(plans[k].ask) {
			t.Errorf("model %s was asked %d times, want %s %d times", m.Name, len(m.Asked), plans[k].name, len(plans[k].ask))
		}
		for _, a := range m.Asked {
			if n := a.Page.Noise; n != nil && (n.Held+n.Broken > a.Page.Answers || n.Tight < 1 || n.Tight > 2) {
				t.Errorf("%s: noise %+v of %d answers, want found over proven between 1 and 2", a.Command, *n, a.Page.Answers)
			}
			if l := a.Page.Liar; l != nil && l.Held+l.Broken > l.Total {
				t.Errorf("%s: %d answers hold and %d do not, of %d", a.Command, l.Held, l.Broken, l.Total)
			}
			if l := a.Page.Lost; l != nil {
				for _, v := range l.Levels {
					if v.Tried != v.Total {
						t.Errorf("%s: %d of %d tried, want all", a.Command, v.Tried, v.Total)
					}
				}
			}
		}
	}
}
