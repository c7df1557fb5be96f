package swarm

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

const (
	planeDeadline = 20 * time.Second
	planeFirst    = 60 * time.Second
)

// run starts the hosts, lets them step for some seconds, and ends them.
func (p *plane) run(ctx context.Context, b *Bench) (*Figure, error) {
	server, err := broker.Start(broker.Config{})
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	conn, err := natsbus.Dial(ctx, natsbus.Config{URL: server.URL(), Run: "plane", Host: transport.HostID(p.hosts), Name: "bench"})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reports := make(chan *host.Report, 1024)
	if _, err := conn.Subscribe(natsbus.ReportSubjects("plane"), func(_ string, data []byte) {
		r := new(host.Report)
		if json.Unmarshal(data, r) == nil {
			select {
			case reports <- r:
			default:
			}
		}
	}); err != nil {
		return nil, err
	}
	all := NewProcesses(p.dir, func(id transport.HostID) *exec.Cmd {
		args := append(b.program(), "--config", p.file(id))
		return exec.Command(args[0], args[1:]...)
	})
	defer all.Close(0)
	began := time.Now()
	for id := range p.divided {
		if err := box.Save(p.file(id), p.config(id, server.URL())); err != nil {
			return nil, err
		}
		if err := all.Start(id); err != nil {
			return nil, err
		}
	}
	return p.watch(ctx, all, reports, began, time.Duration(b.Seconds*float64(time.Second)))
}

func (p *plane) file(id transport.HostID) string {
	return filepath.Join(p.dir, fmt.Sprintf("host-%d.yaml", id))
}

// planeWarm is how many steps do not count.
const planeWarm = 2

// watch hears reports until steps were timed for long enough.
func (p *plane) watch(ctx context.Context, all *Processes, reports <-chan *host.Report, began time.Time, long time.Duration) (*Figure, error) {
	f := &Figure{Bus: BusNATS, Hosts: p.hosts, Nodes: p.nodes, Processes: distinct(all.PIDs())}
	latest := map[transport.HostID]*host.Report{}
	var first Sums
	var from time.Time
	var used usage
	low := uint64(0)
	for {
		var r *host.Report
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case r = <-reports:
		case <-time.After(planeFirst):
			return nil, fmt.Errorf("no host reported for %v; logs are in %s", planeFirst, p.dir)
		}
		latest[r.Host] = r
		if len(latest) < p.hosts {
			continue
		}
		step := latest[0].Time
		for _, r := range latest {
			step = min(step, r.Time)
		}
		now := time.Now()
		switch {
		case from.IsZero() && step >= planeWarm:
			from, used, low = now, usageNow(), step
			f.StartSeconds = now.Sub(began).Seconds()
			first.add(latest)
		case !from.IsZero() && step > low && (now.Sub(from) >= long || r.Final):
			var last Sums
			last.add(latest)
			after := usageNow()
			f.Steps, f.Seconds = int(step-low), now.Sub(from).Seconds()
			f.Rate = float64(f.Steps) / f.Seconds
			steps := float64(last.Agents.Predicted-first.Agents.Predicted) / float64(p.nodes) // of all hosts together, however far each is
			f.Messages = float64(last.Agents.Received-first.Agents.Received) / steps
			f.Frames = float64(last.Bus.Received-first.Bus.Received) / steps
			f.Bytes = float64(last.Bus.ReceivedBytes-first.Bus.ReceivedBytes) / steps
			f.Latency, f.LateShare = last.Latency, last.LateShare()
			f.HostCPU, f.WorldCPU = (after.children-used.children)/steps, (after.own-used.own)/steps
			for _, pid := range all.PIDs() {
				f.ResidentBytes += resident(pid)
			}
			return f, nil
		}
	}
}
