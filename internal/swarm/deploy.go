package swarm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/transport"
)

// Deployment says what boxes are to run.
type Deployment struct {
	Links OperatorLinks
	Hosts []transport.HostID // all of them

	Model string // file; empty with Back
	Back  bool   // to what ran before
	Reset bool   // what was learned is not to be kept
	Drop  bool   // nothing is deployed, and what boxes are armed with is dropped

	Steps int // from now until the change; 0 means what boxes make in three seconds, and as many as there are boxes

	// Say, if not nil, hears what was done, a sentence each.
	Say func(text string)
}

// Deployed is how a deployment went.
type Deployed struct {
	Run    string `json:"run"`
	Hosts  int    `json:"hosts"`
	Model  string `json:"model"`  // SHA-256
	Digest string `json:"digest"` // as boxes compare it
	Before string `json:"before"` // SHA-256 of what ran before
	ID     uint64 `json:"id,omitempty"`
	Step   uint64 `json:"step,omitempty"` // the first with the model
	Made   int    `json:"made"`           // hosts that have begun it
	Late   int    `json:"late,omitempty"` // of them, at a later step, because they were cut off
	Kept   int    `json:"kept"`           // nodes that kept what they had learned
	Anew   int    `json:"anew"`           // nodes that began anew
	Why    string `json:"why,omitempty"`  // they did
}

// ErrPending says that a change is agreed on and not seen to be made everywhere.
var ErrPending = errors.New("agreed on, and not made by all boxes yet: those that are cut off follow when they are back")

// deploying is a deployment under way.
type deploying struct {
	*operator
	want   Deployment
	result Deployed
	states answersOf
}

// answersOf are what boxes said.
type answersOf map[transport.HostID]*box.OrderAnswer

// Deploy brings a model to all boxes: staged, and compared by its sum, at all of them
// first, then armed, then agreed on. Before that an error means that nobody changes
// anything, after it [ErrPending] that some box was not seen to have.
func Deploy(ctx context.Context, want Deployment) (*Deployed, error) {
	if len(want.Hosts) == 0 {
		return nil, errors.New("no boxes")
	}
	o, err := newOperator(ctx, want.Links)
	if err != nil {
		return nil, err
	}
	defer o.close()
	d := &deploying{operator: o, want: want, result: Deployed{Run: want.Links.Run, Hosts: len(want.Hosts)}}
	return &d.result, d.run(ctx)
}

func (d *deploying) say(format string, args ...any) {
	if d.want.Say != nil {
		d.want.Say(fmt.Sprintf(format, args...))
	}
}

// run is the whole of it.
func (d *deploying) run(ctx context.Context) error {
	if err := d.look(ctx); err != nil {
		return err
	}
	if d.want.Drop {
		if err := d.drop(ctx); err != nil {
			return err
		}
		d.say("dropped what was armed on %d of %d boxes", len(d.want.Hosts), len(d.want.Hosts))
		return nil
	}
	if err := d.finish(ctx); err != nil {
		return err
	}
	same, err := d.stage(ctx)
	if err != nil || same {
		return err
	}
	for try := 0; ; try++ {
		some, err := d.agree(ctx, try)
		if err != nil {
			return err
		}
		if some {
			return d.watch(ctx)
		}
		if try == 4 {
			return errors.New("boxes are faster than the word that all are armed: nothing changes; try more --steps")
		}
		d.say("boxes are past that step already, and nothing changed: once more, later")
	}
}

// each asks all boxes at once and returns what they said, and all that went wrong.
func (d *deploying) each(ctx context.Context, ask func(h transport.HostID) (*box.OrderAnswer, error)) (answersOf, error) {
	answers, errs := make([]*box.OrderAnswer, len(d.want.Hosts)), make([]error, len(d.want.Hosts))
	var asking sync.WaitGroup
	for k, h := range d.want.Hosts {
		asking.Go(func() { answers[k], errs[k] = ask(h) })
	}
	asking.Wait()
	all := answersOf{}
	for k, h := range d.want.Hosts {
		if answers[k] != nil {
			all[h] = answers[k]
		}
	}
	if ctx.Err() != nil {
		return all, ctx.Err()
	}
	return all, errors.Join(errs...)
}

