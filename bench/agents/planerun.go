package agents

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

const planeLinger = 10 * time.Second // hosts that are done wait to be looked at

// deadline returns how long a step may wait for neighbours: far longer than one takes,
// so that whoever is slow is measured and not given up.
func (p *plane) deadline() time.Duration {
	return max(20*time.Second, time.Duration(p.nodes)*100*time.Microsecond)
}

// first returns how long the first step may: hosts read files of many nodes before it,
// and some are done earlier than others.
func (p *plane) first() time.Duration { return 3 * p.deadline() }

// run starts the hosts, lets them step for some seconds, and ends them.
func (p *plane) run(ctx context.Context, b *Bench) (*Figure, error) {
	server, err := broker.Start(broker.Config{})
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	conn, err := swarm.Dial(ctx, natsbus.Config{URL: server.URL(), Run: "plane", Host: transport.HostID(p.hosts), Name: "bench"})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reports := make(chan *host.Report, 1024)
	if _, err := swarm.OnReports(conn, "plane", func(r *host.Report) {
		select {
		case reports <- r:
		default:
		}
	}); err != nil {
		return nil, err
	}
	hosts := slices.Sorted(maps.Keys(p.divided))
	for _, id := range hosts {
		if err := box.Save(p.file(id), p.config(id, server.URL())); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	pids, stop, err := swarm.StartProcesses(p.dir, hosts, func(id transport.HostID) *exec.Cmd {
		args := append(b.program(), "--config", p.file(id))
		cmd := exec.Command(args[0], args[1:]...)
		swarm.Share(cmd, p.hosts)
		return cmd
	})
	if err != nil {
		return nil, err
	}
	defer stop()
	return p.watch(ctx, distinct(pids), reports, began, time.Duration(b.Seconds*float64(time.Second)))
}

func (p *plane) file(id transport.HostID) string {
	return filepath.Join(p.dir, fmt.Sprintf("host-%d.yaml", id))
}

const (
	planeWarm  = 2  // steps of a host that do not count
	planeLeast = 10 // steps of each that do, at least: reports come every second, and some steps take as long
)

// stretch is what a host did between two of its reports.
type stretch struct {
	first, last *host.Report
	from, to    time.Time
}

// watch hears reports until every host was timed for long enough, or one is at
// the end of its world. The time that counts begins when all of them are warm. Hosts
// that report and make no step are waited for as long as two first steps may take,
// beside the time that counts, and that is as long as the least number of steps takes.
func (p *plane) watch(ctx context.Context, processes int, reports <-chan *host.Report,
	began time.Time, long time.Duration,
) (*Figure, error) {
	f := &Figure{Bus: box.BusNATS, Hosts: p.hosts, Nodes: p.nodes, Processes: processes}
	hosts := map[transport.HostID]*stretch{}
	var used usage
	most := max(long, planeLeast*p.deadline()) + 2*p.first()
	end := time.NewTimer(most)
	defer end.Stop()
	for !p.timed(hosts, long) {
		silence := time.NewTimer(p.first())
		var r *host.Report
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-silence.C:
			return nil, fmt.Errorf("no host reported for %v; logs are in %s", p.first(), p.dir)
		case <-end.C:
			return nil, fmt.Errorf("waited %v for %d steps of each host and %v more; %s; logs are in %s",
				most, planeWarm, long, p.seen(hosts), p.dir)
		case r = <-reports:
		}
		silence.Stop()
		if int(r.Time) >= p.steps-1 {
			break // it may have been idle since
		}
		now := time.Now()
		if s := hosts[r.Host]; s != nil {
			s.last, s.to = r, now
		} else if r.Time >= planeWarm {
			hosts[r.Host] = &stretch{first: r, last: r, from: now, to: now}
			if len(hosts) == p.hosts {
				for _, s := range hosts {
					s.first, s.from = s.last, s.to
				}
				used, f.StartSeconds = usageNow(), now.Sub(began).Seconds()
			}
		}
	}
	now := usageNow()
	f.ResidentBytes, f.LargestBytes = now.resident, now.largest
	f.HostCPU, f.WorldCPU = now.children-used.children, now.own-used.own
	return f, p.sumUp(f, hosts)
}

// seen says how far each host was seen to come.
func (p *plane) seen(hosts map[transport.HostID]*stretch) string {
	words := make([]string, p.hosts)
	for id := range transport.HostID(p.hosts) {
		words[id] = fmt.Sprintf("host %d did not make them", id)
		if s := hosts[id]; s != nil {
			words[id] = fmt.Sprintf("host %d is at step %d", id, s.last.Time)
		}
	}
	return strings.Join(words, ", ")
}

// timed says whether every host was timed for so long, and for enough steps.
func (p *plane) timed(hosts map[transport.HostID]*stretch, long time.Duration) bool {
	for _, s := range hosts {
		if s.to.Sub(s.from) < long || s.last.Time-s.first.Time < planeLeast {
			return false
		}
	}
	return len(hosts) == p.hosts
}

// sumUp computes rates from what every host did in its time. HostCPU and WorldCPU are
// those of the whole time before, and of a step after.
func (p *plane) sumUp(f *Figure, hosts map[transport.HostID]*stretch) error {
	var sums swarm.Sums
	hears := swarm.Neighbours(p.graph, p.divided)
	for id, s := range hosts {
		steps, seconds := float64(s.last.Time-s.first.Time), s.to.Sub(s.from).Seconds()
		if steps == 0 || len(hosts) < p.hosts {
			return fmt.Errorf("host %d was not seen to make a step, %d of %d hosts are up; logs are in %s", id, len(hosts), p.hosts, p.dir)
		}
		f.Steps, f.Seconds = max(f.Steps, int(steps)), max(f.Seconds, seconds)
		f.Rate += steps / seconds / float64(p.hosts)
		f.Messages += float64(s.last.Agents.Received-s.first.Agents.Received) / steps
		// Frames arrive before the step that they are counted in: their sizes
		// are exact, their number in a step is that of the hosts heard.
		frames := float64(s.last.Bus.Received - s.first.Bus.Received)
		f.Frames += float64(len(hears[id]))
		f.Bytes += float64(s.last.Bus.ReceivedBytes-s.first.Bus.ReceivedBytes) / max(frames, 1) * float64(len(hears[id]))
		sums.Agents.Add(s.last.Agents)
		sums.Latency = sums.Latency.Worst(s.last.Latency)
	}
	f.Latency, f.LateShare = sums.Latency, sums.LateShare()
	f.HostCPU, f.WorldCPU = f.HostCPU/float64(f.Steps), f.WorldCPU/float64(f.Steps)
	return nil
}
