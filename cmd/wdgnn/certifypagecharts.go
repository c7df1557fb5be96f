package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/internal/paper/figure"
	"github.com/wdgnn/wdgnn/internal/robust"
)

// picture is a chart that can be written to files.
type picture interface{ Save(base string) error }

// drawPage writes the charts of a page to a folder and returns their names.
func drawPage(dir string, p *certifyPage) ([]string, error) {
	var names []string
	save := func(name string, chart picture) error {
		base := filepath.Join(dir, name)
		names = append(names, base+".svg", base+".png")
		return chart.Save(base)
	}
	var err error
	if f := p.linksPicture(); f != nil {
		err = save("links", f)
	}
	if f := p.lostChart(); f != nil && err == nil {
		err = save("lost", f)
	}
	if f := p.dropChart(); f != nil && err == nil {
		err = save("drop", f)
	}
	if f := p.noiseChart(); f != nil && err == nil {
		err = save("noise", f)
	}
	if f := p.liarChart(); f != nil && err == nil {
		err = save("liar", f)
	}
	return names, err
}

// linksPicture shows the graph with its links coloured by what their loss does.
func (p *certifyPage) linksPicture() *figure.Network {
	if p.Lost == nil || p.Lost.Of != robust.Links || len(p.Lost.Parts) == 0 || !p.Lost.Levels[0].Complete() {
		return nil
	}
	f := &figure.Network{
		Title: "The weak links", Marked: p.question.Read, Key: "Answers that the loss of a link flips",
		Note: fmt.Sprintf("%s, %s, %s.", counted(p.Nodes, "node"), counted(len(p.Lost.Parts), "link"), counted(p.Answers, "answer")),
	}
	for k := range p.Lost.Parts {
		part := &p.Lost.Parts[k]
		value := float64(part.Flips)
		if !p.judged() {
			value = part.Move
		}
		f.Links = append(f.Links, figure.Link{From: part.Ends[0], To: part.Ends[1], Value: value})
	}
	switch {
	case !p.judged():
		f.Key = "Farthest that the loss of a link moves an answer" + p.inUnit()
	case !p.Classify:
		f.Key = "Answers that the loss of a link moves by more than " + p.units(p.Within)
	}
	if len(f.Marked) > 0 {
		f.Note += " Nodes that answer have their numbers."
	}
	f.X, f.Y = figure.Arrange(p.Nodes, f.Links)
	return f
}

// lostChart shows which share of the answers holds against how many are lost, or how
// far answers move.
func (p *certifyPage) lostChart() *figure.Figure {
	if p.Lost == nil || len(p.Lost.Levels) == 0 || p.Answers == 0 {
		return nil
	}
	f := &figure.Figure{
		Title: "Answers that cannot be " + p.changed(), Subtitle: fmt.Sprintf("By the loss of any so many %s, each tried", p.Lost.Of),
		X:    figure.Axis{Label: fmt.Sprintf("Lost %s", p.Lost.Of), Whole: true},
		Note: fmt.Sprintf("%s, %s, %s.", counted(p.Nodes, "node"), counted(p.Links, "link"), counted(p.Answers, "answer")),
	}
	held, median, most := figure.Series{Style: figure.LinePoints}, figure.Series{Name: "median answer", Style: figure.LinePoints},
		figure.Series{Name: "any answer", Style: figure.LinePoints}
	held.X, held.Y = []float64{0}, []float64{100}
	for _, s := range []*figure.Series{&median, &most} {
		s.X, s.Y = []float64{0}, []float64{0}
	}
	for k := range p.Lost.Levels {
		if l := &p.Lost.Levels[k]; l.Complete() {
			m, far := p.moves(k)
			at := float64(l.Lost)
			held.X, held.Y = append(held.X, at), append(held.Y, 100*float64(l.Held)/float64(p.Answers))
			median.X, median.Y = append(median.X, at), append(median.Y, m)
			most.X, most.Y = append(most.X, at), append(most.Y, far)
		}
	}
	f.Y, f.Series = figure.Axis{Label: "Share of answers, %"}, []figure.Series{held}
	if !p.judged() {
		f.Title, f.Y.Label, f.Series = "How far answers can move", "Farthest move of an output"+p.inUnit(), []figure.Series{median, most}
	}
	return f
}

// inUnit writes the unit behind a label.
func (p *certifyPage) inUnit() string {
	if p.Unit == "" {
		return ""
	}
	return ", " + p.Unit
}

// dropChart shows the same against the probability of a loss.
func (p *certifyPage) dropChart() *figure.Figure {
	if len(p.Drop) < 2 {
		return nil
	}
	d := &p.Drop[0]
	f := &figure.Figure{
		Title: "Answers that hold under random loss", Subtitle: fmt.Sprintf("With %s confidence", confidence(d.Confidence)),
		X:    figure.Axis{Label: fmt.Sprintf("Probability that a %s is lost", strings.TrimSuffix(string(d.Of), "s"))},
		Note: fmt.Sprintf("%s, %s.", counted(d.Draws, "outage"), counted(p.Answers, "answer")),
	}
	var x, held, together, low, median, most []float64
	for k := range p.Drop {
		d := &p.Drop[k]
		share := func(n int) float64 { return 100 * float64(n) / float64(p.Answers) }
		x, held, together = append(x, d.Probability), append(held, share(d.Held)), append(together, share(d.Together))
		low, median, most = append(low, 100*d.Low), append(median, d.Moves), append(most, d.Most)
	}
	points := func(name string, y []float64) figure.Series {
		return figure.Series{Name: name, X: x, Y: y, Style: figure.LinePoints}
	}
	f.Y.Label = "Share of answers, %"
	f.Series = []figure.Series{
		points("each, in most outages", held), points("all at once", together), points("on average, at least", low),
	}
	if !p.judged() {
		f.Title, f.Y.Label = "How far answers move under random loss", "Farthest move of an output"+p.inUnit()
		f.Subtitle = fmt.Sprintf("In %.2f %% of all outages, with %s confidence each", 100*(1-d.Rare), confidence(d.Confidence))
		f.Series = []figure.Series{points("median answer", median), points("any answer", most)}
	}
	return f
}
