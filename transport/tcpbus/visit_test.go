package tcpbus_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

// A visitor is talked to, and is no host: nobody hears it and it hears nothing. A host
// that wants no visitors hangs up.
func TestVisit(t *testing.T) {
	for _, open := range []bool{true, false} {
		c := tcpbus.Config{Host: 3, Listen: "127.0.0.1:0", Insecure: true}
		if open {
			c.Visit = func(conn net.Conn) { _, _ = io.Copy(conn, conn) }
		}
		b, err := tcpbus.Open(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := tcpbus.Visit(context.Background(), b.Addr().String(), 3, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err = conn.Write([]byte("hello"))
		got := make([]byte, 5)
		if err == nil {
			_, err = io.ReadFull(conn, got)
		}
		if (err == nil && string(got) == "hello") != open {
			t.Errorf("visitors welcome: %v, got %q, %v", open, got, err)
		}
		conn.Close()
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
