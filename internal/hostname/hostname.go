// Package hostname says whether a request means this machine: a web page that
// makes its own name point here, to read what only this machine may, still asks
// by that name.
package hostname

import (
	"net"
	"strings"
)

// Of returns the host of "host:port", or of a host alone, without brackets.
func Of(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// Loopback says whether host is this machine as only it can call itself.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Means says whether a request to host, as its header has it, means a server that
// listens at an address. One on loopback is called by a name of loopback. One
// that others reach is called by a number, which no page can take for its own
// name, by the name that it listens at, or as only this machine can.
func Means(listens, header string) bool {
	own, host := Of(listens), Of(header)
	switch {
	case Loopback(host):
		return true
	case Loopback(own):
		return false
	}
	return net.ParseIP(host) != nil || own != "" && strings.EqualFold(host, own)
}
