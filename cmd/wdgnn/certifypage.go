package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/wdgnn/wdgnn/internal/robust"
	"github.com/wdgnn/wdgnn/modelfile"
)

// certifyPage is what certify says of the answers of a model.
type certifyPage struct {
	Model    string        `json:"model"`
	Nodes    int           `json:"nodes"`
	Links    int           `json:"links"`           // of all steps
	Steps    int           `json:"steps,omitempty"` // of a sequence of graphs
	Signals  int           `json:"signals"`         // that were asked
	Of       int           `json:"of"`              // signals that there are
	Answers  int           `json:"answers"`
	Classify bool          `json:"classify"`
	Unit     string        `json:"unit,omitempty"`
	Names    []string      `json:"names,omitempty"` // of nodes, if they have any
	Within   float64       `json:"within,omitempty"`
	Lost     *robust.Lost  `json:"lost,omitempty"`
	Drop     []robust.Drop `json:"drop,omitempty"`
	Noise    *robust.Noise `json:"noise,omitempty"`
	Liar     *robust.Liars `json:"liar,omitempty"`
	Stopped  string        `json:"stopped,omitempty"` // why not all was tried
	Charts   []string      `json:"charts,omitempty"`

	question *robust.Question
	show     *countProgress
	asked    []float64 // probabilities that somebody asked about

	noiseAsked bool // somebody did
}

// usualDrop is the probability of a random loss that is asked about unless somebody
// says.
const usualDrop = 0.05

// mostBytes is how much memory the values of all signals may take.
const mostBytes = 8 << 30

// runPage asks, tries and prints.
func (c *CertifyCommand) runPage(ctx context.Context, m *modelfile.Model) error {
	all, err := c.question(ctx, m)
	if err != nil {
		return helpful{during("certify", err), hint(err, c.instead(m))}
	}
	q := all.Some(c.samples)
	if need := q.Bytes(c.workers()); int64(need) > min(mostBytes, debug.SetMemoryLimit(-1)/2) {
		return helpful{fmt.Errorf("certify: %d signals need %d MiB", q.Samples, need>>20), "fewer --samples, or fewer --threads"}
	}
	page := &certifyPage{
		Model: c.model, Nodes: q.Nodes(), Signals: q.Samples, Of: all.Samples, Answers: q.Samples * len(q.Readers()),
		Classify: q.Classify, Unit: q.Unit, Names: q.Names, Within: q.Within, question: q, show: newCountProgress(c.Stderr),
	}
	for _, g := range q.Graphs {
		page.Links += g.Edges()
	}
	if q.Delayed {
		page.Steps = q.Steps()
	}
	err = c.answer(ctx, m, page)
	page.show.end()
	if err != nil && ctx.Err() != nil {
		return during("certify", ctx.Err())
	}
	if err != nil {
		return helpful{during("certify", err), hint(err, "--time, which says how long to try")}
	}
	if c.out != "" {
		if page.Charts, err = drawPage(c.out, page); err != nil {
			return during("certify", err)
		}
	}
	if c.json {
		err = writeJSON(c.Stdout, page)
	} else {
		w := &lines{w: c.Stdout}
		page.print(w)
		err = w.err
	}
	if err != nil {
		return err
	}
	return c.verdict(ctx, page)
}

// instead returns what to try where a model cannot be asked.
func (c *CertifyCommand) instead(m *modelfile.Model) string {
	if spec, err := m.Forecast(); err == nil && spec != nil && c.config == "" {
		return "--config with the configuration of the forecasts, which names sensors and scales readings"
	}
	return fmt.Sprintf("wdgnn inspect %s, which says what the model reads", c.model)
}

