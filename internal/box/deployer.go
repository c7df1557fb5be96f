package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/modelfile"
)

// mostModel bounds the model files that a box takes, in bytes.
const mostModel = 1 << 30

// deployer does what an operator orders: it keeps models, and what the box has promised,
// on disk, and tells the host. Orders come one after the other.
type deployer struct {
	box    *Box
	check  func(cert, text, proof []byte) error // nil without keys
	orders chan host.Order
	ended  chan struct{} // closed when the host has

	one  sync.Mutex            // one order at a time
	made map[string]*successor // models that were staged, by their sums

	mu sync.Mutex // guards what follows, also from the host's loop
	d  *deployment
}

// newDeployer returns that of a box; nil if it has nowhere to keep anything, or nobody
// could reach it.
func (b *Box) newDeployer(d *deployment) (*deployer, error) {
	if b.State == "" || b.given.Model != nil || b.given.Join != nil || b.Bus.Kind == BusNone {
		return nil, nil
	}
	if d == nil {
		d = &deployment{}
	}
	n := &deployer{box: b, d: d, orders: make(chan host.Order), ended: make(chan struct{}), made: map[string]*successor{}}
	b.later(func() error { close(n.ended); return nil })
	n.tidy()
	if b.Bus.Keys == "" {
		return n, nil
	}
	var err error
	n.check, err = keys.Orders(b.abs(b.Bus.Keys), b.Host, b.Run)
	return n, err
}

// obey carries out an order, and returns the answer.
func (d *deployer) obey(text []byte) []byte {
	d.one.Lock()
	defer d.one.Unlock()
	var o Order
	a := &OrderAnswer{Host: d.box.Host}
	err := json.Unmarshal(text, &o)
	if err == nil {
		a.Nonce = o.Nonce
		err = d.carryOut(&o, a)
	}
	if err != nil {
		a.Error = err.Error()
	}
	d.describe(a)
	answer, err := json.Marshal(a)
	if err != nil {
		return nil // cannot be: it is made of words and numbers
	}
	return answer
}

// carryOut does what an order says.
func (d *deployer) carryOut(o *Order, a *OrderAnswer) error {
	if o.Kind == OrderArm || o.Kind == OrderDrop || o.Kind == OrderAgree {
		if err := d.verify(o); err != nil {
			return err
		}
	}
	switch o.Kind {
	case OrderState:
		return d.tell(host.Look{})
	case OrderStage:
		return d.stage(o, a)
	case OrderDrop:
		return d.drop(o.ID)
	case OrderArm:
		return d.arm(o)
	case OrderAgree:
		return d.tell(host.Agree{ID: o.ID, Proof: o.Proof, Gone: o.Gone})
	}
	return fmt.Errorf("an order %q, which this program does not know; update this box", o.Kind)
}

// verify looks whether an operator gave an order.
func (d *deployer) verify(o *Order) error {
	if d.check == nil {
		return nil
	}
	return d.check(o.Cert, o.Text(d.box.Run), o.Proof)
}

// proves is for host.Config.Proof: the operator that armed this box says that all agree.
func (d *deployer) proves(c *host.Change, proof []byte) error {
	if d.check == nil {
		return nil
	}
	d.mu.Lock()
	var cert []byte
	if d.d.Armed != nil && d.d.Armed.ID == c.ID {
		cert = d.d.Armed.Cert
	}
	d.mu.Unlock()
	o := Order{Kind: OrderAgree, ID: c.ID, Model: c.Model, Step: c.Step, Reset: c.Reset}
	return d.check(cert, o.Text(d.box.Run), proof)
}

// tell gives the host an event and returns why it refuses.
func (d *deployer) tell(ev host.Event) error {
	reply := make(chan error, 1)
	late := time.NewTimer(10 * time.Second)
	defer late.Stop()
	select {
	case d.orders <- host.Order{Event: ev, Reply: reply}:
		return <-reply
	case <-d.ended:
	case <-late.C:
	}
	return errors.New("the box is starting, ending, or has much to do; try again")
}

