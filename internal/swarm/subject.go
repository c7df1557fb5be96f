package swarm

import (
	"context"
	"encoding/json"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// subjects makes a world reach its hosts over NATS.
type subjects struct {
	conn  *natsbus.Conn
	run   string
	stop  []func()
	final chan transport.HostID // hosts whose last report has come
}

// listen passes on what hosts answer and report.
func (s *subjects) listen(answers chan<- *host.Answer, reports chan<- *host.Report, reported func(transport.HostID)) error {
	stop, err := s.conn.Subscribe(natsbus.AnswerSubjects(s.run), func(subject string, data []byte) {
		var a host.Answer
		from, err := natsbus.HostOf(subject)
		if err != nil || json.Unmarshal(data, &a) != nil || a.Host != from {
			return
		}
		select {
		case answers <- &a:
		default:
		}
	})
	if err != nil {
		return err
	}
	s.stop = append(s.stop, stop)
	stop, err = OnReports(s.conn, s.run, func(r *host.Report) {
		reported(r.Host)
		select {
		case reports <- r:
		default:
		}
		if r.Final {
			select {
			case s.final <- r.Host:
			default:
			}
		}
	})
	s.stop = append(s.stop, stop)
	return err
}

// awaitFinal waits for the last reports of hosts that have ended, for a moment: they
// may still be on their way when the processes are gone.
func (s *subjects) awaitFinal(hosts map[transport.HostID]port) {
	end := time.NewTimer(finalTimeout)
	defer end.Stop()
	for len(hosts) > 0 {
		select {
		case id := <-s.final:
			delete(hosts, id)
		case <-end.C:
			return
		}
	}
}

// finalTimeout is how long last reports are waited for.
const finalTimeout = time.Second

func (s *subjects) close() {
	for _, stop := range s.stop {
		if stop != nil {
			stop()
		}
	}
	s.conn.Close()
}

// port returns the port of a host.
func (s *subjects) port(id transport.HostID) port {
	return subjectPort{s.conn, natsbus.WorldSubject(s.run, id)}
}

type subjectPort struct {
	conn    *natsbus.Conn
	subject string
}

// send implements [port].
func (p subjectPort) send(l *host.Line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return p.conn.Publish(p.subject, text)
}

// flush waits until the server has what was said.
func (s *subjects) flush(ctx context.Context) error { return s.conn.Flush(ctx) }

// natsProcesses is a launcher of processes that hear the world over NATS.
type natsProcesses struct {
	*processes
	*subjects
}

// ports implements [launcher].
func (p *natsProcesses) ports() map[transport.HostID]port {
	ports := p.processes.ports()
	for id := range ports {
		ports[id] = p.port(id)
	}
	return ports
}

// close implements [launcher].
func (p *natsProcesses) close(wait time.Duration) error {
	ports := p.ports()
	for _, port := range ports {
		_ = port.send(&host.Line{End: true}) // a host that does not hear it is killed below
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	_ = p.flush(ctx)
	err := p.processes.close(wait)
	p.awaitFinal(ports)
	p.subjects.close()
	return err
}
