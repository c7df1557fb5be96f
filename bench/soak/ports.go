//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
)

// ports hands out ports of loopback for programs that are started later, and again
// after a fault: each once, and none of those that the kernel gives to whoever asks for
// any. One of these might be a connection of another deployment by then.
type ports struct {
	mu        sync.Mutex
	low, high int // from low to below high
	next      int
	tried     int // of them, free or not
}

// loopback is where machines of this process listen without namespaces.
var loopback = newPorts(os.Getpid())

const (
	lowestPort = 10240
	usualRange = 32768 // where the kernel's own ports begin
)

// newPorts begins somewhere else for each process, so that several soaks at once are
// not in each other's way.
func newPorts(pid int) *ports {
	p := &ports{low: lowestPort, high: usualRange}
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		var first int
		if _, err := fmt.Sscan(string(text), &first); err == nil && first > 2*lowestPort {
			p.high = first
		}
	}
	p.next = p.low + pid*997%(p.high-p.low)
	return p
}

// take returns a port at which nobody listens.
func (p *ports) take() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; p.tried < p.high-p.low; p.tried++ {
		port := p.next
		if p.next++; p.next == p.high {
			p.next = p.low
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			p.tried++
			return port, l.Close()
		}
	}
	return 0, errors.New("all ports were used; run fewer deployments in one process")
}