// order gives all boxes the same order.
func (d *deploying) order(ctx context.Context, o box.Order) (answersOf, error) {
	return d.each(ctx, func(h transport.HostID) (*box.OrderAnswer, error) { return d.ask(ctx, h, o, orderTime) })
}

// stateTime is how long a box has to say how it is.
const stateTime = 4 * time.Second

// look asks how all boxes are.
func (d *deploying) look(ctx context.Context) error {
	states, err := d.each(ctx, func(h transport.HostID) (*box.OrderAnswer, error) {
		return d.ask(ctx, h, box.Order{Kind: box.OrderState}, stateTime)
	})
	d.states = states
	if len(states) < len(d.want.Hosts) {
		return fmt.Errorf("%d of %d boxes do not answer, and all must be there: nothing changes\n%w\nA box that runs an earlier program, "+
			"has no state: folder, or whose server has keys of an earlier version does not answer either",
			len(d.want.Hosts)-len(states), len(d.want.Hosts), err)
	}
	return err
}

// finish has boxes follow a change that others have made, as somebody left it.
func (d *deploying) finish(ctx context.Context) error {
	var made *host.ChangeReport
	for _, s := range d.states {
		if c := s.Change; c != nil && (c.State == host.ChangeMade || c.State == host.ChangeAgreed) && (made == nil || c.ID > made.ID) {
			made = c
		}
	}
	if made == nil {
		return d.same()
	}
	behind := slices.DeleteFunc(slices.Clone(d.want.Hosts), func(h transport.HostID) bool {
		c := d.states[h].Change
		return c == nil || c.ID != made.ID || c.State == host.ChangeMade
	})
	if len(behind) == 0 {
		return d.same()
	}
	d.say("an earlier deployment, of model %.12s, is not made by %d boxes yet: it is finished first", made.Model, len(behind))
	d.result.ID, d.result.Step, d.result.Model = made.ID, made.Step, made.Model
	if err := d.watch(ctx); err != nil {
		return err
	}
	d.result = Deployed{Run: d.want.Links.Run, Hosts: len(d.want.Hosts)}
	return d.same()
}

// same says that boxes run different things, if they do.
func (d *deploying) same() error {
	first := d.states[d.want.Hosts[0]]
	for _, h := range d.want.Hosts {
		if s := d.states[h]; s.Digest != first.Digest {
			return fmt.Errorf("host %d runs %s (model %.12s), host %d %s (model %.12s): boxes must run the same before another model comes; "+
				"compare what wdgnn-agent --check says of them", h, s.Digest, s.Model, first.Host, first.Digest, first.Model)
		}
	}
	d.result.Before = first.Model
	return nil
}

// stage brings the file to all boxes, and says whether they run it already.
func (d *deploying) stage(ctx context.Context) (same bool, err error) {
	var text []byte
	if d.want.Back {
		if d.result.Model = d.states[d.want.Hosts[0]].Before; d.result.Model == "" {
			return false, errors.New("nothing ran before: no model was deployed to these boxes")
		}
		for _, h := range d.want.Hosts {
			if b := d.states[h].Before; b != d.result.Model {
				return false, fmt.Errorf("host %d ran model %.12s before, host %d %.12s: name the file to go back to",
					h, b, d.want.Hosts[0], d.result.Model)
			}
		}
	} else {
		if _, err := modelfile.Load(d.want.Model); err != nil {
			return false, err
		}
		if text, err = os.ReadFile(d.want.Model); err != nil {
			return false, err
		}
		sum := sha256.Sum256(text)
		d.result.Model = hex.EncodeToString(sum[:])
	}
	staged, err := d.each(ctx, func(h transport.HostID) (*box.OrderAnswer, error) { return d.send(ctx, h, text) })
	if err != nil {
		return false, fmt.Errorf("not staged on all boxes: nothing changes\n%w", err)
	}
	first := staged[d.want.Hosts[0]]
	for _, h := range d.want.Hosts {
		if s := staged[h]; s.Staged != first.Staged {
			return false, fmt.Errorf("with this model host %d would run %s and host %d %s: their settings differ, learn: or scale: perhaps",
				h, s.Staged, first.Host, first.Staged)
		}
	}
	d.result.Digest = first.Staged
	switch {
	case d.want.Reset:
		d.result.Why = "as asked"
	case first.Seeded:
		d.result.Why = "the model brings what its nodes have learned online"
	case first.Learns:
		d.result.Why = "it does not fit the new model: another shape of the wide part, other moments of inputs, other norms of sensors"
	}
	d.say("staged on %d of %d boxes: model %.12s, digest %s", len(staged), len(d.want.Hosts), d.result.Model, first.Staged)
	if first.Staged == d.states[first.Host].Digest {
		d.result.Made = len(staged)
		d.say("all boxes run it already: nothing changes")
		return true, nil
	}
	return false, nil
}

