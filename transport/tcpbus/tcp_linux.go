package tcpbus

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lostPackets returns how many packets of a connection the system sent again, without
// those of which the other end says that they had not been lost.
func lostPackets(c net.Conn) (total uint64, known bool) {
	control(c, func(fd int) {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			total, known = uint64(max(info.Total_retrans, info.Dsack_dups)-info.Dsack_dups), true
		}
	})
	return total, known
}

// hurry has the system send what was lost again after little more than a round trip,
// and not wait longer and longer if that is lost as well. It says whether the system
// can: Linux since 6.15, which wants two ticks of its clock at least.
func hurry(c net.Conn) (brisk bool) {
	return timeouts(c, 1, 5*time.Millisecond) || timeouts(c, 1, 20*time.Millisecond)
}

// relax has the system wait as usual again.
func relax(c net.Conn) { timeouts(c, 0, 200*time.Millisecond) }

// timeouts sets whether timeouts of a connection with little to send stay the same (1) or
// double (0), and how much longer than a round trip they are at least.
func timeouts(c net.Conn, steady int, least time.Duration) (done bool) {
	control(c, func(fd int) {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_THIN_LINEAR_TIMEOUTS, steady) // it also goes without
		done = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_RTO_MIN_US, int(least.Microseconds())) == nil
	})
	return done
}

// control does something with the socket of a connection, if it has one.
func control(c net.Conn, do func(fd int)) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { do(int(fd)) }) // it may be closed meanwhile
	}
}
