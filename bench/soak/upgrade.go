//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
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

// Move is one box, or the server, that was ended in order and started with the other
// program.
type Move struct {
	setting
	Box     int     `json:"box"`     // as many as there are boxes for the server
	To      string  `json:"to"`      // newer or older
	At      uint64  `json:"at"`      // the step of its last checkpoint
	Next    uint64  `json:"next"`    // the first step that it answered with the other program
	Missed  int     `json:"missed"`  // steps between them
	Kept    bool    `json:"kept"`    // it went on with what it had learned
	Healed  float64 `json:"healed"`  // seconds from its start until all were together
	Unknown uint64  `json:"unknown"` // messages of kinds that some box does not know, so far
	Why     string  `json:"why,omitempty"`
}

const (
	toNewer = "newer"
	toOlder = "older"
)

// upgrade starts a fleet with an earlier program, which made its keys and runs its
// server, and takes it to the newer and back, over every bus and in both paces.
func upgrade(ctx context.Context, f *field, o *options, u *Upgrade, done func() error) error {
	number := 220
	before := *f
	before.program, before.agent = o.older, append(o.older[:1:1], "agent")
	for _, bus := range o.buses {
		for _, pace := range o.paces {
			number++
			s := setting{Bus: bus, Pace: pace, Boxes: o.boxes, Rate: o.rate, reminds: true}
			y, err := deploy(ctx, &before, s, filepath.Join(o.dir, "upgrade-"+bus+"-"+pace), number, o.seed)
			if err != nil {
				return err
			}
			books := Books{setting: s}
			programs := map[string]*field{toNewer: f, toOlder: &before}
			if err := y.roll(ctx, programs, func(m *Move) { u.Moves = append(u.Moves, m) }); err != nil {
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
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// roll upgrades the boxes one by one and then the server, and takes them back in the
// same order.
func (y *yard) roll(ctx context.Context, programs map[string]*field, note func(*Move)) error {
	if _, why, _ := y.heal(ctx, y.began); why != "" {
		return fmt.Errorf("before any move: %s", why)
	}
	for _, to := range []string{toNewer, toOlder} {
		for k := range y.Boxes + 1 {
			pause(ctx, 2*time.Second) // what is learned meanwhile is in a checkpoint
			if ctx.Err() != nil {
				return ctx.Err()
			}
			m := &Move{setting: y.setting, Box: k, To: to}
			var err error
			switch {
			case k < y.Boxes:
				err = y.moveBox(ctx, m, programs[to].agent)
			case y.Bus == busNATS:
				err = y.moveServer(ctx, m, programs[to])
			default:
				continue
			}
			if err != nil {
				return err
			}
			if note(m); m.Why != "" {
				return fmt.Errorf("box %d to the %s: %s", k, to, m.Why)
			}
		}
	}
	return nil
}

// moveBox ends a box in order and starts it with another program.
func (y *yard) moveBox(ctx context.Context, m *Move, program []string) error {
	b := y.boxes[m.Box]
	p := b.live()
	if p == nil {
		return fmt.Errorf("box %d is down", m.Box)
	}
	if err := b.leave(told); err != nil {
		return err
	}
	p.ledger.mu.Lock()
	last := p.ledger.report
	p.ledger.mu.Unlock()
	b.program = program
	began := time.Now()
	if err := b.start(); err != nil {
		return err
	}
	m.Healed, m.Why, _ = y.heal(ctx, began)
	m.look(y, b, last.Time, last.Agents.Steps)
	return nil
}

// moveServer does the same with the server.
func (y *yard) moveServer(ctx context.Context, m *Move, f *field) error {
	y.endServer(syscall.SIGTERM)
	y.field = f
	began := time.Now()
	if err := y.startServer(); err != nil {
		return err
	}
	m.Healed, m.Why, _ = y.heal(ctx, began)
	m.Kept = true // it remembers nothing
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
