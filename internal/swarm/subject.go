package swarm

import (
	"context"
	"encoding/json"
	"time"

	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// subjects makes a world reach its hosts over NATS.
type subjects struct {
	conn *natsbus.Conn
	run  string
	stop []func()
	last chan transport.HostID // hosts whose last report has come
}

// listen passes on what hosts answer and report.
func (s *subjects) listen(answers chan<- *host.Answer, reports chan<- *host.Report, heard func(transport.HostID)) error {
	stop, err := s.conn.Subscribe(natsbus.AnswerSubjects(s.run), func(subject string, data []byte) {
		var a host.Answer
		from, err := natsbus.HostOf(subject)
		if err != nil || json.Unmarshal(data, &a) != nil || a.Host != uint32(from) {
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
	stop, err = s.conn.Subscribe(natsbus.ReportSubjects(s.run), func(subject string, data []byte) {
		var r host.Report
		from, err := natsbus.HostOf(subject)
		if err != nil || json.Unmarshal(data, &r) != nil || r.Host != from {
			return
		}
		heard(from)
		if r.Final {
			defer func() {
				select {
				case s.last <- from:
				default:
				}
			}()
		}
		select {
		case reports <- &r:
		default:
		}
	})
	s.stop = append(s.stop, stop)
	return err
}

// await waits for the last reports of hosts that have ended, for a moment: they
// may still be on their way when the processes are gone.
func (s *subjects) await(hosts map[transport.HostID]Port) {
	end := time.NewTimer(lastWords)
	defer end.Stop()
	for len(hosts) > 0 {
		select {
		case id := <-s.last:
			delete(hosts, id)
		case <-end.C:
			return
		}
	}
}

// lastWords is how long last reports are waited for.
const lastWords = time.Second

func (s *subjects) close() {
	for _, stop := range s.stop {
		if stop != nil {
			stop()
		}
	}
	s.conn.Close()
}

// port returns the port of a host.
func (s *subjects) port(id transport.HostID) Port {
	return subjectPort{s.conn, natsbus.WorldSubject(s.run, id)}
}

type subjectPort struct {
	conn    *natsbus.Conn
	subject string
}

// Say implements [Port].
func (p subjectPort) Say(l *host.Line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return p.conn.Publish(p.subject, text)
}

// flush waits until the server has what was said.
func (s *subjects) flush(ctx context.Context) error { return s.conn.Flush(ctx) }
