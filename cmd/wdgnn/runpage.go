package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/runview"
	"github.com/wdgnn/wdgnn/train"
)

// runFlags adds the flags of a command whose run may be watched.
func (p *page) runFlags(cmd *cobra.Command) {
	p.pageFlag(cmd, "show the run on a page in a browser, which stays until Ctrl-C")
	p.access(cmd.Flags())
}

// runPage shows a run while it goes on, and after its end until Ctrl-C. The nil page
// shows nothing.
type runPage struct {
	hub    *live.Hub
	out    io.Writer
	served <-chan error
	stop   func()
	latest *live.Frame

	began time.Time
	from  float64 // what was done then; -1 if nobody said yet
}

// openPage begins to serve the page of a run; nil if none was asked for.
func openPage(p *page, out io.Writer, s live.Scene) (*runPage, error) {
	if !p.wanted {
		return nil, nil
	}
	hub, err := live.NewHub(s)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background()) // it outlives Ctrl-C by what is left to say
	served, err := p.start(ctx, out, liveweb.LiveConfig{Hub: hub, Control: true})
	if err != nil {
		stop()
		return nil, err
	}
	return &runPage{hub: hub, out: out, served: served, stop: stop, began: time.Now(), from: -1}, nil
}

// offer shows a frame of the run and says what happened.
func (p *runPage) offer(f *live.Frame, words []live.Words) error {
	p.latest = f
	for _, w := range words {
		p.hub.Mark(w.Time, w.Mark, "%s", w.Text)
	}
	return p.hub.Offer(f)
}

// publish shows the latest frame as it is now.
func (p *runPage) publish(settings live.Numbers) error {
	if p.latest == nil {
		return nil
	}
	f := *p.latest
	f.Settings = settings
	return p.hub.Publish(&f)
}

// progress is that of a run which has done so much, by the pace since the page opened.
func (p *runPage) progress(done, of float64) *live.Progress {
	if p.from < 0 {
		p.from, p.began = done, time.Now()
	}
	left := -1.0
	if spent := time.Since(p.began).Seconds(); done > p.from && spent > 0 {
		left = spent / (done - p.from) * (of - done)
	}
	return &live.Progress{Done: math.Min(done, of), Of: of, Left: left}
}

// end says that the run is over and how it went.
func (p *runPage) end(words ...string) {
	if p == nil || p.hub.Ended() {
		return
	}
	at := 0.0
	if p.latest != nil {
		at = p.latest.Time
		f := *p.latest
		f.Progress = nil
		_ = p.hub.Publish(&f) // it was checked when it was offered
	}
	for _, said := range words {
		p.hub.Say(at, "%s", said)
	}
	p.hub.Close()
}

// stay shows the end until Ctrl-C.
func (p *runPage) stay(ctx context.Context) error {
	if p == nil {
		return nil
	}
	if ctx.Err() == nil {
		fmt.Fprintln(p.out, "The page stays until Ctrl-C")
	}
	select {
	case err := <-p.served:
		p.served = nil
		return err
	case <-ctx.Done():
		return nil
	}
}

// close ends the page.
func (p *runPage) close() {
	if p == nil {
		return
	}
	p.end()
	p.stop()
	if p.served != nil {
		<-p.served
	}
}

// onlinePage shows an online run.
type onlinePage struct {
	*runPage
	show  *runview.Online
	pace  *runview.Pace
	steps int
}

// openOnlinePage begins to show a run; earlier lines are those of before it was
// resumed.
func openOnlinePage(p *page, out io.Writer, run *lifecycle.OnlineRun, dir string, speed float64) (*onlinePage, error) {
	if !p.wanted {
		return nil, nil
	}
	about := runview.AboutOnline(run, runview.OnlineTitle(dir))
	about.Watched = true
	v := &onlinePage{show: runview.NewOnline(about), steps: run.Stream.Steps}
	var err error
	if v.runPage, err = openPage(p, out, v.show.Scene()); err != nil {
		return nil, err
	}
	v.pace = runview.NewPace(v.hub, speed)
	for _, s := range runview.OnlineLines(dir) {
		if err := v.offer(v.show.Take(s)); err != nil {
			v.close()
			return nil, err
		}
	}
	return v, nil
}

// step shows a step, and waits as long as those who watch want it to.
func (v *onlinePage) step(ctx context.Context, s lifecycle.OnlineStep) error {
	if v == nil {
		return nil
	}
	f, words := v.show.Take(s)
	f.Settings, f.Progress = v.pace.Settings(), v.progress(float64(s.Step+1), float64(v.steps))
	if err := v.offer(f, words); err != nil {
		return err
	}
	return v.pace.Wait(ctx, func() error { return v.publish(v.pace.Settings()) })
}

func (v *onlinePage) base() *runPage {
	if v == nil {
		return nil
	}
	return v.runPage
}

// trainPage shows training.
type trainPage struct {
	*runPage
	show runview.Training
}

// openTrainPage begins to show training; what is in the folder was before it was
// resumed.
func openTrainPage(p *page, out io.Writer, t runview.Training, dir string) (*trainPage, error) {
	base, err := openPage(p, out, t.Scene())
	if base == nil || err != nil {
		return nil, err
	}
	v := &trainPage{base, t}
	for _, e := range runview.Epochs(dir) {
		if err := v.offer(v.show.Take(e)); err != nil {
			v.close()
			return nil, err
		}
	}
	return v, nil
}

// epoch shows an epoch.
func (v *trainPage) epoch(e train.Epoch) error {
	if v == nil {
		return nil
	}
	f, words := v.show.Take(e)
	f.Progress = v.progress(float64(e.Index), float64(v.show.Epochs))
	return v.offer(f, words)
}

// step shows how far an epoch is.
func (v *trainPage) step(s train.Step) error {
	if v == nil || v.latest == nil || !v.hub.Due() {
		return nil
	}
	f := *v.latest
	f.Progress = v.progress(float64(s.Epoch-1)+float64(s.Done)/float64(s.Samples), float64(v.show.Epochs))
	return v.hub.Publish(&f)
}

func (v *trainPage) base() *runPage {
	if v == nil {
		return nil
	}
	return v.runPage
}
