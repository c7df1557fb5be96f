package study

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/paper/figure"
)

// grid returns the table as text: a header and rows of equal length. A column
// of which the paper has numbers is followed by one that holds them.
func (t *Table) grid() (header []string, rows [][]string) {
	inPaper := make([]bool, len(t.Columns))
	for _, r := range t.Rows {
		for c := range r.Cells {
			inPaper[c] = inPaper[c] || r.Cells[c].Paper != nil
		}
	}
	header = []string{""}
	for c, name := range t.Columns {
		header = append(header, name)
		if inPaper[c] {
			header = append(header, "paper")
		}
	}
	for _, r := range t.Rows {
		row := []string{r.Name}
		if r.Ours {
			row[0] += " *"
		}
		for c, cell := range r.Cells {
			row = append(row, cell.String())
			if inPaper[c] {
				row = append(row, cell.PaperText())
			}
		}
		rows = append(rows, row)
	}
	return header, rows
}

// hasOurs says whether a row is not in the paper.
func (t *Table) hasOurs() bool {
	for _, r := range t.Rows {
		if r.Ours {
			return true
		}
	}
	return false
}

const oursNote = "* not in the paper"

// WriteText writes the result for a terminal of so many columns; 0 means any.
func (r *Result) WriteText(w io.Writer, wide int) error {
	var b strings.Builder
	text := 100
	if wide > 0 {
		text = min(text, wide)
	}
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "\n%s\n", wrap(t.Title, text))
		header, rows := t.grid()
		lines, inBlocks := grid.Lines(header, rows, 3, wide)
		longest := 0
		for _, line := range lines {
			longest = max(longest, utf8.RuneCountInString(line))
		}
		if !inBlocks {
			lines = slices.Insert(lines, 1, strings.Repeat("─", longest))
		}
		fmt.Fprintln(&b, strings.Join(lines, "\n"))
		if t.hasOurs() {
			fmt.Fprintln(&b, oursNote)
		}
		if t.Note != "" {
			fmt.Fprintln(&b, wrap(t.Note, text))
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n%s\n", wrap(n, text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) string {
	return strings.Join(grid.Wrap(strings.Join(strings.Fields(text), " "), width), "\n")
}

// WriteMarkdown writes a result of the experiment as a section of a page. Figures
// are linked as files in the folder given.
func (e Experiment) WriteMarkdown(w io.Writer, r *Result, figures string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", e.Title, e.About)
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "### %s\n\n", t.Title)
		header, rows := t.grid()
		fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
		for _, row := range rows {
			fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(strings.Join(row, " | "), " *", " \\*"))
		}
		fmt.Fprintln(&b)
		if t.hasOurs() {
			fmt.Fprintf(&b, "\\%s\n\n", oursNote)
		}
		if t.Note != "" {
			fmt.Fprintf(&b, "%s\n\n", t.Note)
		}
	}
	for _, c := range r.Charts {
		fmt.Fprintf(&b, "![%s](%s%s.svg)\n\n", c.Title, figures, c.Name)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "%s\n\n", n)
	}
	m := r.Manifest
	fmt.Fprintf(&b, "*`wdgnn reproduce %s`, seed %d, %s; %s, %d threads, %.0f s; kernels %s, %s.*\n",
		m.Experiment, m.Settings.Seed, m.Version, r.Machine.CPU, r.Machine.Threads, r.Machine.Seconds, m.Kernels, r.Machine.Go)
	_, err := io.WriteString(w, b.String())
	return err
}

// drawing is a figure of any kind.
type drawing interface {
	Save(base string) error
	WriteSVG(w io.Writer) error
}

func (c *Chart) drawing() drawing {
	if len(c.Tracks) > 0 {
		return c.paths()
	}
	return c.figure()
}

// Save writes base.svg and base.png.
func (c *Chart) Save(base string) error { return c.drawing().Save(base) }

// WriteSVG writes the drawing.
func (c *Chart) WriteSVG(w io.Writer) error { return c.drawing().WriteSVG(w) }

// paths returns a chart of tracks as it is drawn.
func (c *Chart) paths() *figure.Paths {
	f := &figure.Paths{Title: c.Title, XLabel: c.X, YLabel: c.Y, Note: c.Note}
	for _, t := range c.Tracks {
		f.Paths = append(f.Paths, figure.Path{X: t.X, Y: t.Y, Velocity: &t.Velocity})
	}
	return f
}

// figure returns a chart of curves as it is drawn.
func (c *Chart) figure() *figure.Figure {
	f := &figure.Figure{
		Title: c.Title, Note: c.Note,
		X: figure.Axis{Label: c.X, Log: c.Log, Zero: c.Log}, Y: figure.Axis{Label: c.Y, Log: c.LogY},
	}
	for _, curve := range c.Curves {
		s := figure.Series{Name: curve.Name, X: curve.X, Y: curve.Y}
		switch {
		case curve.Reference:
			s.Style = figure.Dashed
		case curve.Points:
			s.Style = figure.LinePoints
		}
		for k, spread := range curve.Spread {
			s.Low, s.High = append(s.Low, curve.Y[k]-spread), append(s.High, curve.Y[k]+spread)
		}
		f.Series = append(f.Series, s)
	}
	return f
}
