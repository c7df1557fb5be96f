//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Fault is what goes wrong, and for how long.
type Fault struct {
	Kind    string  `json:"kind"`
	Met     []int   `json:"met,omitempty"` // the last of all machines is the server's
	Seconds float64 `json:"seconds"`

	// Behind is how old the latest answer of a box that ran on was at most meanwhile, in seconds.
	Behind float64 `json:"behind,omitempty"`
}

// kind is a kind of fault.
type kind struct {
	name   string
	nats   bool // needs a server
	disks  bool // needs small disks
	kills  bool // boxes
	halts  bool // them
	least  int  // boxes that it meets, all if there are fewer
	most   int  // of them; 0 means none, less than 0 all but so many
	server bool // may meet the server's machine
	from   float64
	to     float64 // seconds
	begin  func(y *yard, f *Fault) error
	end    func(y *yard, f *Fault) error
}

var kinds = []kind{
	{name: "kill -9", kills: true, least: 1, most: 1, from: 0.05, to: 4, begin: each((*box).kill), end: each((*box).start)},
	{name: "kill -9 of several", kills: true, least: 2, most: -1, from: 0.05, to: 4, begin: each((*box).kill), end: each((*box).start)},
	{name: "stop", halts: true, least: 1, most: 1, from: 0.3, to: 8, begin: each((*box).freeze), end: each((*box).thaw)},
	{name: "stop of several", halts: true, least: 2, most: -1, from: 0.3, to: 8, begin: each((*box).freeze), end: each((*box).thaw)},
	{name: "partition", least: 1, most: -1, server: true, from: 0.5, to: 14, begin: part, end: mend},
	{name: "full disk", disks: true, least: 1, most: 1, from: 2, to: 6, begin: each((*box).fill), end: each((*box).empty)},
	{name: "long stop", halts: true, least: 1, most: 2, from: 15, to: 40, begin: each((*box).freeze), end: each((*box).thaw)},
	{name: "long stop of several", halts: true, least: 2, most: 3, from: 15, to: 40, begin: each((*box).freeze), end: each((*box).thaw)},
	{name: "long kill -9 of several", kills: true, least: 2, most: 3, from: 15, to: 40, begin: each((*box).kill), end: each((*box).start)},
	{name: "long partition", least: 1, most: -1, server: true, from: 15, to: 40, begin: part, end: mend},
	{name: "power cut", kills: true, least: 99, most: 99, from: 0.05, to: 4, begin: powerGoes, end: powerComes},
	{name: "server restarts", nats: true, from: 0.05, to: 1, begin: serverEnds, end: serverStarts},
	{name: "server killed", nats: true, from: 0.5, to: 8, begin: serverKilled, end: serverStarts},
	{name: "server stands still", nats: true, from: 0.5, to: 8, begin: serverStops, end: serverGoes},
	{name: "kill -9 without a server", nats: true, kills: true, least: 1, most: 1, from: 0.5, to: 6, begin: killAlone, end: serverStarts},
}

// kindsFor returns the kinds that a deployment can meet, of those with some text in
// their names.
func kindsFor(bus string, disks bool, text string) (list []kind) {
	for _, k := range kinds {
		if (!k.nats || bus == busNATS) && (!k.disks || disks) && strings.Contains(k.name, text) {
			list = append(list, k)
		}
	}
	return list
}

// draw draws a fault of a kind. Those that kill spare the first boxes, so many.
func (k *kind) draw(rng *rand.Rand, y *yard, spared int) *Fault {
	f := &Fault{Kind: k.name, Seconds: k.from + rng.Float64()*(k.to-k.from)}
	first, machines := 0, y.Boxes
	if k.kills {
		first = spared
	}
	if k.server && y.Bus == busNATS {
		machines++
	}
	most := k.most
	if most < 0 {
		most = machines - first + most
	}
	if most > 0 {
		count := k.least + rng.IntN(max(most-k.least, 0)+1)
		for _, m := range rng.Perm(machines - first)[:min(count, machines-first)] {
			f.Met = append(f.Met, first+m)
		}
	}
	return f
}

// suffer lets a fault happen and returns when it was over, also where ctx ended it.
func (y *yard) suffer(ctx context.Context, k *kind, f *Fault) (time.Time, error) {
	err := k.begin(y, f)
	over := time.After(time.Duration(f.Seconds * float64(time.Second)))
	ticks := time.NewTicker(healLook)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			f.Behind = max(f.Behind, y.behind(k, f).Seconds())
			continue
		case <-ctx.Done():
		case <-over:
		}
		return time.Now(), errors.Join(err, k.end(y, f))
	}
}

// behind returns how old the oldest of the latest answers is, of boxes that run by the clock.
func (y *yard) behind(k *kind, f *Fault) (most time.Duration) {
	now := time.Now()
	for _, b := range y.boxes {
		p := b.live()
		if y.Pace == answered || p == nil || (k.kills || k.halts) && slices.Contains(f.Met, b.number) {
			continue
		}
		if good := p.ledger.latest(); good > 0 {
			most = max(most, now.Sub(y.began)-time.Duration(good)*y.period)
		}
	}
	return most
}

// each does something to all boxes of a fault.
func each(do func(*box) error) func(*yard, *Fault) error {
	return func(y *yard, f *Fault) error {
		var errs []error
		for _, k := range f.Met {
			errs = append(errs, do(y.boxes[k]))
		}
		return errors.Join(errs...)
	}
}

func (b *box) kill() error   { return b.leave(killed) }
func (b *box) freeze() error { return b.signal(syscall.SIGSTOP) }
func (b *box) thaw() error   { return b.signal(syscall.SIGCONT) }

func (b *box) ballast() string { return filepath.Join(filepath.Dir(b.config()), "state", "ballast") }

// fill takes all room on the disk of a box.
func (b *box) fill() error {
	f, err := os.Create(b.ballast())
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return nil
}

// empty gives the room back.
func (b *box) empty() error { return os.Remove(b.ballast()) }

func part(y *yard, f *Fault) error { return y.net.cut(f.Met) }
func mend(y *yard, _ *Fault) error { return y.net.mend() }

// powerGoes kills boxes, and the server if there is one.
func powerGoes(y *yard, f *Fault) error {
	y.endServer(syscall.SIGKILL)
	return each((*box).kill)(y, f)
}

// powerComes starts the boxes before the server, which is there when it is there.
func powerComes(y *yard, f *Fault) error {
	err := each((*box).start)(y, f)
	if y.Bus == busNATS {
		err = errors.Join(err, y.startServer())
	}
	return err
}

// killAlone kills boxes and starts them again when there is no server.
func killAlone(y *yard, f *Fault) error {
	y.endServer(syscall.SIGKILL)
	return errors.Join(each((*box).kill)(y, f), each((*box).start)(y, f))
}

func serverEnds(y *yard, _ *Fault) error {
	y.endServer(syscall.SIGTERM)
	return nil
}

func serverKilled(y *yard, _ *Fault) error {
	y.endServer(syscall.SIGKILL)
	return nil
}

func serverStarts(y *yard, _ *Fault) error { return y.startServer() }

func serverStops(y *yard, _ *Fault) error { return y.signalServer(syscall.SIGSTOP) }
func serverGoes(y *yard, _ *Fault) error  { return y.signalServer(syscall.SIGCONT) }

func (y *yard) signalServer(s syscall.Signal) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.server == nil {
		return fmt.Errorf("the server is not running")
	}
	return y.server.Process.Signal(s)
}