// describe adds how the box is.
func (d *deployer) describe(a *OrderAnswer) {
	if h := d.box.host; h != nil {
		r := h.Report()
		a.Digest, a.Change, a.Next = r.Digest, r.Change, r.Time+1
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a.Model, a.Since, a.Before, a.Last = d.d.Model, d.d.Since, d.d.Before, d.d.Fence
	if d.d.Armed != nil {
		a.Last = max(a.Last, d.d.Armed.ID)
	}
	if a.Model == "" {
		a.Model = d.box.sum
	}
}

// stage takes in a part of a model file. When all of it is there, its sum is compared,
// and it is made a plan.
func (d *deployer) stage(o *Order, a *OrderAnswer) error {
	if !isSum(o.Model) {
		return fmt.Errorf("a model %q, want its SHA-256", o.Model)
	}
	if o.Size < 0 || o.Size > mostModel {
		return fmt.Errorf("a model of %d bytes, want at most %d", o.Size, mostModel)
	}
	if s := d.made[o.Model]; s == nil {
		whole, err := d.take(o, a)
		if err != nil || !whole {
			return err
		}
		m, err := d.box.loadDeployed(o.Model)
		if err != nil {
			return err
		}
		if d.made[o.Model], err = d.box.succeed(m); err != nil {
			return fmt.Errorf("the model does not fit: %w", err)
		}
	}
	s := d.made[o.Model]
	s.after = d.now().Since
	d.tidy()
	a.Staged, a.Learns, a.Seeded = fmt.Sprintf("%06x", s.plan.Digest()), s.plan.Basis != nil || s.plan.Season != nil, s.seed != nil
	return nil
}

// now returns what is promised at present; it is replaced and never changed.
func (d *deployer) now() *deployment {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.d
}

// tidy removes old models, or says why it could not: there is always another time.
func (d *deployer) tidy() {
	if err := d.forget(); err != nil {
		d.box.log.Warn("old models could not be removed", "folder", modelsName, "err", err)
	}
}

// take writes a part of a file, and says whether all of it is there.
func (d *deployer) take(o *Order, a *OrderAnswer) (whole bool, err error) {
	path := d.box.modelPath(o.Model)
	if _, err := os.Stat(path); err == nil {
		return true, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	part := path + partSuffix
	if info, err := os.Stat(part); err == nil {
		a.Have = info.Size()
	}
	if len(o.Data) == 0 || o.At != a.Have || a.Have+int64(len(o.Data)) > o.Size {
		if a.Have > 0 && a.Have == o.Size || a.Have > o.Size { // of an earlier time, and not whole
			a.Have = 0
			return false, os.Remove(part)
		}
		return false, nil
	}
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	_, err = f.Write(o.Data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, errors.Join(err, os.Remove(part))
	}
	if a.Have += int64(len(o.Data)); a.Have < o.Size {
		return false, nil
	}
	if got, err := sumOf(part); err != nil || got != o.Model {
		return false, errors.Join(err, fmt.Errorf("what came has the SHA-256 %.12s, want %.12s", got, o.Model), os.Remove(part))
	}
	if err := os.Rename(part, path); err != nil {
		return false, err
	}
	return true, nil
}

// keepFirst keeps the model of the configuration beside those that are deployed, so that
// there is a way back.
func (d *deployer) keepFirst(next *deployment) error {
	if next.First != "" {
		return nil
	}
	from := d.box.abs(d.box.Config.Model)
	sum, err := sumOf(from)
	if err != nil {
		return err
	}
	if sum != d.box.sum {
		return fmt.Errorf("%s is not the model that the box was started with, and there would be no way back: put the old file back, "+
			"or start the box again", from)
	}
	next.Version, next.Run, next.First, next.Model = deployFile.version, d.box.Run, sum, sum
	path := d.box.modelPath(sum)
	if got, err := sumOf(path); err == nil && got == sum {
		return nil
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return modelfile.WriteFile(path, writer(text))
}

// save replaces what is promised, on disk first.
func (d *deployer) save(change func(*deployment) error) (undo func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was, next := *d.d, *d.d
	if next.Armed != nil {
		kept := *next.Armed
		next.Armed = &kept
	}
	if err := d.keepFirst(&next); err != nil {
		return nil, err
	}
	if err := change(&next); err != nil {
		return nil, err
	}
	if err := deployFile.write(d.box.Config, &next); err != nil {
		return nil, err
	}
	d.d = &next
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		was.Version, was.Run, was.First, was.Model = next.Version, next.Run, next.First, next.Model
		if deployFile.write(d.box.Config, &was) == nil {
			d.d = &was
		}
	}, nil
}

// drop has the host drop what it is armed with.
func (d *deployer) drop(id uint64) error {
	if err := d.tell(host.Drop{ID: id}); err != nil {
		return err
	}
	_, err := d.save(func(next *deployment) error {
		next.Fence = max(next.Fence, id)
		if next.Armed != nil && next.Armed.Done == nil {
			next.Armed.Dropped = true
		}
		return nil
	})
	return err
}

// arm promises to go over to a model that was staged.
func (d *deployer) arm(o *Order) error {
	s := d.made[o.Model]
	if s == nil {
		return fmt.Errorf("model %.12s is not staged here", o.Model)
	}
	if c := d.box.host.Report().Change; c != nil && c.ID == o.ID {
		return nil
	}
	c := &host.Change{ID: o.ID, Step: o.Step, Model: o.Model, Plan: s.plan, Seed: s.seed, Reset: o.Reset}
	undo, err := d.save(func(next *deployment) error {
		if o.ID < next.Fence {
			return errors.New("somebody else deploys a model since")
		}
		next.Armed = &armed{ID: o.ID, Step: o.Step, Model: o.Model, Reset: o.Reset, Cert: o.Cert}
		return nil
	})
	if err != nil {
		return err
	}
	if err := d.tell(host.Arm{Change: c}); err != nil {
		undo()
		return err
	}
	d.box.log.Info("armed with another model", "model", o.Model[:12], "step", o.Step)
	return nil
}

// changed keeps what the host says of a change. It is called by the host's loop, before
// the first frame of the new model leaves. Where it cannot be written the box ends: one that
// is started again would not know which model its checkpoint is of.
func (d *deployer) changed(c *host.Changed) error {
	if !c.Gone {
		d.box.log.Info("all boxes are armed: the model changes", "model", c.Change.Model[:12], "step", c.Change.Step)
		return nil
	}
	_, err := d.save(func(next *deployment) error {
		if next.Model != c.Change.Model { // otherwise it was made before, and the checkpoint is older
			next.Before, next.Model, next.Since = next.Model, c.Change.Model, c.Time
		}
		if next.Armed != nil && next.Armed.ID == c.Change.ID {
			next.Armed.Done, next.Armed.Before = &c.Word, c.Before
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("which model the box goes over to cannot be written; make room and start it again, neighbours tell it then: %w", err)
	}
	return nil
}
