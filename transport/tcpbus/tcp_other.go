//go:build !linux

package tcpbus

import "net"

// lostPackets would say how many packets of a connection were sent again; here the
// system is not asked.
func lostPackets(net.Conn) (total uint64, known bool) { return 0, false }

// hurry would have the system send what was lost again sooner.
func hurry(net.Conn) (brisk bool) { return false }

// relax would undo it.
func relax(net.Conn) {}
