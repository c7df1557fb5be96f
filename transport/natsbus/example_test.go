package natsbus_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// Two hosts over a server inside the program.
func ExampleDial() {
	server, err := broker.Start(broker.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()

	ctx := context.Background()
	var hosts []*natsbus.Conn
	for id := range transport.HostID(2) {
		c, err := natsbus.Dial(ctx, natsbus.Config{URL: server.URL(), Run: "demo", Host: id})
		if err != nil {
			log.Fatal(err)
		}
		defer c.Close()
		hosts = append(hosts, c)
	}

	if err := hosts[1].Hear([]transport.HostID{0}); err != nil {
		log.Fatal(err)
	}
	if err := hosts[1].Flush(ctx); err != nil { // the server knows
		log.Fatal(err)
	}
	if err := hosts[0].Send([]byte("taps and rows")); err != nil {
		log.Fatal(err)
	}
	f := <-hosts[1].Frames()
	fmt.Printf("host %d: %s\n", f.From, f.Data)
	// Output: host 0: taps and rows
}
