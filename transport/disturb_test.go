package transport_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
	"github.com/wdgnn/wdgnn/transport/transporttest"
)

// pair is host 0, which speaks, and host 1, which hears it with faults.
type pair struct {
	t       *testing.T
	speaker transport.Bus
	hearer  transport.Bus
	sent    uint64
}

// join connects a pair over a network. It is for use in a synctest bubble.
func join(t *testing.T, n *mem.Network, f transport.Faults) *pair {
	t.Helper()
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	speaker, err := n.Join(0)
	if err != nil {
		t.Fatal(err)
	}
	hearer, err := n.Join(1)
	if err != nil {
		t.Fatal(err)
	}
	hearer = transport.Disturb(hearer, 1, f)
	if err := hearer.Hear([]transport.HostID{0}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		speaker.Close()
		hearer.Close()
	})
	return &pair{t: t, speaker: speaker, hearer: hearer}
}

// send sends the next count numbers and waits until all is still.
func (p *pair) send(count int) {
	p.t.Helper()
	for range count {
		p.sent++
		if err := p.speaker.Send(binary.LittleEndian.AppendUint64(nil, p.sent)); err != nil {
			p.t.Fatal(err)
		}
	}
	synctest.Wait()
}

// heard returns the numbers that have arrived since.
func (p *pair) heard() []uint64 {
	var got []uint64
	for len(p.hearer.Frames()) > 0 {
		got = append(got, binary.LittleEndian.Uint64((<-p.hearer.Frames()).Data))
	}
	return got
}

// want checks what has arrived since.
func (p *pair) want(what string, want ...uint64) {
	p.t.Helper()
	if got := p.heard(); !slices.Equal(got, want) {
		p.t.Errorf("%s: got frames %v, want %v", what, got, want)
	}
}

// Frames are lost without a goroutine between the bus and its reader where nothing else
// is done to them: the same ones, and none of them counts as received.
func TestDisturbOnlyLoses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frames = 500
		only := join(t, &mem.Network{Buffer: frames}, transport.Faults{Seed: 3, Loss: 0.2})
		elsewhere := []transport.Partition{{Hosts: []transport.HostID{7}}}
		beside := join(t, &mem.Network{Buffer: frames}, transport.Faults{Seed: 3, Loss: 0.2, Partitions: elsewhere})
		only.send(frames)
		beside.send(frames)
		got, want := only.heard(), beside.heard()
		if !slices.Equal(got, want) || len(got) == frames {
			t.Errorf("got %d frames, want the same %d of %d", len(got), len(want), frames)
		}
		if n, lost := only.hearer.Stats().Received, transport.Disturbed(only.hearer).Lost; n != uint64(len(got)) || n+lost != frames {
			t.Errorf("got %d frames counted as received and %d as lost, want %d and the rest of %d", n, lost, len(got), frames)
		}
	})
}

// A disturbed bus is a bus: with no fault at all, and with faults that touch
// nobody here.
func TestDisturbConformance(t *testing.T) {
	elsewhere := []transport.Partition{{Hosts: []transport.HostID{1000}}}
	for name, f := range map[string]transport.Faults{"none": {}, "elsewhere": {Partitions: elsewhere}} {
		t.Run(name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T, hosts int) []transport.Bus {
				var network mem.Network
				var buses []transport.Bus
				for h := range transport.HostID(hosts) {
					b, err := network.Join(h)
					if err != nil {
						t.Fatal(err)
					}
					b = transport.Disturb(b, h, f)
					t.Cleanup(func() { b.Close() })
					buses = append(buses, b)
				}
				return buses
			})
		})
	}
}

// Without faults nothing stands between the reader and the bus.
func TestDisturbNothing(t *testing.T) {
	b, err := new(mem.Network).Join(0)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if d := transport.Disturb(b, 0, transport.Faults{Seed: 7}); d != b {
		t.Errorf("got %T, want the bus itself", d)
	}
	if d := transport.Disturbed(b); d != (transport.Disturbances{}) {
		t.Errorf("got %+v, want nothing counted", d)
	}
}

// Each fault happens as often as it should: within five standard deviations.
func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frames = 20000
		f := transport.Faults{Seed: 3, Loss: 0.3, Duplicate: 0.1, Reorder: 0.2}
		p := join(t, new(mem.Network), f)
		for range frames / 500 {
			p.send(500)
			p.heard()
		}
		d, kept := transport.Disturbed(p.hearer), 1-f.Loss
		for _, c := range []struct {
			name string
			got  uint64
			rate float64
		}{
			{"lost", d.Lost, f.Loss},
			{"duplicated", d.Duplicated, kept * f.Duplicate},
			// Of two in a row that both should be held only the first is: a
			// chain of two states, which is held p/(1+p) of the time.
			{"reordered", d.Reordered, kept * f.Reorder / (1 + f.Reorder)},
		} {
			want, sigma := frames*c.rate, math.Sqrt(frames*c.rate*(1-c.rate))
			if math.Abs(float64(c.got)-want) > 5*sigma {
				t.Errorf("%s: got %d of %d, want %.0f ± %.0f", c.name, c.got, frames, want, 5*sigma)
			}
		}
		time.Sleep(time.Second) // in the bubble: whoever was held comes
		p.heard()
		s := p.hearer.Stats()
		if want := frames - d.Lost + d.Duplicated; s.Received != want || s.Dropped != 0 {
			t.Errorf("got %d received, %d dropped, want %d and 0", s.Received, s.Dropped, want)
		}
	})
}

