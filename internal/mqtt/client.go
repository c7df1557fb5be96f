package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// Config says which broker a client speaks with, and as whom.
type Config struct {
	URL          string // mqtt://host:port, or mqtts:// with TLS
	User         string // "" means none
	PasswordFile string // read anew for every connection; "" means none
	TLS          *tls.Config
	ClientID     string

	// QoS 1: the broker keeps what comes while the client is away, and sends again what was
	// not acknowledged. QoS 0: neither.
	QoS byte

	// Filters are the topics to hear, in turn all of a list at once: the next list is tried
	// where the broker refuses one of the last.
	Filters [][]string

	// Status is a topic that says online while the client is connected and offline after,
	// retained; "" means none.
	Status string

	// Take hears messages, one at a time and in order. It must not wait for long.
	Take func(Message)

	// OnConnect is called after each connection, once all is subscribed, to publish what
	// others should find. It may publish more than there is room for: publish then waits, and
	// says whether the connection is still there.
	OnConnect func(publish func(topic string, payload []byte) bool)

	Log *slog.Logger
}

// Message is what somebody published.
type Message struct {
	Topic    string
	Payload  []byte
	Retained bool // it is the last of its topic, of whatever age
}

// Client is a connection with a broker that comes and goes. Nobody waits for it: what cannot
// be sent is an error at once. It is safe for concurrent use.
type Client struct {
	config Config
	paho   paho.Client
	queue  chan outgoing
	lost   chan error // the connection is gone
	stop   context.CancelFunc
	over   context.Context // ends a while after stop, when nothing is waited for
	giveUp context.CancelFunc
	done   sync.WaitGroup

	connected atomic.Bool
	connects  atomic.Uint64
	failed    atomic.Uint64 // messages that were not sent, or not acknowledged
	echoed    atomic.Bool   // the status came back since the connection
	trouble   atomic.Pointer[error]
}

type outgoing struct {
	topic    string
	payload  []byte
	retained bool
}

// What the topic Status says.
const Online, Offline = "online", "offline"

const (
	connectTime  = 10 * time.Second
	keepAlive    = 15 * time.Second
	firstPause   = 500 * time.Millisecond // between two attempts to connect; then twice as long
	longestPause = 10 * time.Second
	ackTime      = 30 * time.Second // that a broker has to acknowledge
	echoTime     = 3 * time.Second  // that a broker has to send back what says that this client is there
	farewell     = 3 * time.Second  // at the end, for what waits to be sent and acknowledged
	hangUp       = 250              // milliseconds for the last word
	waiting      = 4096             // messages that wait to be sent
	refused      = 0x80             // a subscription, by the broker
	remindEvery  = 5 * time.Minute  // of the same trouble
	steady       = 30 * time.Second // that a connection lasts which nobody ends; more than any pause
	fewBrief     = 3                // connections in a row that somebody ended sooner: another has the same name
)

// ErrAway says that there is no connection.
var ErrAway = errors.New("there is no connection with the broker")

// Start begins to connect, and goes on trying until Close.
func Start(c Config) *Client {
	client := &Client{config: c, queue: make(chan outgoing, waiting), lost: make(chan error, 1)}
	away := ErrAway
	client.trouble.Store(&away)
	o := paho.NewClientOptions()
	o.AddBroker(c.URL).SetClientID(c.ClientID).SetProtocolVersion(4).SetTLSConfig(c.TLS)
	o.SetCleanSession(c.QoS == 0).SetKeepAlive(keepAlive).SetConnectTimeout(connectTime).SetWriteTimeout(connectTime)
	o.SetAutoReconnect(false).SetConnectRetry(false).SetOrderMatters(true)
	o.SetCredentialsProvider(client.credentials)
	o.SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { client.take(m) })
	o.SetConnectionLostHandler(func(_ paho.Client, err error) {
		client.connected.Store(false)
		client.lost <- err
	})
	if c.Status != "" {
		o.SetWill(c.Status, Offline, c.QoS, true)
	}
	client.paho = paho.NewClient(o)
	ctx, stop := context.WithCancel(context.Background())
	client.stop = stop
	client.over, client.giveUp = context.WithCancel(context.Background())
	client.done.Go(func() { client.connect(ctx) })
	client.done.Go(func() { client.send(ctx) })
	return client
}

