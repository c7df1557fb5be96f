// Package broker is a NATS server inside the program, for runs on one machine
// and for small deployments that want no other server.
//
//	s, err := broker.Start(broker.Config{})          // loopback, open to this machine
//	conn, err := natsbus.Dial(ctx, natsbus.Config{URL: s.URL(), Run: "demo"})
//
// With the keys of a deployment it takes connections from elsewhere and holds
// everybody to their permissions. It stores nothing: a message is for those who
// hear it now. Only where it speaks MQTT too, what sessions have not acknowledged and
// retained messages are in a folder.
package broker
