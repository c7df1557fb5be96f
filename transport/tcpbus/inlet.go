package tcpbus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// Times between attempts to dial a host: doubled up to the last.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// follow hears a host over one lane until the context ends, and dials it again whenever
// the link breaks.
func (b *Bus) follow(ctx context.Context, e *ear, lane int) {
	retry, linked := firstRetry, false
	for {
		began := time.Now()
		met, err := b.hear(ctx, e, lane, linked)
		if ctx.Err() != nil {
			return
		}
		if errors.As(err, new(refusal)) {
			b.refused.Add(1)
		}
		b.config.OnError(fmt.Errorf("tcpbus: host %d hears host %d: %w", b.config.Host, e.host, err))
		linked = linked || met
		if met && time.Since(began) > lastRetry {
			retry = firstRetry
		}
		timer := time.NewTimer(retry/2 + rand.N(retry/2)) // peers that lost the same host come back apart
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		retry = min(2*retry, lastRetry)
	}
}

// hear dials a host and receives its frames until the link breaks or the
// context ends. It says whether the host let it in.
func (b *Bus) hear(ctx context.Context, e *ear, lane int, again bool) (met bool, err error) {
	dialer := net.Dialer{Timeout: b.config.HandshakeTimeout}
	address, _ := b.peer(e.host)
	raw, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false, err
	}
	defer b.hangUp(raw)
	if !b.track(raw) {
		return false, transport.ErrClosed
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	conn, err := b.introduce(ctx, raw, e.host, lane)
	if err != nil {
		return false, err
	}
	if again {
		b.reconnects.Add(1)
	}
	return true, b.receive(ctx, conn, e, lane)
}

// introduce agrees with a host that was dialled on who is who.
func (b *Bus) introduce(ctx context.Context, raw net.Conn, host transport.HostID, lane int) (net.Conn, error) {
	if err := raw.SetDeadline(time.Now().Add(b.config.HandshakeTimeout)); err != nil {
		return nil, err
	}
	conn := raw
	if b.tls != nil {
		var err error
		if conn, err = b.dialTLS(ctx, raw, host); err != nil {
			return nil, err
		}
	}
	hi := hello{hearer: b.config.Host, sender: host, idle: b.config.Idle, lane: lane}
	if _, err := conn.Write(appendHello(nil, hi)); err != nil {
		return nil, err
	}
	sender, err := readWelcome(conn)
	if err != nil {
		return nil, err
	}
	if sender != host {
		return nil, refusal{fmt.Errorf("it says it is host %d, want %d", sender, host)}
	}
	return conn, raw.SetDeadline(time.Time{})
}

// receive hands frames to the reader until the link breaks.
func (b *Bus) receive(ctx context.Context, conn net.Conn, e *ear, lane int) error {
	r := bufio.NewReaderSize(patient{conn, b.config.Idle}, chunk)
	w := steady{conn, b.config.WriteTimeout, b.config.Idle}
	for {
		data, word, err := readFrame(r, b.config.MaxFrame)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case word == beat:
			if _, err := w.Write([]byte{answer}); err != nil {
				return err
			}
		case word > 0:
			b.widen(e, int(beat-word))
		default:
			e.take(b.inbox, data, lane)
		}
	}
}
