package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

const (
	storeTime    = 10 * time.Second // for the bounds of a store
	bytesATopic  = 10 << 10         // of the store there is one message for, of each topic
	storeSubject = "$JS.API.STREAM.>"
)

// mqttStreams are what the server keeps MQTT in, as it makes them itself, and the share of
// the store that each may take. The server would bound none of them: one session that stays
// away with QoS 1 fills the store, and then nobody can publish.
func mqttStreams(store int64) []jetstream.StreamConfig {
	return []jetstream.StreamConfig{
		{
			Name: "$MQTT_msgs", Subjects: []string{"$MQTT.msgs.>"}, Retention: jetstream.InterestPolicy,
			MaxBytes: store / 2, MaxMsgsPerSubject: max(store/bytesATopic, 1), // what sessions have not acknowledged
		},
		{Name: "$MQTT_rmsgs", Subjects: []string{"$MQTT.rmsgs.>"}, MaxMsgsPerSubject: 1, MaxBytes: store / 4}, // retained messages
		{Name: "$MQTT_sess", Subjects: []string{"$MQTT.sess.>"}, MaxMsgsPerSubject: 1, MaxBytes: store / 16},  // sessions
		{
			Name: "$MQTT_qos2in", Subjects: []string{"$MQTT.qos2.in.>"}, MaxMsgsPerSubject: 1, MaxBytes: store / 16,
			Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, // those who publish with QoS 2 hold it themselves
		},
		{Name: "$MQTT_out", Subjects: []string{"$MQTT.out.>"}, Retention: jetstream.InterestPolicy, MaxBytes: store / 16},
	}
}

// maxStore returns how many bytes the store may take.
func (m *MQTT) maxStore() int64 {
	if m.MaxStore > 0 {
		return m.MaxStore
	}
	return mqttStore
}

// newKeeper draws a key for the server itself, where one is needed to bound its store.
func (c *Config) newKeeper() (nkeys.KeyPair, error) {
	if c.MQTT == nil || c.Keys == nil {
		return nil, nil
	}
	pair, err := nkeys.CreateUser()
	if err == nil {
		c.keeper, err = pair.PublicKey()
	}
	if err != nil {
		return nil, fmt.Errorf("broker: mqtt: %w", err)
	}
	return pair, nil
}

// storeKeeper is the user with the server's own key, which may do nothing but set bounds.
func storeKeeper(public string) *server.NkeyUser {
	return &server.NkeyUser{
		Nkey:        public,
		Permissions: &server.Permissions{Publish: only([]string{storeSubject}), Subscribe: only([]string{nats.InboxPrefix + ">"})},
	}
}

// boundStore makes what MQTT is kept in, with bounds, or gives bounds to what is there.
func (s *Server) boundStore(keeper nkeys.KeyPair) error {
	options := []nats.Option{nats.InProcessServer(s.nats()), nats.NoReconnect(), nats.Timeout(storeTime)}
	if keeper != nil {
		options = append(options, nats.Nkey(s.config.keeper, keeper.Sign))
	}
	nc, err := nats.Connect("", options...)
	if err != nil {
		return fmt.Errorf("bounds of the store: %w", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return fmt.Errorf("bounds of the store: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	for _, want := range mqttStreams(s.config.MQTT.maxStore()) {
		if err := boundStream(ctx, js, want); err != nil {
			return fmt.Errorf("bounds of the store, %s: %w", want.Name, err)
		}
	}
	return nil
}

// boundStream makes a stream, or changes the bounds of one that is there.
func boundStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig) error {
	stream, err := js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		want.Replicas = 1
		if _, err = js.CreateStream(ctx, want); !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return err
		}
		stream, err = js.Stream(ctx, want.Name) // a client came first
	}
	if err != nil {
		return err
	}
	have := stream.CachedInfo().Config
	if have.MaxBytes == want.MaxBytes && have.MaxMsgsPerSubject == want.MaxMsgsPerSubject {
		return nil
	}
	have.MaxBytes, have.MaxMsgsPerSubject = want.MaxBytes, want.MaxMsgsPerSubject
	_, err = js.UpdateStream(ctx, have)
	return err
}
