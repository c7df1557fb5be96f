package broker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/wdgnn/wdgnn/internal/mqtttest"
)

// A session with QoS 1 that stays away does not fill the store: the oldest of what waits for
// it goes, whoever publishes goes on, and retained messages and other sessions stay.
func TestMQTTStoreIsBounded(t *testing.T) {
	const store = 2 << 20
	s := newMQTTOf(t, store)
	s.subscribed("-t", "sensors/+/temperature")
	s.pub("box", "-q", "1", "-r", "-t", "answers/kept", "-m", "here")
	long := filepath.Join(t.TempDir(), "payload")
	if err := os.WriteFile(long, []byte("first"+strings.Repeat("x", 8<<10)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.pub("pump", "-q", "1", "-t", "sensors/pump/temperature", "-f", long, "--repeat", "400") // 3 MiB
	s.pub("pump", "-q", "1", "-t", "sensors/pump/temperature", "-m", "last")
	if used := s.StoreUsed(); used > store {
		t.Errorf("%d bytes are stored, want at most %d", used, store)
	}
	waiting := s.StoreMessages("$MQTT_msgs")
	if waiting < 64 || waiting > 128 {
		t.Errorf("%d of 401 messages of 8 KiB wait, want as many as fit into 1 MiB", waiting)
	}
	s.Server.Stop()
	s.start()
	if out := s.next(waiting, "-t", "sensors/+/temperature"); !strings.HasSuffix(out, "\nlast\n") {
		t.Error("the session did not get the last message at last")
	}
	out, err := mqtttest.Sub(s.port, s.as("box", "-t", "answers/kept", "-C", "1", "-W", "20")...)
	if err != nil || out != "here\n" {
		t.Errorf("retained: got %q (%v), want here", out, err)
	}
}

// One topic with many messages does not push out what waits of others.
func TestMQTTTopicIsBounded(t *testing.T) {
	s := newMQTTOf(t, 1<<20) // 102 messages of a topic
	s.subscribed("-t", "sensors/+/temperature")
	s.pub("tank", "-q", "1", "-t", "sensors/tank/temperature", "-m", "calm")
	s.pub("pump", "-q", "1", "-t", "sensors/pump/temperature", "-m", "flood", "--repeat", "500")
	out := s.next(103, "-t", "sensors/+/temperature")
	if calm, flood := strings.Count(out, "calm\n"), strings.Count(out, "flood\n"); calm != 1 || flood != 102 {
		t.Errorf("%d of the calm sensor and %d of the other waited, want 1 and 102", calm, flood)
	}
}

// A store of an earlier version, without bounds, gets them, and what is in it stays.
func TestMQTTStoreGetsBounds(t *testing.T) {
	mqtttest.Need(t)
	store, port := t.TempDir(), mqtttest.FreePort(t)
	unbounded, err := server.NewServer(&server.Options{
		ServerName: "wdgnn", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, JetStream: true, StoreDir: store,
		MQTT: server.MQTTOpts{Host: "127.0.0.1", Port: port},
	})
	if err != nil {
		t.Fatal(err)
	}
	unbounded.Start()
	mqtttest.Await(t, "the server of an earlier version runs", func() bool {
		_, err := mqtttest.Pub(port, "-q", "1", "-r", "-t", "answers/kept", "-m", "here")
		return err == nil
	})
	if out, err := mqtttest.Sub(port, "-i", "box", "-c", "-q", "1", "-t", "sensors/#", "-E"); err != nil {
		t.Fatal(err, out)
	}
	if out, err := mqtttest.Pub(port, "-q", "1", "-t", "sensors/a", "-m", "kept"); err != nil {
		t.Fatal(err, out)
	}
	unbounded.Shutdown()
	unbounded.WaitForShutdown()
	s := startOpen(t, store, port)
	bounds := s.StoreBounds()
	if got, want := bounds["$MQTT_msgs"], int64(512<<20); got != want {
		t.Errorf("messages may take %d bytes, want %d", got, want)
	}
	for _, name := range []string{"$MQTT_msgs", "$MQTT_rmsgs", "$MQTT_sess", "$MQTT_qos2in", "$MQTT_out"} {
		if bounds[name] <= 0 {
			t.Errorf("%s has no bound", name)
		}
	}
	if out, err := mqtttest.Sub(port, "-i", "box", "-c", "-q", "1", "-t", "sensors/#", "-C", "1", "-W", "20"); err != nil || out != "kept\n" {
		t.Errorf("the session got %q (%v), want kept", out, err)
	}
	if out, err := mqtttest.Sub(port, "-t", "answers/kept", "-C", "1", "-W", "20"); err != nil || out != "here\n" {
		t.Errorf("retained: got %q (%v), want here", out, err)
	}
}
