package swarm

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

// OperatorLinks says how boxes are reached by whoever deploys models.
type OperatorLinks struct {
	Run  string
	Keys string // folder; empty means boxes without keys

	URL       string                      // of a NATS server, or
	Addresses map[transport.HostID]string // of boxes with direct links
}

// operator speaks to boxes. It is safe for concurrent use.
type operator struct {
	links OperatorLinks
	key   *keys.OperatorKey // nil without keys
	tls   *tls.Config       // for direct links
	conn  *natsbus.Conn     // or a server

	mu      sync.Mutex
	nonce   uint64
	waiting map[uint64]chan *box.OrderAnswer
	visits  map[transport.HostID]net.Conn
}

// newOperator connects.
func newOperator(ctx context.Context, links OperatorLinks) (o *operator, err error) {
	o = &operator{
		links: links, nonce: uint64(time.Now().UnixNano()), waiting: map[uint64]chan *box.OrderAnswer{}, visits: map[transport.HostID]net.Conn{},
	}
	if links.Keys != "" {
		if o.key, err = keys.LoadOperator(links.Keys); err != nil {
			return nil, err
		}
		if o.key.Run != links.Run {
			return nil, fmt.Errorf("the operator's key is of run %s, the boxes are of %s", o.key.Run, links.Run)
		}
	}
	if links.URL == "" {
		if links.Keys != "" {
			o.tls, err = keys.OperatorTLS(links.Keys)
		}
		return o, err
	}
	c := natsbus.Config{URL: links.URL, Run: links.Run, Name: "operator"}
	if links.Keys != "" {
		secrets, err := keys.LoadClient(links.Keys, keys.Operator)
		if err != nil {
			return nil, err
		}
		c.Seed = secrets.Seed
		if strings.HasPrefix(links.URL, "tls://") {
			c.TLS = secrets.TLS
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if o.conn, err = natsbus.Dial(ctx, c); err != nil {
		return nil, keys.Explain(err)
	}
	if _, err = o.conn.Subscribe(natsbus.DeployedSubjects(links.Run), o.hear); err == nil {
		err = o.conn.Flush(ctx)
	}
	if err != nil {
		o.close()
	}
	return o, err
}

func (o *operator) close() {
	if o.conn != nil {
		o.conn.Close()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.visits {
		c.Close()
	}
}

// hear takes in an answer over NATS.
func (o *operator) hear(subject string, data []byte) {
	a := new(box.OrderAnswer)
	if from, err := natsbus.HostOf(subject); err != nil || json.Unmarshal(data, a) != nil || a.Host != from {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if w := o.waiting[a.Nonce]; w != nil {
		select {
		case w <- a:
		default:
		}
	}
}

// orderTime is how long a box has for one order.
const orderTime = 15 * time.Second

// ask gives an order to a box and returns its answer. An error says that there was none,
// or why it is refused.
func (o *operator) ask(ctx context.Context, host transport.HostID, order box.Order, patience time.Duration) (*box.OrderAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	o.mu.Lock()
	o.nonce++
	order.Nonce = o.nonce
	o.mu.Unlock()
	if o.key != nil && order.ID != 0 && order.Proof == nil {
		var err error
		order.Cert = o.key.Cert
		if order.Proof, err = o.key.Sign(order.Text(o.links.Run)); err != nil {
			return nil, err
		}
	}
	var a *box.OrderAnswer
	var err error
	if o.conn != nil {
		a, err = o.askServer(ctx, host, &order)
	} else {
		a, err = o.askDirectly(ctx, host, &order)
	}
	if err == nil && a.Error != "" {
		err = refusedOrder{host, a.Error}
	}
	return a, err
}

// refusedOrder is what a box says against an order.
type refusedOrder struct {
	host transport.HostID
	why  string
}

func (r refusedOrder) Error() string { return fmt.Sprintf("host %d: %s", r.host, r.why) }

// errNoAnswer says that a box was not there for an order.
var errNoAnswer = errors.New("no answer")

func (o *operator) askServer(ctx context.Context, host transport.HostID, order *box.Order) (*box.OrderAnswer, error) {
	reply := make(chan *box.OrderAnswer, 1)
	o.mu.Lock()
	o.waiting[order.Nonce] = reply
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		delete(o.waiting, order.Nonce)
		o.mu.Unlock()
	}()
	text, err := json.Marshal(order)
	if err == nil {
		err = o.conn.Publish(natsbus.DeploySubject(o.links.Run, host), text)
	}
	if err != nil {
		return nil, fmt.Errorf("host %d: %w", host, err)
	}
	select {
	case a := <-reply:
		return a, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("host %d: %w", host, errNoAnswer)
	}
}

func (o *operator) askDirectly(ctx context.Context, host transport.HostID, order *box.Order) (a *box.OrderAnswer, err error) {
	o.mu.Lock()
	conn := o.visits[host]
	o.mu.Unlock()
	if conn == nil {
		check := func(s tls.ConnectionState) error {
			named, err := keys.HostOf(s.PeerCertificates[0], o.links.Run)
			if err == nil && named != host {
				err = fmt.Errorf("its certificate is of host %d", named)
			}
			return err
		}
		if conn, err = tcpbus.Visit(ctx, o.links.Addresses[host], host, o.tls, check); err != nil {
			return nil, fmt.Errorf("host %d: %w: %w", host, errNoAnswer, keys.Explain(err))
		}
		o.mu.Lock()
		o.visits[host] = conn
		o.mu.Unlock()
	}
	until, _ := ctx.Deadline()
	a = new(box.OrderAnswer)
	if err = conn.SetDeadline(until); err == nil {
		err = box.WriteOrder(conn, order)
	}
	var text []byte
	if err == nil {
		text, err = box.ReadOrder(conn)
	}
	if err == nil {
		err = json.Unmarshal(text, a)
	}
	if err == nil && (a.Nonce != order.Nonce || a.Host != host) {
		err = fmt.Errorf("it answers as host %d to another question", a.Host)
	}
	if err != nil {
		conn.Close()
		o.mu.Lock()
		delete(o.visits, host)
		o.mu.Unlock()
		return nil, fmt.Errorf("host %d: %w: %w", host, errNoAnswer, err)
	}
	return a, nil
}
