package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/wdgnn/wdgnn/internal/section"
)

// Page is what certify says, without what it says of every answer.
type Page struct {
	Nodes   int    `json:"nodes"`
	Links   int    `json:"links"`
	Signals int    `json:"signals"`
	Answers int    `json:"answers"`
	Unit    string `json:"unit,omitempty"`
	Lost    *Lost  `json:"lost,omitempty"`
	Drop    []Drop `json:"drop,omitempty"`
	Noise   *Noise `json:"noise,omitempty"`
	Liar    *Liars `json:"liar,omitempty"`
	Stopped string `json:"stopped,omitempty"`
}

// Lost is what lost links or nodes do.
type Lost struct {
	Of     string  `json:"of"`
	Levels []Level `json:"levels"`
}

// Level is that of so many.
type Level struct {
	Lost  int `json:"lost"`
	Tried int `json:"tried"`
	Total int `json:"total"`
	Held  int `json:"held"`
}

// Drop is what random loss does.
type Drop struct {
	Probability float64 `json:"probability"`
	Held        int     `json:"held"`
}

// Noise is what noise does.
type Noise struct {
	Size   float64 `json:"size"`
	Held   int     `json:"held"`
	Broken int     `json:"broken"`
	Tried  int     `json:"attacked"`
	Median float64 `json:"median_radius"`
	Tight  float64 `json:"tightness"`
}

// Liars is what one node that lies does.
type Liars struct {
	Total  int     `json:"total"`
	Held   int     `json:"held"`
	Broken int     `json:"broken"`
	Shares []Share `json:"shares"`
}

// Share is what it does within a share of the bounds.
type Share struct {
	Share  float64 `json:"share"`
	Held   int     `json:"held"`
	Broken int     `json:"broken"`
	Pairs  float64 `json:"pairs_held"`
}

// read returns what was kept.
func read(raw string) (*Kept, error) {
	text, err := os.ReadFile(raw)
	if err != nil {
		return nil, err
	}
	kept := new(Kept)
	return kept, json.Unmarshal(text, kept)
}

// current returns the page as it is, and as what was kept says.
func current(raw, page string) (before, after string, err error) {
	kept, err := read(raw)
	if err != nil {
		return "", "", err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return "", "", err
	}
	before = string(text)
	after, err = section.Replace(before, "answers", "go run ./doc/answers", kept.table())
	return before, after, err
}

// cell writes what is known of a model, nothing if it was not asked.
type cell func(a *Asked) string

// table returns a row for everything that is asked and a column for every model.
func (k *Kept) table() string {
	var b strings.Builder
	row := func(name string, of func(m *Model) string) {
		fmt.Fprintf(&b, "| %s |", name)
		for i := range k.Models {
			fmt.Fprintf(&b, " %s |", of(&k.Models[i]))
		}
		b.WriteByte('\n')
	}
	row("", func(m *Model) string { return m.Name })
	row("---", func(*Model) string { return "---" })
	row("nodes, links", func(m *Model) string { return fmt.Sprintf("%d, %d", m.Asked[0].Page.Nodes, m.Asked[0].Page.Links) })
	row("an answer holds if", func(m *Model) string { return m.Holds })
	for _, q := range []struct {
		name string
		cell cell
	}{
		{"any one lost link", lost("links", 1)},
		{"any two lost links", lost("links", 2)},
		{"any one lost node", lost("nodes", 1)},
		{"any two lost nodes", lost("nodes", 2)},
		{"random loss of 5 % of the links", drop(0.05)},
		{"random loss of 30 % of the links", drop(0.3)},
		{"noise at the sensors of", noise(func(a *Asked, n *Noise) string { return fmt.Sprintf("%g%s", n.Size, a.Page.readings()) })},
		{"hold, proven", noise(func(a *Asked, n *Noise) string { return a.of(n.Held, a.Page.Answers) })},
		{"did not, of those attacked", noise(func(_ *Asked, n *Noise) string { return share(n.Broken, n.Tried) })},
		{"found over proven, median", noise(func(_ *Asked, n *Noise) string { return fmt.Sprintf("%.2f", n.Tight) })},
		{"any one node that lies", liar(1, func(a *Asked, s *Share) string { return a.of(s.Held, a.Page.Liar.Total) })},
		{"within 1 % of its bounds", liar(0.01, func(a *Asked, s *Share) string { return share(s.Held, a.Page.Liar.Total) })},
		{"within 0.1 %", liar(0.001, func(a *Asked, s *Share) string { return share(s.Held, a.Page.Liar.Total) })},
		{"with zeros", liar(0, func(a *Asked, s *Share) string { return share(s.Held, a.Page.Liar.Total) })},
		{"a liar and an answer, within 1 %", liar(0.01, func(_ *Asked, s *Share) string { return fmt.Sprintf("%.1f %%", 100*s.Pairs) })},
	} {
		row(q.name, func(m *Model) string {
			for k := range m.Asked {
				if text := q.cell(&m.Asked[k]); text != "" {
					return text
				}
			}
			return "–"
		})
	}
	fmt.Fprintf(&b, "\nOn %s; seconds are those of all processors together.\n", k.Machine)
	return b.String()
}

// readings returns the unit of what sensors read, where it is that of the answers.
func (p *Page) readings() string {
	if p.Unit == "mph" {
		return " " + p.Unit
	}
	return ""
}

// of writes a share with the time that it took.
func (a *Asked) of(some, all int) string {
	return fmt.Sprintf("%s of %d in %.3g s", share(some, all), all, a.Seconds)
}

// share writes a share. Less than all is never 100.0 %.
func share(some, all int) string {
	share := 100 * float64(some) / float64(max(all, 1))
	if some < all {
		share = min(share, 99.9)
	}
	return fmt.Sprintf("%.1f %%", share)
}

func lost(of string, many int) cell {
	return func(a *Asked) string {
		if a.Page.Lost == nil || a.Page.Lost.Of != of {
			return ""
		}
		for _, l := range a.Page.Lost.Levels {
			if l.Lost == many && l.Lost == len(a.Page.Lost.Levels) {
				return a.of(l.Held, a.Page.Answers)
			}
			if l.Lost == many {
				return fmt.Sprintf("%s of %d", share(l.Held, a.Page.Answers), a.Page.Answers)
			}
		}
		return ""
	}
}

func drop(p float64) cell {
	return func(a *Asked) string {
		for k, d := range a.Page.Drop {
			if d.Probability == p && k == len(a.Page.Drop)-1 {
				return a.of(d.Held, a.Page.Answers)
			}
			if d.Probability == p {
				return share(d.Held, a.Page.Answers)
			}
		}
		return ""
	}
}

func noise(say func(a *Asked, n *Noise) string) cell {
	return func(a *Asked) string {
		if a.Page.Noise == nil {
			return ""
		}
		return say(a, a.Page.Noise)
	}
}

func liar(within float64, say func(a *Asked, s *Share) string) cell {
	return func(a *Asked) string {
		if a.Page.Liar == nil {
			return ""
		}
		for k := range a.Page.Liar.Shares {
			if s := &a.Page.Liar.Shares[k]; s.Share == within {
				return say(a, s)
			}
		}
		return ""
	}
}