// Close sends what waits, for a few seconds at most, says goodbye and ends the connection. What
// was not sent counts as failed, and the log says how much that is.
func (c *Client) Close() {
	failed := c.failed.Load()
	c.stop()
	bound := time.AfterFunc(farewell, c.giveUp)
	defer bound.Stop()
	c.done.Wait()
	c.connected.Store(false)
	for len(c.queue) > 0 { // came while the others were sent, or there was no time
		<-c.queue
		c.failed.Add(1)
	}
	if n := c.failed.Load() - failed; n > 0 {
		c.config.Log.Warn("mqtt: not all was sent before the end", "broker", c.config.URL, "messages", n)
	}
	if c.paho.IsConnectionOpen() && c.config.Status != "" && c.over.Err() == nil {
		await(c.over, c.paho.Publish(c.config.Status, c.config.QoS, true, Offline), nil, time.Second)
	}
	c.paho.Disconnect(hangUp)
	c.giveUp()
}

// Publish sends a message, or says at once that it cannot.
func (c *Client) Publish(topic string, payload []byte, retained bool) error {
	if !c.connected.Load() {
		return ErrAway
	}
	select {
	case c.queue <- outgoing{topic, payload, retained}:
		return nil
	default:
		return errors.New("the broker takes messages more slowly than they come")
	}
}

// retain sends a retained message when there is room, and says whether the connection is
// still there.
func (c *Client) retain(ctx context.Context, topic string, payload []byte) bool {
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for c.connected.Load() && ctx.Err() == nil {
		select {
		case c.queue <- outgoing{topic, payload, true}:
			return true
		case <-look.C:
		}
	}
	return false
}

