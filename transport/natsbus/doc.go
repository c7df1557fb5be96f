// Package natsbus is a [transport.Bus] over a NATS server or cluster, and the
// connection over which a host talks to its world.
//
//	conn, err := natsbus.Dial(ctx, natsbus.Config{URL: url, Run: "demo", Host: 3})
//	conn.Hear([]transport.HostID{1, 2})
//	conn.Send(frame)                     // everybody who hears host 3
//	f := <-conn.Frames()                 // f.From is 1 or 2
//
// # Subjects
//
// Each subject has one sender, or one receiver, so that a server's permissions
// can say who speaks as whom and who may hear whom:
//
//	wdgnn.<run>.from.<host>     frames of a host, for its neighbours
//	wdgnn.<run>.world.<host>    what the world tells a host
//	wdgnn.<run>.answer.<host>   what a host answers the world
//	wdgnn.<run>.report.<host>   how a host is doing, for whoever watches
//
// Hosts are decimal numbers. Who sent a frame is read from its subject and from
// nothing else.
//
// # Losing the server
//
// A connection that breaks is made again, for as long as it takes. What is sent
// meanwhile is refused, not kept: parameters that arrive late are worse than
// none. What is heard is remembered. A server that answers nothing for 15
// seconds, or takes nothing for 2, counts as lost; on a link so slow that one
// frame takes longer, send smaller ones.
package natsbus
