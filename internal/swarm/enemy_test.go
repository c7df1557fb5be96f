package swarm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// traitor is a host whose key has been stolen.
const traitor transport.HostID = 3

// enemy does harm to a swarm that is running.
type enemy struct {
	t     *testing.T
	dir   string // of the swarm
	run   string
	url   string // of its server
	hears map[transport.HostID][]transport.HostID
	nodes map[transport.HostID][]agent.NodeID
	plan  *agent.Plan
	now   atomic.Uint64 // the swarm's step
	rng   *rand.Rand

	recorded [][]byte // frames that were overheard
	replay   [][]byte // frames of another run
}

// assail runs a swarm of processes and lets attack at it from its fifth step on.
// The swarm must answer every line and end with parameters so far from those of one
// process, 0 for its bits.
func assail(t *testing.T, run, bus string, replay [][]byte, far float64, attack func(*enemy) error) (*Result, *enemy) {
	t.Helper()
	o, w := observe(t, &settings[0], Options{
		Program: program(t), Run: run, Bus: bus, Verify: true, Pace: host.Pace{Deadline: 30 * time.Second, Retry: time.Second},
	})
	p, _ := plan(t, &w.toy, &settings[0])
	divided := Partition(w.graph, fieldHosts)
	e := &enemy{
		t: t, dir: o.Dir, run: run, hears: Neighbours(w.graph, divided), nodes: divided, plan: p,
		rng: random.Stream(1, "enemy"), replay: replay,
	}
	done := make(chan error, 1)
	w.then = func() {
		e.now.Store(uint64(w.steps))
		if w.steps == 5 {
			go func() { done <- attack(e) }()
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			w.enough = true
		default:
		}
	}
	r := w.up(o, far)
	if r.Missing > 0 || far == 0 && (!r.Verified.Same() || r.Counters.Agents.Expired > 0) {
		t.Errorf("%+v; %d answers missing, counters %+v, want the same bits", *r.Verified, r.Missing, r.Counters)
	}
	return r, e
}

// config reads the configuration of a host.
func (e *enemy) config(id transport.HostID) (*box.Config, error) {
	return box.Read(filepath.Join(e.dir, fmt.Sprintf("host-%d.yaml", id)))
}

// dial connects with the key of a party.
func (e *enemy) dial(dir, party string, id transport.HostID) (*natsbus.Conn, error) {
	c := natsbus.Config{URL: e.url, Run: e.run, Host: id}
	if party != "" {
		secrets, err := keys.LoadClient(dir, party)
		if err != nil {
			return nil, err
		}
		c.Seed = secrets.Seed
	}
	ctx, cancel := context.WithTimeout(context.Background(), fieldTimeout)
	defer cancel()
	return natsbus.Dial(ctx, c)
}

// strangers have no key, or one of another deployment.
func (e *enemy) strangers() error {
	other := filepath.Join(e.t.TempDir(), "keys")
	if err := keys.Make(other, keys.Plan{Run: e.run, Hosts: []keys.Host{{ID: 0}}}); err != nil {
		return err
	}
	for _, party := range []string{"", keys.HostName(0), keys.World} {
		if c, err := e.dial(other, party, 0); err == nil {
			c.Close()
			return fmt.Errorf("a stranger with the key %q was let in", party)
		}
	}
	return nil
}

// noise is bytes that are no protocol, and connections that say nothing.
func (e *enemy) noise(address string) error {
	for k := range 10 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		e.t.Cleanup(func() { c.Close() }) // it stays open until the end
		if k%2 == 0 {
			c.Write(e.random(1 << 12)) // refused in the middle, perhaps
		}
	}
	return nil
}

func (e *enemy) random(n int) []byte {
	b := make([]byte, n)
	for k := range b {
		b[k] = byte(e.rng.Uint32())
	}
	return b
}

