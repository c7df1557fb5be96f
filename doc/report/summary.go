package main

import (
	"embed"
	"fmt"
	"math"
	"strings"
	"text/template"
	"unicode"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

// The texts are templates that take their numbers from the raw results, by names of
// experiment, table, row and column. A name that is not there is an error.
//
//go:embed text/*.md
var texts embed.FS

// results are raw results by the name of the experiment.
type results map[string]*study.Result

// write returns a text with its numbers.
func (r results) write(name string) (string, error) {
	t, err := template.New(name).Funcs(template.FuncMap{
		"value": r.value, "least": r.least, "claim": r.claim,
	}).ParseFS(texts, "text/*.md")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, nil)
	return b.String(), err
}

// cell finds a cell. A table is named by the beginning of its title.
func (r results) cell(experiment, table, row, column string) (*study.Cell, error) {
	result, ok := r[experiment]
	if !ok {
		return nil, fmt.Errorf("there is no doc/results/%s.json", experiment)
	}
	for _, t := range result.Tables {
		if !strings.HasPrefix(t.Title, table) {
			continue
		}
		for _, of := range t.Rows {
			for c, name := range t.Columns {
				if of.Name == row && name == column {
					return &of.Cells[c], nil
				}
			}
		}
	}
	return nil, fmt.Errorf("%s has no table %q with a row %q and a column %q", experiment, table, row, column)
}

// value writes a cell.
func (r results) value(experiment, table, row, column string) (string, error) {
	c, err := r.cell(experiment, table, row, column)
	if err != nil {
		return "", err
	}
	return c.String(), nil
}

// least writes the cell with the smallest mean of some rows.
func (r results) least(experiment, table, column string, rows ...string) (string, error) {
	var found *study.Cell
	for _, row := range rows {
		c, err := r.cell(experiment, table, row, column)
		if err != nil {
			return "", err
		}
		if found == nil || c.Value.Mean < found.Value.Mean {
			found = c
		}
	}
	return found.String(), nil
}

// claim writes a number of the paper, ours, and whether that comes out.
func (r results) claim(experiment, table, row, column string) (string, error) {
	c, err := r.cell(experiment, table, row, column)
	if err != nil {
		return "", err
	}
	if c.Value == nil || c.Paper == nil {
		return "", fmt.Errorf("%s: %s, %s: want a number of ours and one of the paper's", experiment, row, column)
	}
	return fmt.Sprintf("%s | %s | %s", c.PaperText(), c, verdict(*c.Value, *c.Paper)), nil
}

// verdict says whether a claim of the paper comes out: within two standard deviations
// of both, or a tenth. Half to twice of it is a part of it.
func verdict(ours, paper study.Value) string {
	away := math.Abs(ours.Mean - paper.Mean)
	share := ours.Mean / paper.Mean
	switch {
	case away <= 2*math.Hypot(ours.Spread, paper.Spread), away <= 0.1*math.Abs(paper.Mean):
		return "yes"
	case share >= 0.5 && share <= 2:
		return "in part"
	}
	return "no"
}

// contents lists the experiments of a page with links to where they are on it.
func contents(list []study.Experiment) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "- [%s](#%s): `wdgnn reproduce %s`\n", e.Title, anchor(e.Title), e.Name)
	}
	return b.String()
}

// anchor is how a heading is called in links.
func anchor(heading string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case unicode.IsLetter(c) || unicode.IsDigit(c) || c == '-' || c == '_':
			return unicode.ToLower(c)
		}
		return -1
	}, heading)
}