// Same seed, same fate, whatever else is heard in between; another seed,
// another fate.
func TestRepeatable(t *testing.T) {
	run := func(seed uint64, others bool) (got []uint64) {
		synctest.Test(t, func(t *testing.T) {
			var n mem.Network
			p := join(t, &n, transport.Faults{Seed: seed, Loss: 0.3, Duplicate: 0.2, Reorder: 0.2, Jitter: time.Millisecond})
			third, err := n.Join(2)
			if err != nil {
				t.Fatal(err)
			}
			defer third.Close()
			if others {
				if err := p.hearer.Hear([]transport.HostID{0, 2}); err != nil {
					t.Fatal(err)
				}
			}
			for range 200 {
				if err := third.Send(make([]byte, 8)); err != nil {
					t.Fatal(err)
				}
				p.send(1)
				time.Sleep(100 * time.Microsecond)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			got = slices.DeleteFunc(p.heard(), func(k uint64) bool { return k == 0 })
		})
		return got
	}
	first := run(1, false)
	for _, c := range []struct {
		name   string
		seed   uint64
		others bool
		same   bool
	}{{"again", 1, false, true}, {"with another sender", 1, true, true}, {"another seed", 2, false, false}} {
		if got := run(c.seed, c.others); slices.Equal(got, first) != c.same {
			t.Errorf("%s: got %v, want it to equal %v: %t", c.name, got, first, c.same)
		}
	}
}

// Frames come after their delay, in order, and within the jitter.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := join(t, new(mem.Network), transport.Faults{Delay: 50 * time.Millisecond})
		p.send(3)
		p.want("at once")
		time.Sleep(50*time.Millisecond - 1)
		synctest.Wait()
		p.want("just before")
		time.Sleep(1 * time.Nanosecond)
		synctest.Wait()
		p.want("after the delay", 1, 2, 3)
		if d := transport.Disturbed(p.hearer); d.Delayed != 3 {
			t.Errorf("got %d delayed, want 3", d.Delayed)
		}

		q := join(t, new(mem.Network), transport.Faults{Jitter: 100 * time.Millisecond})
		q.send(100)
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if n := len(q.heard()); n < 25 || n > 75 {
			t.Errorf("after half of the jitter: got %d of 100 frames, want about 50", n)
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if s := q.hearer.Stats(); s.Received != 100 {
			t.Errorf("after the jitter: got %d of 100 frames, want all", s.Received)
		}
	})
}

// A held frame comes after the next one, or after a while if there is none.
func TestReorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := join(t, new(mem.Network), transport.Faults{Reorder: 1})
		p.send(1)
		p.want("the first one is held")
		p.send(1)
		p.want("the next one goes first", 2, 1)
		p.send(4)
		p.want("in pairs", 4, 3, 6, 5)
		p.send(1)
		p.want("the last one is held")
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		p.want("nobody came", 7)
		if d := transport.Disturbed(p.hearer); d.Reordered != 4 {
			t.Errorf("got %d reordered, want 4", d.Reordered)
		}
	})
}

// A partition cuts between its hosts and others, while it lasts.
func TestPartitionHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := func(hosts ...transport.HostID) []transport.Partition {
			return []transport.Partition{{Hosts: hosts, From: time.Second, To: 2 * time.Second}}
		}
		apart := join(t, new(mem.Network), transport.Faults{Partitions: set(1, 5)})
		within := join(t, new(mem.Network), transport.Faults{Partitions: set(0, 1)})
		never := join(t, new(mem.Network), transport.Faults{Partitions: []transport.Partition{{Hosts: []transport.HostID{0}, From: time.Second}}})
		for _, c := range []struct {
			what       string
			cut, still bool
		}{{"before", false, false}, {"while it lasts", true, true}, {"healed", false, true}} {
			for _, p := range []*pair{apart, within, never} {
				p.send(1)
			}
			numbers := func(cut bool) []uint64 {
				if cut {
					return nil
				}
				return []uint64{apart.sent}
			}
			apart.want(c.what+": one inside, one outside", numbers(c.cut)...)
			within.want(c.what+": both inside", apart.sent)
			never.want(c.what+": one that never heals", numbers(c.still)...)
			time.Sleep(time.Second)
		}
		if d := transport.Disturbed(apart.hearer); d.Partitioned != 1 {
			t.Errorf("got %d partitioned, want 1", d.Partitioned)
		}
	})
}

// A host that is disturbed later than others agrees with them on when a
// partition is, if it is told when everything began.
func TestPartitionOfLatecomer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		time.Sleep(time.Second)
		p := join(t, new(mem.Network), transport.Faults{
			Began:      began,
			Partitions: []transport.Partition{{Hosts: []transport.HostID{1}, From: time.Second, To: 2 * time.Second}},
		})
		p.send(1)
		p.want("while it lasts")
		time.Sleep(time.Second)
		p.send(1)
		p.want("healed", p.sent)
	})
}

// Close does not wait for what is late; synctest fails if a goroutine stays.
func TestCloseWhileLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := join(t, new(mem.Network), transport.Faults{Delay: time.Minute, Reorder: 1})
		p.send(10)
		began := time.Now()
		if err := p.hearer.Close(); err != nil {
			t.Fatal(err)
		}
		if f, open := <-p.hearer.Frames(); open {
			t.Errorf("got frame %v, want a closed channel", f)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("Close took %v, want no time", took)
		}
	})
}

// What is late takes a bounded number of frames; more are dropped and counted.
func TestLateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := join(t, new(mem.Network), transport.Faults{Delay: time.Minute})
		const bound = 1 << 16
		for range bound/500 + 1 {
			p.send(500)
		}
		want := p.sent - bound
		if s := p.hearer.Stats(); s.Dropped != want {
			t.Errorf("got %d dropped of %d, want %d", s.Dropped, p.sent, want)
		}
	})
}