// send brings a file to one box, from where it has left off.
func (d *deploying) send(ctx context.Context, h transport.HostID, text []byte) (*box.OrderAnswer, error) {
	o := box.Order{Kind: box.OrderStage, Model: d.result.Model, Size: int64(len(text))}
	at := int64(0)
	for range 2*len(text)/box.StageChunk + 4 {
		a, err := d.ask(ctx, h, o, orderTime)
		if err != nil || a.Staged != "" {
			return a, err
		}
		at = min(a.Have, int64(len(text)))
		o.At, o.Data = at, text[at:min(int(at)+box.StageChunk, len(text))]
	}
	return nil, fmt.Errorf("host %d: it has %d of %d bytes, and takes no more", h, at, len(text))
}

// drop has all boxes drop what they are armed with.
func (d *deploying) drop(ctx context.Context) error {
	last := uint64(0)
	for _, s := range d.states {
		last = max(last, s.Last)
	}
	d.result.ID = max(uint64(time.Now().UnixNano()), last+1)
	if _, err := d.order(ctx, box.Order{Kind: box.OrderDrop, ID: d.result.ID}); err != nil {
		return fmt.Errorf("another deployment is under way, or a box is gone: nothing changes\n%w", err)
	}
	return nil
}

// agree arms all boxes for a step, and if all are says so. It returns whether some box
// has taken that.
func (d *deploying) agree(ctx context.Context, try int) (some bool, err error) {
	if err := d.drop(ctx); err != nil {
		return false, err
	}
	if err := d.choose(ctx, try); err != nil {
		return false, err
	}
	arm := box.Order{Kind: box.OrderArm, ID: d.result.ID, Model: d.result.Model, Step: d.result.Step, Reset: d.want.Reset}
	if _, err := d.order(ctx, arm); err != nil {
		if strings.Contains(err.Error(), "is over, host") {
			return false, nil
		}
		if again := d.drop(context.WithoutCancel(ctx)); again != nil {
			err = errors.Join(err, again)
		}
		return false, fmt.Errorf("not armed on all boxes: nothing changes\n%w", err)
	}
	d.say("armed on %d of %d boxes for step %d", len(d.want.Hosts), len(d.want.Hosts), d.result.Step)
	arm.Kind = box.OrderAgree
	taken := 0
	_, err = d.each(ctx, func(h transport.HostID) (*box.OrderAnswer, error) {
		a, err := d.ask(ctx, h, arm, orderTime)
		if err == nil {
			d.mu.Lock()
			taken++
			d.mu.Unlock()
		}
		return a, err
	})
	if taken == 0 && !errors.As(err, new(refusedOrder)) { // it may have been heard
		return true, nil
	}
	return taken > 0, ctx.Err()
}

