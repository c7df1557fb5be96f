package box

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
)

// newcomers brings the records of hosts that join a run to the host of a box, by
// whatever way they come, and knows who may hear whom by them. Without keys there is
// none: methods may be called on nil, and concurrently.
type newcomers struct {
	dir, party string
	vouch      func([]byte) ([]byte, error)
	own        []byte // the record in the box's folder; nil if there is none
	records    chan host.Introduction
	meet       func(transport.HostID, string) // of direct links; nil over NATS
	halt       chan struct{}
	done       sync.WaitGroup

	mu    sync.Mutex
	hears map[transport.HostID][]transport.HostID // with whom those that came later may talk
}

// entryTime is how long a box that came later asks a server which does not know it:
// its permissions may be on their way.
const entryTime = time.Minute

// answerTime is how long a host is waited for that wants to be met.
const answerTime = 2 * time.Second

// newNewcomers reads the record of the box, if it has one; nil without keys.
func (c *Config) newNewcomers() (*newcomers, error) {
	if c.Bus.Keys == "" || c.Bus.Kind == BusNone {
		return nil, nil
	}
	n := &newcomers{
		dir: c.abs(c.Bus.Keys), party: keys.HostName(c.Host), records: make(chan host.Introduction, 16), halt: make(chan struct{}),
		hears: map[transport.HostID][]transport.HostID{},
	}
	var err error
	if n.vouch, err = keys.Vouch(n.dir, n.party); err != nil {
		return nil, err
	}
	if n.own, err = keys.Record(n.dir, n.party); err != nil || n.own == nil {
		return n, err
	}
	m, err := n.read(n.own)
	if err == nil && m.Host != c.Host {
		err = fmt.Errorf("it is the record of host %d, this is %d", m.Host, c.Host)
	}
	if err != nil {
		return nil, fmt.Errorf("bus.keys: member.json: %w; wdgnn swarm keys join makes another", err)
	}
	return n, nil
}

// read returns what a record says that the authority has signed.
func (n *newcomers) read(record []byte) (*host.Member, error) {
	text, err := n.vouch(record)
	if err != nil {
		return nil, err
	}
	return host.ReadMember(text)
}

// bring hands a record to the host, which says what it thinks of it to reply, if that
// is not nil. What finds no room is lost, and shown again.
func (n *newcomers) bring(record []byte, reply func(error)) {
	select {
	case n.records <- host.Introduction{Record: record, Reply: reply}:
	default:
		if reply != nil {
			reply(errors.New("too many hosts join at once"))
		}
	}
}

// shown takes in what a host showed to all of the run.
func (n *newcomers) shown(_ transport.HostID, record []byte) { n.bring(record, nil) }

// stranger looks at the certificate of a host that is not among the peers, for
// tcpbus.Config.
func (n *newcomers) stranger(cert *x509.Certificate) error {
	record := keys.RecordOf(cert)
	if record == nil {
		return errors.New("it is not listed under hosts, and its certificate holds no record; try: wdgnn swarm keys join")
	}
	said := make(chan error, 1)
	n.bring(record, func(err error) { said <- err })
	select {
	case err := <-said:
		return err
	case <-n.halt:
	case <-time.After(answerTime):
	}
	return errors.New("the host has no time for its record; it may ask again")
}

// joined takes in a host that the others take for one of them, for host.Env.
func (n *newcomers) joined(m *host.Member) {
	n.mu.Lock()
	n.hears[m.Host] = m.Hears
	n.mu.Unlock()
	if n.meet != nil {
		n.meet(m.Host, m.Address)
	}
}

// permit says why the host of a certificate may not hear another: neither what the
// authority wrote into the certificate nor a record permits it.
func (n *newcomers) permit(cert *x509.Certificate, run string, sender transport.HostID) error {
	err := keys.MayHear(cert, run, sender)
	hearer, unknown := keys.HostOf(cert, run)
	if err == nil || unknown != nil || n == nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.Contains(n.hears[sender], hearer) || slices.Contains(n.hears[hearer], sender) {
		return nil
	}
	return err
}

// start looks now and then whether there is another record in the box's folder, of
// nodes that it gets, until stop.
func (n *newcomers) start() {
	if n == nil {
		return
	}
	n.done.Go(func() {
		ticks := time.NewTicker(lookEvery)
		defer ticks.Stop()
		seen := n.own
		for {
			select {
			case <-n.halt:
				return
			case <-ticks.C:
			}
			record, err := keys.Record(n.dir, n.party)
			if err == nil && record != nil && string(record) != string(seen) {
				seen = record
				n.bring(record, nil)
			}
		}
	})
}

func (n *newcomers) stop() error {
	if n != nil {
		close(n.halt)
		n.done.Wait()
	}
	return nil
}

// describeJoining says what the box's own record says; "" if it has none.
func (c *Config) describeJoining() (string, error) {
	n, err := c.newNewcomers()
	if err != nil || n == nil || n.own == nil {
		return "", err
	}
	m, err := n.read(n.own)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("with the record of host %d: nodes %s; it hears hosts %v and they hear it", m.Host, m.Nodes, m.Hears), nil
}