// answer tries all that was asked for, or until somebody is in a hurry.
func (c *CertifyCommand) answer(ctx context.Context, m *modelfile.Model, page *certifyPage) error {
	lost, drop := c.lost, c.drop
	usual := lost == 0 && !c.given["drop"] && !c.given["noise"] && !c.liar
	if usual {
		lost, drop = 1, []float64{usualDrop}
	}
	within := ctx
	if c.time > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, c.time)
		defer cancel()
	}
	var err error
	if lost > 0 {
		err = page.tryLost(within, robust.LostConfig{Of: robust.Kind(c.of), Most: lost, Threads: c.workers()})
	}
	if err == nil && len(drop) > 0 && within.Err() == nil {
		err = page.tryDrop(within, robust.DropConfig{
			Of: robust.Kind(c.of), Probabilities: drop, Draws: c.draws, Confidence: c.confidence, Seed: c.seed, Threads: c.workers(),
		}, c.out != "")
	}
	if err == nil && (usual || c.given["noise"]) && within.Err() == nil {
		n := robust.NoiseConfig{Size: c.noise, Attacks: mostAttacks, Threads: c.workers()}
		if page.noiseAsked = c.given["noise"]; usual {
			n.Most, n.Attacks = glanceAnswers, glanceAttacks
		}
		if n.Norm, err = normOf(c.norm); err == nil {
			err = page.tryNoise(within, n)
		}
	}
	if err == nil && c.liar && within.Err() == nil {
		err = page.tryLiar(within, m, c.workers())
	}
	switch stopped := within.Err(); {
	case err != nil && (stopped == nil || !errors.Is(err, stopped) || page.empty()):
		return err
	case ctx.Err() != nil:
		page.Stopped = "interrupted"
	case stopped != nil:
		page.Stopped = fmt.Sprintf("stopped after %v", c.time)
	}
	return nil
}

// empty says whether nothing is known yet.
func (p *certifyPage) empty() bool {
	return p.Lost == nil && p.Drop == nil && p.Noise == nil && p.Liar == nil
}

// verdict fails if the work was interrupted, or fewer answers hold than somebody
// wants.
func (c *CertifyCommand) verdict(ctx context.Context, page *certifyPage) error {
	if err := ctx.Err(); err != nil {
		return during("certify", err)
	}
	if c.least == 0 {
		return nil
	}
	held, sure := page.held()
	switch share := float64(held) / float64(page.Answers); {
	case !sure:
		return helpful{
			errors.New("certify: not all was tried, so that nothing is certified"),
			"more --time, fewer --samples, or --lost 1",
		}
	case share < c.least:
		return helpful{
			fmt.Errorf("certify: %s of the answers hold, want %.1f %%", page.share(held), 100*c.least),
			"training with train.outage, or a smaller --least",
		}
	}
	return nil
}

// held returns how many answers hold in all that was tried: the fewest; and whether
// that is certain, and all that was asked for was tried.
func (p *certifyPage) held() (answers int, sure bool) {
	answers, sure = p.Answers, p.Stopped == ""
	if p.Lost != nil {
		for k := range p.Lost.Levels {
			l := &p.Lost.Levels[k]
			answers, sure = min(answers, l.Held), sure && l.Complete()
		}
	}
	for k := range p.Drop {
		if slices.Contains(p.asked, p.Drop[k].Probability) {
			answers = min(answers, p.Drop[k].Held)
		}
	}
	if n := p.Noise; n != nil && p.noiseAsked {
		answers, sure = min(answers, n.Held), sure && len(n.Answers) == p.Answers
	}
	if l := p.Liar; l != nil {
		answers, sure = min(answers, l.Held), sure && l.Total == p.Answers && len(l.Liars) == p.Nodes
	}
	return answers, sure
}

// print writes the page: what it comes to in words, then what it is made of.
func (p *certifyPage) print(w *lines) {
	p.leadLost(w)
	p.leadDrop(w)
	p.leadNoise(w)
	p.leadLiar(w)
	p.leadWeakest(w)
	if p.Stopped != "" {
		w.printf("It was %s: what was not tried is not certified.\n", p.Stopped)
	}
	signals, links := counted(p.Of, "signal"), counted(p.Links, "link")
	if p.Steps > 0 {
		signals += fmt.Sprintf(" of %s", counted(p.Steps, "step"))
		links = fmt.Sprintf("%.0f links at a step", float64(p.Links)/float64(p.Steps))
	}
	if p.Signals < p.Of {
		signals = fmt.Sprintf("%s of %s, evenly spread", thousands(p.Signals), signals)
	}
	w.printf("\n  %s, %s, %s; %s\n", counted(p.Nodes, "node"), links, signals, counted(p.Answers, "answer"))
	p.printLost(w)
	p.printDrop(w)
	p.printNoise(w)
	p.printLiar(w)
	for _, path := range p.Charts {
		w.printf("wrote %s\n", path)
	}
}

// of writes a number of answers with its share.
func (p *certifyPage) of(answers int) string {
	return fmt.Sprintf("%s (%s)", thousands(answers), p.share(answers))
}

// share writes a number of answers as a share of all.
func (p *certifyPage) share(answers int) string {
	return shareOf(answers, p.Answers)
}

// units writes a distance in the units of the data.
func (p *certifyPage) units(v float64) string {
	if p.Unit == "" {
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.3g %s", v, p.Unit)
}