// choose chooses the step.
func (d *deploying) choose(ctx context.Context, try int) error {
	began, was := time.Now(), uint64(0)
	if err := d.look(ctx); err != nil {
		return err
	}
	for _, s := range d.states {
		was = max(was, s.Next)
	}
	select {
	case <-time.After(300 * time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := d.look(ctx); err != nil {
		return err
	}
	now := was
	for _, s := range d.states {
		now = max(now, s.Next)
	}
	margin := uint64(d.want.Steps)
	if margin == 0 {
		margin = uint64(3 * float64(now-was) / time.Since(began).Seconds())
	}
	d.result.Step = now + (margin+uint64(len(d.want.Hosts))+2)<<try
	return nil
}

// mostPatience is how long boxes that are cut off are waited for once others have gone
// over.
const mostPatience = 20 * time.Second

// watch waits until all boxes have gone over, and tells those who have not heard.
func (d *deploying) watch(ctx context.Context) error {
	var since time.Time // the first box had
	told, left := uint64(0), time.Now()
	for {
		states, _ := d.each(ctx, func(h transport.HostID) (*box.OrderAnswer, error) {
			return d.ask(ctx, h, box.Order{Kind: box.OrderState}, stateTime)
		})
		if ctx.Err() != nil {
			return fmt.Errorf("%w; they go over at step %d by themselves", ErrPending, d.result.Step)
		}
		waits := d.count(states)
		if d.result.Made == len(d.want.Hosts) {
			d.states = states
			d.ended()
			return nil
		}
		if d.result.Made > 0 && since.IsZero() {
			since = time.Now()
		}
		if !since.IsZero() && time.Since(since) > mostPatience {
			return fmt.Errorf("%w: %d of %d have", ErrPending, d.result.Made, len(d.want.Hosts))
		}
		if d.result.Made > 0 {
			d.follow(ctx, states)
		}
		if next := waits; next != told && time.Since(left) > 2*time.Second && d.result.Made == 0 {
			told, left = next, time.Now()
			d.say("boxes are at step %d of %d", next, d.result.Step)
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// count takes in how far boxes are, and returns the step of the farthest.
func (d *deploying) count(states answersOf) (farthest uint64) {
	d.result.Made, d.result.Late, d.result.Kept, d.result.Anew = 0, 0, 0, 0
	for _, s := range states {
		farthest = max(farthest, s.Next)
		if c := s.Change; c != nil && c.ID == d.result.ID && c.State == host.ChangeMade {
			d.result.Made++
			d.result.Kept, d.result.Anew = d.result.Kept+c.Kept, d.result.Anew+c.Anew
			if s.Since > d.result.Step {
				d.result.Late++
			}
		}
	}
	return farthest
}

// follow tells boxes that are armed, and have not heard, that others have gone over.
func (d *deploying) follow(ctx context.Context, states answersOf) {
	o := box.Order{Kind: box.OrderAgree, ID: d.result.ID, Model: d.result.Model, Step: d.result.Step, Reset: d.want.Reset, Gone: true}
	for _, h := range d.want.Hosts {
		if s := states[h]; s != nil && s.Change != nil && s.Change.ID == d.result.ID && s.Change.State == host.ChangeArmed {
			_, _ = d.ask(ctx, h, o, stateTime) // it is asked again
		}
	}
}

// ended says how it went.
func (d *deploying) ended() {
	r := &d.result
	text := fmt.Sprintf("switched at step %d: %d of %d boxes", r.Step, r.Made, len(d.want.Hosts))
	if r.Late > 0 {
		text += fmt.Sprintf(", %d of them later, when they were back", r.Late)
	}
	d.say("%s", text)
	switch {
	case r.Kept > 0 && r.Anew > 0:
		d.say("kept what %s learned; %d begin anew: %s", grid.Count(r.Kept, "node"), r.Anew, r.Why)
	case r.Kept > 0:
		d.say("kept what %s learned: by how much answers differ from the trained ones, and gates", grid.Count(r.Kept, "node"))
	case r.Anew > 0:
		d.say("begin anew, %s: %s", grid.Count(r.Anew, "node"), r.Why)
	}
	if r.Anew == 0 {
		r.Why = ""
	}
}