// trespass speaks and listens where the traitor's key does not allow it.
func (e *enemy) trespass(c *natsbus.Conn) error {
	end, err := json.Marshal(host.Line{End: true})
	if err != nil {
		return err
	}
	for id := range transport.HostID(fieldHosts) {
		if id == traitor {
			continue
		}
		for _, subject := range []string{
			natsbus.FromSubject(e.run, id), natsbus.WorldSubject(e.run, id),
			natsbus.AnswerSubject(e.run, id), natsbus.ReportSubject(e.run, id),
		} {
			if err := c.Publish(subject, end); err != nil {
				return err
			}
		}
	}
	for _, subject := range []string{">", natsbus.AnswerSubjects(e.run), natsbus.WorldSubjects(e.run), "$SYS.>"} {
		if _, err := c.Subscribe(subject, func(got string, _ []byte) { e.t.Errorf("the traitor overhears %s", got) }); err != nil {
			return err
		}
	}
	if err := c.Flush(context.Background()); err != nil {
		return err
	}
	for began := time.Now(); c.Stats().Refused < 4*(fieldHosts-1)+4; { // refusals are told by and by
		if time.Since(began) > fieldTimeout {
			return fmt.Errorf("%d refusals, want %d", c.Stats().Refused, 4*(fieldHosts-1)+4)
		}
		if err := c.Flush(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

// lie sends frames as the traitor that the traitor would never send.
func (e *enemy) lie(c *natsbus.Conn) error {
	hash, own := host.RunHash(e.run), e.nodes[traitor][0]
	other := e.nodes[e.hears[traitor][0]][0]
	good := func(t uint64) agent.Message {
		return agent.Message{
			From: own, To: agent.Everyone, Time: t, Kind: agent.Row, Links: 4, Degree: 4,
			Values: make([]float32, e.plan.Length(0)),
		}
	}
	frame := func(h agent.Header, m ...agent.Message) []byte { return agent.AppendFrame(nil, h, m) }
	mine := agent.Header{Run: hash, Plan: e.plan.Digest(), Host: uint32(traitor), Sequence: 1 << 40}
	for range 20 {
		t := e.now.Load()
		whole := frame(mine, good(t))
		frames := [][]byte{
			{},
			e.random(100), whole[:len(whole)-1], append(slices.Clone(whole), 0),
			frame(agent.Header{Run: hash + 1, Host: uint32(traitor)}, good(t)),
			frame(agent.Header{Run: hash, Host: uint32(e.hears[traitor][0])}, good(t)),
			frame(mine, good(1<<60), good(math.MaxUint64)),
		}
		for d := range uint64(4) { // now or soon
			theirs, nan, long, late, odd := good(t+d), good(t+d), good(t+d), good(t+d), good(t+d)
			theirs.From = other
			nan.Values[0] = float32(math.NaN())
			long.Values = make([]float32, len(long.Values)+1)
			late.Exchange = 999
			odd.Degree = math.Inf(1)
			frames = append(frames, frame(mine, theirs, nan, long, late, odd))
		}
		ask := agent.Message{From: own, To: other, Time: t, Kind: agent.Ask}
		frames = append(frames, frame(mine, ask, ask, ask))
		for _, f := range frames {
			if err := c.Send(f); err != nil {
				return err
			}
		}
		if err := e.wait(1); err != nil {
			return err
		}
	}
	return nil
}

// wait returns some steps later.
func (e *enemy) wait(steps uint64) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for began, from := time.Now(), e.now.Load(); e.now.Load() < from+steps; <-tick.C {
		if time.Since(began) > fieldTimeout {
			return errors.New("the swarm stands still")
		}
	}
	return nil
}

// record overhears what a neighbour of the traitor hears.
func (e *enemy) record() error {
	victim := e.hears[traitor][0]
	spy, err := e.dial(filepath.Join(e.dir, "keys"), keys.HostName(victim), victim)
	if err != nil {
		return err
	}
	defer spy.Close()
	if err := spy.Hear(e.hears[victim]); err != nil {
		return err
	}
	for len(e.recorded) < 50 {
		select {
		case f := <-spy.Frames():
			e.recorded = append(e.recorded, f.Data)
		case <-time.After(fieldTimeout):
			return errors.New("nothing to be overheard")
		}
	}
	return nil
}

// repeat says what was overheard again later, in the traitor's name: frames of the
// traitor, of others, and of another run.
func (e *enemy) repeat(c *natsbus.Conn) error {
	if err := e.record(); err != nil {
		return err
	}
	if err := e.wait(3); err != nil {
		return err
	}
	for _, f := range slices.Concat(e.recorded, e.replay) {
		if err := c.Send(f); err != nil {
			return err
		}
	}
	return c.Flush(context.Background())
}

// nonsense says things with the world's key that make none.
func (e *enemy) nonsense() error {
	world, err := e.dial(filepath.Join(e.dir, "keys"), keys.World, fieldHosts)
	if err != nil {
		return err
	}
	defer world.Close()
	for id := range transport.HostID(fieldHosts) {
		node := e.nodes[id][0]
		for _, line := range []string{
			"", "nonsense", string(e.random(1000)), `{"time":-1}`, `{"time":1,"surprise":2}`, `{"time":1}{"time":2}`,
			`[]`, strings.Repeat("[", 100_000),
			fmt.Sprintf(`{"time":%d,"nodes":[{"node":%d,"row":[1e999,0]}]}`, e.now.Load()+1, node),
			fmt.Sprintf(`{"time":0,"nodes":[{"node":%d,"row":[1,2]}]}`, node),
			fmt.Sprintf(`{"time":0,"nodes":[{"node":%d,"target":[1]}]}`, node),
		} {
			if err := world.Publish(natsbus.WorldSubject(e.run, id), []byte(line)); err != nil {
				return err
			}
		}
	}
	return world.Flush(context.Background())
}