// Err says what is wrong with the connection, nil if nothing is.
func (c *Client) Err() error {
	if err := c.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// Connected says whether there is a connection.
func (c *Client) Connected() bool { return c.connected.Load() }

// Connects returns how often a connection was made.
func (c *Client) Connects() uint64 { return c.connects.Load() }

// Failed returns how many messages were taken by Publish and not by the broker.
func (c *Client) Failed() uint64 { return c.failed.Load() }

// credentials reads the password: one that is replaced counts from the next connection on.
func (c *Client) credentials() (user, password string) {
	if c.config.PasswordFile == "" {
		return c.config.User, ""
	}
	text, err := os.ReadFile(c.config.PasswordFile)
	if err != nil {
		c.config.Log.Warn("mqtt: the password cannot be read", "err", err)
	}
	return c.config.User, strings.TrimSpace(string(text))
}

// take hears a message.
func (c *Client) take(m paho.Message) {
	if m.Topic() == c.config.Status {
		c.echoed.Store(c.echoed.Load() || string(m.Payload()) == Online && !m.Retained())
		return
	}
	c.config.Take(Message{m.Topic(), m.Payload(), m.Retained()})
}

// connect keeps a connection until ctx ends.
func (c *Client) connect(ctx context.Context) {
	log, pause, brief := c.config.Log.With("broker", c.config.URL), firstPause, 0
	var said string
	var saidAt time.Time
	for ctx.Err() == nil {
		err := c.attempt(ctx)
		if err == nil {
			c.connects.Add(1)
			if brief < fewBrief {
				log.Info("mqtt: connected", "qos", c.config.QoS)
			}
			began := time.Now()
			err = c.hold(ctx, brief >= fewBrief)
			c.connected.Store(false)
			if ctx.Err() != nil {
				return
			}
			if brief++; time.Since(began) >= steady {
				pause, said, brief = firstPause, "", 0
			}
			err = fmt.Errorf("the connection ended: %w", err)
			if brief >= fewBrief {
				err = c.rival()
			}
		} else {
			brief = 0 // it is the broker that comes and goes
			err = explain(err, &c.config)
		}
		c.trouble.Store(&err)
		if err.Error() != said || time.Since(saidAt) > remindEvery {
			said, saidAt = err.Error(), time.Now()
			log.Warn("mqtt: no connection with the broker; tries again, steps go on without it", "err", err)
		}
		sleep(ctx, pause/2+rand.N(pause))
		pause = min(2*pause, longestPause)
	}
}

// rival says why a broker ends one connection after the other: of two clients with one name it
// keeps the one that came last.
func (c *Client) rival() error {
	return fmt.Errorf("the broker ends every connection soon: another client calls itself %q, most likely; "+
		"is this box started twice, or is another run called so? broker.client gives it another name", c.config.ClientID)
}

// sleep waits for a while, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// attempt connects and subscribes.
func (c *Client) attempt(ctx context.Context) error {
	select {
	case <-c.lost: // of a connection that ended while it was being made
	default:
	}
	c.echoed.Store(false)
	if err := await(ctx, c.paho.Connect(), nil, 3*connectTime); err != nil {
		return err
	}
	trouble, err := c.subscribe(ctx)
	if err != nil {
		c.paho.Disconnect(0)
		return err
	}
	c.trouble.Store(trouble)
	c.connected.Store(true)
	if c.config.Status != "" {
		c.Publish(c.config.Status, []byte(Online), true) // there is room in the queue, or others are heard
	}
	if c.config.OnConnect != nil {
		c.config.OnConnect(func(topic string, payload []byte) bool { return c.retain(ctx, topic, payload) })
	}
	return nil
}

// subscribe hears the first list of filters that the broker lets it hear in full, or else
// what it can of the last. What it may not hear is trouble, and no reason to hang up.
func (c *Client) subscribe(ctx context.Context) (trouble *error, err error) {
	for k, list := range c.config.Filters {
		var denied []string
		for len(list) > 0 {
			some := list[:min(len(list), 100)]
			list = list[len(some):]
			filters := map[string]byte{}
			for _, f := range some {
				filters[f] = c.config.QoS
			}
			token := c.paho.SubscribeMultiple(filters, nil)
			if err := await(ctx, token, c.lost, ackTime); err != nil {
				return nil, fmt.Errorf("subscribe: %w", err)
			}
			for topic, code := range token.(*paho.SubscribeToken).Result() {
				if code == refused {
					denied = append(denied, topic)
				}
			}
		}
		if len(denied) == 0 {
			trouble = nil
			break
		}
		err := fmt.Errorf("the broker does not let the user %q read %d topics, %s among them", c.config.User, len(denied), denied[0])
		trouble = &err
		if k == len(c.config.Filters)-1 {
			c.config.Log.Warn("mqtt: readings are not heard", "err", err)
		}
	}
	if c.config.Status != "" {
		token := c.paho.Subscribe(c.config.Status, c.config.QoS, nil)
		err := await(ctx, token, c.lost, ackTime)
		if err == nil && token.(*paho.SubscribeToken).Result()[c.config.Status] == refused {
			c.echoed.Store(true) // it may not hear itself: nothing is known of what it writes
		}
		return trouble, err
	}
	return trouble, nil
}

// hold waits for the end of a connection. A broker that takes what the client publishes and
// never sends it back forbids it, most likely: by MQTT 3.1.1 it may not say so. A connection that is
// contested is trouble until it has lasted.
func (c *Client) hold(ctx context.Context, contested bool) error {
	echo, calm := time.NewTimer(echoTime), time.NewTimer(steady)
	defer echo.Stop()
	defer calm.Stop()
	var rival *error
	if err := c.rival(); contested && c.trouble.Load() == nil {
		rival = &err
		c.trouble.Store(rival)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-c.lost:
			return err
		case <-calm.C:
			if rival != nil {
				c.trouble.CompareAndSwap(rival, nil)
			}
		case <-echo.C:
			if c.config.Status != "" && !c.echoed.Load() && c.trouble.Load() == nil {
				err := fmt.Errorf("what is published does not come back: the broker may forbid the user %q to write %s, which it drops without a word",
					c.config.User, c.config.Status)
				c.trouble.Store(&err)
				c.config.Log.Warn("mqtt: answers may be lost", "err", err)
			}
		}
	}
}

// send publishes what waits, until ctx ends, and then what is left while there is time.
func (c *Client) send(ctx context.Context) {
	tokens := make(chan paho.Token, waiting)
	var watch sync.WaitGroup
	watch.Go(func() {
		for token := range tokens {
			if await(c.over, token, nil, ackTime) != nil {
				c.failed.Add(1)
			}
		}
	})
	defer watch.Wait()
	defer close(tokens)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case m := <-c.queue:
			if !c.connected.Load() && ctx.Err() == nil {
				c.failed.Add(1)
				continue
			}
			tokens <- c.publish(m)
		}
	}
	for c.over.Err() == nil && c.paho.IsConnectionOpen() {
		select {
		case m := <-c.queue:
			tokens <- c.publish(m)
		default:
			return
		}
	}
}

// publish hands a message to the connection.
func (c *Client) publish(m outgoing) paho.Token {
	return c.paho.Publish(m.topic, c.config.QoS, m.retained, m.payload)
}

// await waits for what the broker says, or for the end of the connection, if lost is not nil.
func await(ctx context.Context, token paho.Token, lost <-chan error, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-token.Done():
		return token.Error()
	case <-ctx.Done():
		return ctx.Err()
	case err := <-lost:
		return err
	case <-timer.C:
		return fmt.Errorf("the broker says nothing for %v", most)
	}
}
