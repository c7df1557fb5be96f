package broker

import (
	"log/slog"
	"net"
	"os"
	"strings"
	"time"
)

const (
	mendEvery = 10 * time.Second // at most, the server inside is started again
	spare     = 64               // part of the store that there must be room for first
)

// mender takes up the store of MQTT again after a write to it failed. The server inside gives
// such a store up until it is started again, although the disk may have room soon.
type mender struct {
	*Server
	log  *slog.Logger
	said bool
	last time.Time // when the server inside was started again, or that failed
}

// look starts the server inside again if its store could not be written and now can be.
func (m *mender) look(now time.Time) {
	if m.config.MQTT == nil || !m.Server.log.full.Load() {
		return
	}
	dir := m.config.MQTT.Store
	if !m.said {
		m.said = true
		m.log.Error("mqtt: the store cannot be written: nothing is taken that would have to be kept; goes on when there is room", "store", dir)
	}
	if now.Sub(m.last) < mendEvery || !writable(dir, m.config.MQTT.maxStore()/spare) {
		return
	}
	m.last = now
	m.Stop()
	m.Server.log.full.Store(false)
	if err := m.again(); err != nil {
		m.Server.log.full.Store(true)
		m.log.Error("mqtt: the store is not taken up again; tries again", "err", err)
		return
	}
	m.said = false
	m.log.Info("mqtt: the store can be written again", "store", dir)
}

// again starts the server inside where it was.
func (m *mender) again() error {
	mqtt := *m.config.MQTT
	host, _, err := net.SplitHostPort(mqtt.Addr)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(m.mqtt[strings.Index(m.mqtt, "//")+2:])
	if err != nil {
		return err
	}
	mqtt.Addr = net.JoinHostPort(host, port) // which may have been chosen by the system
	m.config.MQTT, m.config.Addr = &mqtt, m.addr
	return m.launch()
}

// writable says whether there is room for so many bytes in a folder.
func writable(dir string, size int64) bool {
	f, err := os.CreateTemp(dir, "room-*")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, size))
	if err == nil {
		err = f.Sync()
	}
	return f.Close() == nil && err == nil
}
