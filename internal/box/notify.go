package box

import (
	"net"
	"os"
)

// supervisor is a service manager that wants to hear that a process is ready,
// and then that it still works: the socket that systemd names in NOTIFY_SOCKET.
type supervisor struct{ socket string }

func newSupervisor() supervisor { return supervisor{os.Getenv("NOTIFY_SOCKET")} }

// tell sends a state such as READY=1; without a supervisor it does nothing. A
// message that is lost is followed by others.
func (s supervisor) tell(state string) {
	if s.socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	conn.Write([]byte(state))
}
