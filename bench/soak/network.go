//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
)

// network is what lies between machines: those of the boxes, and behind them that
// of the server.
type network interface {
	// enter returns what comes before a command that runs on a machine.
	enter(machine int) []string

	// listen returns where a machine listens at a port, reach where another
	// reaches it there.
	listen(machine, port int) string
	reach(from, to, port int) string

	// cut parts the given machines from all others, until mend.
	cut(machines []int) error
	mend() error

	close()
}

// spaces is a network of namespaces, each with a cable to a bridge in one more, and
// one of this process. Who is cut off is plugged into another bridge: packets are
// lost, and no connection is told.
type spaces struct {
	name     string
	prefix   string // of addresses
	machines int
	apart    []int
}

// newSpaces makes the network. Numbers tell networks of one process from each other.
func newSpaces(number, machines int) (*spaces, error) {
	pid := os.Getpid()
	s := &spaces{name: fmt.Sprintf("soak-%d-%d", pid, number), prefix: fmt.Sprintf("10.%d.%d", 64+pid%128, number%250), machines: machines}
	commands := [][]string{
		{"netns", "add", s.hub()},
		{"-n", s.hub(), "link", "add", "together", "type", "bridge"},
		{"-n", s.hub(), "link", "add", "apart", "type", "bridge"},
		{"-n", s.hub(), "link", "set", "together", "up"},
		{"-n", s.hub(), "link", "set", "apart", "up"},
		{"link", "add", s.cable(), "type", "veth", "peer", "name", "home", "netns", s.hub()},
		{"-n", s.hub(), "link", "set", "home", "master", "together", "up"},
		{"addr", "add", s.prefix + ".254/24", "dev", s.cable()},
		{"link", "set", s.cable(), "up"},
	}
	for k := range machines {
		m, port := s.machine(k), fmt.Sprintf("port%d", k)
		commands = append(commands, [][]string{
			{"netns", "add", m},
			{"link", "add", "eth0", "netns", m, "type", "veth", "peer", "name", port, "netns", s.hub()},
			{"-n", s.hub(), "link", "set", port, "master", "together", "up"},
			{"-n", m, "addr", "add", s.address(k) + "/24", "dev", "eth0"},
			{"-n", m, "link", "set", "eth0", "up"},
			{"-n", m, "link", "set", "lo", "up"},
		}...)
	}
	for _, c := range commands {
		if err := ip(c...); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}

func (s *spaces) hub() string                  { return s.name + "-hub" }
func (s *spaces) machine(k int) string         { return fmt.Sprintf("%s-%d", s.name, k) }
func (s *spaces) cable() string                { return fmt.Sprintf("sk%s", s.name[len("soak-"):]) }
func (s *spaces) address(k int) string         { return fmt.Sprintf("%s.%d", s.prefix, k+1) }
func (s *spaces) enter(k int) []string         { return []string{"ip", "netns", "exec", s.machine(k)} }
func (s *spaces) listen(k, port int) string    { return fmt.Sprintf("%s:%d", s.address(k), port) }
func (s *spaces) reach(_, to, port int) string { return s.listen(to, port) }
func (s *spaces) plug(k int, bridge string) error {
	return ip("-n", s.hub(), "link", "set", fmt.Sprintf("port%d", k), "master", bridge)
}

func (s *spaces) cut(machines []int) error {
	s.apart = slices.Clone(machines)
	for _, k := range machines {
		if err := s.plug(k, "apart"); err != nil {
			return err
		}
	}
	return nil
}

func (s *spaces) mend() error {
	for _, k := range s.apart {
		if err := s.plug(k, "together"); err != nil {
			return err
		}
	}
	s.apart = nil
	return nil
}

func (s *spaces) close() {
	for k := range s.machines {
		_ = ip("netns", "del", s.machine(k)) // what was not made is not there
	}
	_ = ip("netns", "del", s.hub())
}

// proxies is a network on loopback for those who may not make namespaces. Every way
// from one machine to another is a listener that passes bytes on; who is cut off keeps
// its connections, and nothing comes through them.
type proxies struct {
	mu        sync.Mutex
	ports     map[[2]int]int    // where a machine listens at one of its ports
	ways      map[[3]int]string // where others reach it there
	apart     map[int]bool
	change    chan struct{} // closed when apart changes
	listeners []net.Listener
	wrong     error
}

func newProxies() *proxies {
	return &proxies{ports: map[[2]int]int{}, ways: map[[3]int]string{}, apart: map[int]bool{}, change: make(chan struct{})}
}

func (p *proxies) enter(int) []string { return nil }

func (p *proxies) listen(machine, port int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := [2]int{machine, port}
	if p.ports[key] == 0 {
		free, err := loopback.take()
		if err != nil {
			p.wrong = err
			return "127.0.0.1:0"
		}
		p.ports[key] = free
	}
	return fmt.Sprintf("127.0.0.1:%d", p.ports[key])
}

func (p *proxies) reach(from, to, port int) string {
	target := p.listen(to, port)
	if from == to {
		return target
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := [3]int{from, to, port}
	if p.ways[key] == "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			p.wrong = err
			return "127.0.0.1:0"
		}
		p.listeners = append(p.listeners, l)
		p.ways[key] = l.Addr().String()
		go p.serve(l, from, to, target)
	}
	return p.ways[key]
}

// serve passes on what goes from one machine to another.
func (p *proxies) serve(l net.Listener, from, to int, target string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return // closed
		}
		go func() {
			p.wait(from, to)
			out, err := net.Dial("tcp", target)
			if err != nil {
				in.Close()
				return
			}
			go p.pass(out, in, from, to)
			p.pass(in, out, from, to)
		}()
	}
}

// pass copies bytes and holds them back while the machines are parted.
func (p *proxies) pass(w, r net.Conn, from, to int) {
	defer w.Close()
	defer r.Close()
	some := make([]byte, 16<<10)
	for {
		n, err := r.Read(some)
		p.wait(from, to)
		if n > 0 {
			if _, err := w.Write(some[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait returns when one machine can reach the other.
func (p *proxies) wait(from, to int) {
	for {
		p.mu.Lock()
		parted, change := p.apart[from] != p.apart[to], p.change
		p.mu.Unlock()
		if !parted {
			return
		}
		<-change
	}
}

func (p *proxies) cut(machines []int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.apart)
	for _, k := range machines {
		p.apart[k] = true
	}
	close(p.change)
	p.change = make(chan struct{})
	return p.wrong
}

func (p *proxies) mend() error { return p.cut(nil) }

func (p *proxies) close() {
	_ = p.mend() // whoever waits goes on and ends
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.listeners {
		l.Close()
	}
}

var _, _ network = (*spaces)(nil), (*proxies)(nil)
