package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/swarm"
)

// Sizes of the measurements: what is compared alternates within one run.
const (
	readerPairs   = 60
	readerWindow  = time.Second / 2
	pagePairs     = 6
	pageWindow    = 2 * time.Second
	browserPairs  = 4
	browserWindow = 8 * time.Second
	browserSettle = 3 * time.Second // a page that was opened or left is not counted
)

// shown is a swarm with a page that goes on until it is stopped.
type shown struct {
	url   string
	hub   *live.Hub
	steps atomic.Int64
	view  atomic.Pointer[swarm.View]
	stop  func()
}

func show(b *testing.B, o swarm.Options, page bool) *shown {
	b.Helper()
	s := new(shown)
	o.Run, o.Dir = "measured", b.TempDir()
	o.OnStep = func(*swarm.Step) error { s.steps.Add(1); return nil }
	o.Watch = func(v *swarm.View) { s.view.Store(v) }
	o.Every = 200 * time.Millisecond
	end := func() {}
	if page {
		hub, err := live.NewHub(swarm.Scene(&o))
		if err != nil {
			b.Fatal(err)
		}
		o.Hub, s.hub = hub, hub
		v := liveweb.NewLive(liveweb.LiveConfig{Hub: hub, Control: true})
		server := httptest.NewServer(v)
		s.url = server.URL
		end = func() { hub.Close(); v.Close(); server.Close() }
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := swarm.Up(ctx, o)
		ended <- err
	}()
	s.stop = func() {
		end()
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			b.Error(err)
		}
	}
	for s.steps.Load() < 20 { // it is up and warm
		select {
		case err := <-ended:
			b.Fatalf("the swarm ended: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return s
}

// rate returns steps per second, and milliseconds of this process' processor
// time per step, during a window.
func (s *shown) rate(window time.Duration) (perSecond, cpu float64) {
	from, at, used := s.steps.Load(), time.Now(), ownTime()
	<-time.After(window)
	steps := float64(s.steps.Load() - from)
	return steps / time.Since(at).Seconds(), 1000 * (ownTime() - used).Seconds() / steps
}

func ownTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// How much slower a swarm of 50 nodes in ten goroutines is while somebody reads
// its events over HTTP and throws them away, and how much a page that nobody
// reads costs.
func BenchmarkPageReader(b *testing.B) {
	task := func() swarm.Options {
		t, err := (&Bench{Seed: 1}).sourceTask(200_000)
		if err != nil {
			b.Fatal(err)
		}
		return swarm.Options{Task: t, Hosts: 10, Bus: swarm.BusMem, Pace: host.Pace{Deadline: 20 * time.Second}}
	}
	for b.Loop() {
		s := show(b, task(), true)
		compare(b, "reader", readerPairs, func(with bool) (float64, float64) {
			if with {
				defer read(b, s.url+"/events")()
			}
			return s.rate(readerWindow)
		})
		s.stop()
		compare(b, "page", pagePairs, func(with bool) (float64, float64) {
			s := show(b, task(), with)
			defer s.stop()
			return s.rate(pageWindow)
		})
	}
}

// buildAgent builds the program wdgnn-agent and returns its path.
func buildAgent(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "wdgnn-agent")
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/wdgnn-agent").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return path
}

// compare alternates between without and with, and reports medians, quartiles
// and the median ratio of neighbours in time.
func compare(b *testing.B, what string, pairs int, measure func(with bool) (perSecond, cpu float64)) {
	b.Helper()
	var rates, costs [2][]float64
	var ratios, dearer []float64
	for k := range pairs {
		for _, which := range []int{k % 2, 1 - k%2} { // who is first alternates, too
			r, c := measure(which == 1)
			rates[which], costs[which] = append(rates[which], r), append(costs[which], c)
		}
		ratios = append(ratios, rates[1][k]/rates[0][k])
		dearer = append(dearer, costs[1][k]/costs[0][k])
	}
	b.Logf("%s: steps/s without %s, with %s, ratio %s; processor time per step without %s ms, with %s ms, ratio %s; "+
		"%d pairs, median (quartiles)",
		what, spread(rates[0]), spread(rates[1]), spread(ratios), spread(costs[0]), spread(costs[1]), spread(dearer), pairs)
	b.ReportMetric(100*(1-quantile(ratios, 0.5)), "%slower-"+what)
	b.ReportMetric(100*(quantile(dearer, 0.5)-1), "%cpu-"+what)
}

func quantile(list []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[int(math.Round(q*float64(len(sorted)-1)))]
}

func spread(list []float64) string {
	return fmt.Sprintf("%.4g (%.4g to %.4g)", quantile(list, 0.5), quantile(list, 0.25), quantile(list, 0.75))
}

// read throws away what a URL sends, until the returned function is called.
func read(b *testing.B, url string) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, a.Body) // until it is cut off
		a.Body.Close()
	}()
	return func() {
		cancel()
		<-done
	}
}

// How many messages of 50 robots in ten processes at 20 Hz are late without and
// with a browser that shows the page on the same machine.
func BenchmarkPageBrowser(b *testing.B) {
	if _, err := exec.LookPath("chromium"); err != nil {
		b.Skipf("SKIPPED %s: it needs Debian's chromium: %v", b.Name(), err)
	}
	program := buildAgent(b)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.Flag("disable-gpu", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(b.Context(), options...)
	defer stop()
	browser, leave := chromedp.NewContext(allocator)
	defer leave()
	if err := chromedp.Do(browser); err != nil { // starts it
		b.Fatal(err)
	}
	open := func(url string) (hide func()) {
		tab, hide := chromedp.NewContext(browser)
		if err := chromedp.Do(tab, chromedp.Navigate(url)); err != nil {
			b.Fatal(err)
		}
		return hide
	}
	for b.Loop() {
		t, err := (&Bench{Seed: 1}).flockTask(100_000)
		if err != nil {
			b.Fatal(err)
		}
		s := show(b, swarm.Options{
			Task: t, Hosts: 10, Program: []string{program}, Period: 50 * time.Millisecond,
			Pace: host.Pace{Mode: host.RealTime, Deadline: 30 * time.Millisecond},
		}, true)
		var late, all [2]float64
		var shares [2][]float64
		for k := range browserPairs {
			for _, which := range []int{k % 2, 1 - k%2} {
				hide := func() {}
				if which == 1 {
					hide = open(s.url)
				}
				<-time.After(browserSettle)
				if got := s.hub.Stats().Readers; got != which {
					b.Fatalf("got %d readers of the page, want %d", got, which)
				}
				before := s.view.Load().Counters.Agents
				<-time.After(browserWindow)
				after := s.view.Load().Counters.Agents
				missed, came := float64(after.Expired-before.Expired), float64(after.Received-before.Received)
				hide()
				late[which], all[which] = late[which]+missed, all[which]+missed+came
				shares[which] = append(shares[which], 100*missed/max(missed+came, 1))
			}
		}
		s.stop()
		b.Logf("late messages without a browser %.0f of %.0f, by window %.3g %%; with one %.0f of %.0f, by window %.3g %%",
			late[0], all[0], shares[0], late[1], all[1], shares[1])
		b.ReportMetric(100*late[0]/all[0], "%late-without")
		b.ReportMetric(100*late[1]/all[1], "%late-with")
	}
}
