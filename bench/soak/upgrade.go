//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// Upgrade is a fleet whose boxes change their program one by one, and back.
type Upgrade struct {
	Meta
	Older string  `json:"older"` // version of the other program
	Moves []*Move `json:"moves"`
	Books []Books `json:"books"`
}

// Books are those of a whole upgrade over one bus.
type Books struct {
	setting
	Account
	Failed string `json:"failed,omitempty"`
}

// Move is one box that was ended in order and started with the other program.
type Move struct {
	setting
	Box     int     `json:"box"`
	To      string  `json:"to"`      // newer or older
	At      uint64  `json:"at"`      // the step of its last checkpoint
	Next    uint64  `json:"next"`    // the first step that it answered with the other program
	Missed  int     `json:"missed"`  // steps between them
	Kept    bool    `json:"kept"`    // it went on with what it had learned
	Healed  float64 `json:"healed"`  // seconds from its start until all were together
	Unknown uint64  `json:"unknown"` // messages of kinds that some box does not know, so far
	Why     string  `json:"why,omitempty"`
}

// upgrade starts a fleet with the older program and takes it to the newer and back,
// over every bus and in both paces.
func upgrade(ctx context.Context, f *field, o *options, u *Upgrade, done func() error) error {
	number := 220
	for _, bus := range o.buses {
		for _, pace := range []string{lockstep, realTime} {
			number++
			s := setting{Bus: bus, Pace: pace, Boxes: o.boxes, Rate: o.rate}
			old := *f
			old.agent = o.older
			y, err := deploy(ctx, &old, s, filepath.Join(o.dir, "upgrade-"+bus+"-"+pace), number, o.seed)
			if err != nil {
				return err
			}
			books := Books{setting: s}
			if err := y.roll(ctx, f.agent, o.older, func(m *Move) { u.Moves = append(u.Moves, m) }); err != nil {
				books.Failed = err.Error()
			}
			if books.Account, err = y.stop(); err != nil {
				books.Failed += err.Error()
			}
			err = y.clear()
			y.net.close()
			u.Books = append(u.Books, books)
			if err == nil {
				err = done()
			}
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

// roll upgrades the boxes one by one and then takes them back, in the same order.
func (y *yard) roll(ctx context.Context, newer, older []string, note func(*Move)) error {
	if _, why := y.heal(ctx, y.began); why != "" {
		return fmt.Errorf("before any move: %s", why)
	}
	for _, to := range []string{"newer", "older"} {
		for _, b := range y.boxes {
			pause(ctx, 2*time.Second) // what is learned meanwhile is in a checkpoint
			if ctx.Err() != nil {
				return ctx.Err()
			}
			m := &Move{setting: y.setting, Box: b.number, To: to}
			b.program = newer
			if to == "older" {
				b.program = older
			}
			p := b.live()
			if p == nil {
				return fmt.Errorf("box %d is down", b.number)
			}
			if err := b.leave(told); err != nil {
				return err
			}
			p.ledger.mu.Lock()
			last := p.ledger.report
			p.ledger.mu.Unlock()
			began := time.Now()
			if err := b.start(); err != nil {
				return err
			}
			m.Healed, m.Why = y.heal(ctx, began)
			m.look(y, b, last.Time, last.Agents.Steps)
			note(m)
			if m.Why != "" {
				return fmt.Errorf("box %d, %s: %s", b.number, to, m.Why)
			}
		}
	}
	return nil
}

// look says how a box went on after a move: counts of agents outlive restarts with the
// checkpoint, so that one which began anew has fewer steps than before.
func (m *Move) look(y *yard, b *box, at, steps uint64) {
	m.At = at
	if p := b.live(); p != nil {
		p.ledger.mu.Lock()
		m.Next = p.ledger.first
		p.ledger.mu.Unlock()
		m.Missed = max(int(m.Next)-int(at)-1, 0)
	}
	for _, o := range y.boxes {
		r := o.report()
		if r == nil {
			continue
		}
		m.Unknown += r.Stats.UnknownMessages
		if o == b {
			m.Kept = r.Agents.Steps >= steps
		}
	}
}
