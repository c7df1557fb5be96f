package swarm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/transport"
)

// View is how a swarm is doing.
type View struct {
	Seconds float64 `json:"seconds"` // since the first step
	Step    int     `json:"step"`
	Rate    float64 `json:"steps_per_second"` // lately

	Hosts   int `json:"hosts"`    // in all
	HostsUp int `json:"hosts_up"` // that run
	Missing int `json:"missing"`  // answers that did not come, so far

	Accuracy     float64 `json:"accuracy"` // share of right answers so far; -1 if there are no classes
	Frozen       float64 `json:"frozen"`   // that of the model as trained
	Cost         float64 `json:"cost"`     // mean of J so far
	FrozenCost   float64 `json:"frozen_cost,omitempty"`
	Disagreement float64 `json:"disagreement"`

	Counters Sums           `json:"counters"`
	Reports  []*host.Report `json:"-"` // the latest of every host, ascending
	Events   []string       `json:"told,omitempty"`
}

// Sums are counters of all hosts together.
type Sums struct {
	Host    host.Stats      `json:"host"`
	Agents  agent.Stats     `json:"agents"`
	Bus     transport.Stats `json:"bus"`
	Latency host.Latency    `json:"latency"` // the worst of all hosts
}

// LateShare returns the share of rows that did not come in time.
func (s *Sums) LateShare() float64 {
	return float64(s.Agents.Expired) / max(float64(s.Agents.Expired+s.Agents.Received), 1)
}

// Result is how a run of a swarm went.
type Result struct {
	Task    string  `json:"task"`
	Run     string  `json:"run"`
	Bus     string  `json:"bus"`
	Hosts   int     `json:"hosts"`
	Nodes   int     `json:"nodes"`
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`
	Rate    float64 `json:"steps_per_second"`
	Missing int     `json:"missing"` // answers that did not come in time

	Accuracy     float64 `json:"accuracy"`              // share of right answers; -1 if there are no classes
	Frozen       float64 `json:"frozen"`                // that of the model as trained
	Cost         float64 `json:"cost"`                  // mean of J
	FrozenCost   float64 `json:"frozen_cost,omitempty"` // that of the model as trained; 0 if answers change the world
	Disagreement float64 `json:"disagreement"`
	LateShare    float64 `json:"late_share"`

	MessagesPerStep float64 `json:"messages_per_step"` // rows that nodes received
	FramesPerStep   float64 `json:"frames_per_step"`   // that hosts received
	BytesPerStep    float64 `json:"bytes_per_step"`    // in these frames

	Counters  Sums                     `json:"counters"`
	Server    broker.Stats             `json:"server,omitzero"`
	Processes map[transport.HostID]int `json:"processes,omitempty"`
	Events    []string                 `json:"told,omitempty"`
	Warning   string                   `json:"warning,omitempty"` // that online learning does harm, or steps took too long
	Verified  *Verification            `json:"verified,omitempty"`

	// Forecast is how forecasts of the agents turned out beside others; nil if they
	// make none.
	Forecast *lifecycle.ForecastResult `json:"forecast,omitempty"`

	Reports []*host.Report `json:"-"` // the last of every host, ascending
}

// add adds up reports; the latest of a host stands for all before it.
func (s *Sums) add(reports map[transport.HostID]*host.Report) []*host.Report {
	var list []*host.Report
	for _, id := range slices.Sorted(maps.Keys(reports)) {
		r := reports[id]
		list = append(list, r)
		s.Host.Add(r.Stats)
		s.Agents.Add(r.Agents)
		s.Bus.Add(r.Bus)
		s.Latency = s.Latency.Worst(r.Latency)
	}
	return list
}

// warning says on which hosts online learning does harm, and on which the most;
// it is empty if it does on none.
func warning(reports []*host.Report) string {
	var worst *host.Report
	count := 0
	for _, r := range reports {
		if r.Learning == nil || !r.Learning.Harmful() {
			continue
		}
		if count++; worst == nil || r.Learning.Learned > worst.Learning.Learned {
			worst = r
		}
	}
	if worst == nil {
		return ""
	}
	return fmt.Sprintf("online learning does harm on %d of %d hosts, the most on host %d (nodes %s): %s",
		count, len(reports), worst.Host, worst.Nodes, worst.Learning)
}

// slow says that steps came less often than the clock was to tick; it is empty if
// they did not.
func (r *run) slow(s *Result) string {
	if r.Period == 0 || s.Steps < 2 {
		return ""
	}
	asked := float64(time.Second) / float64(r.Period)
	if rate := float64(s.Steps-1) / max(s.Seconds, 1e-9); rate < 0.95*asked {
		return fmt.Sprintf("%.1f steps/s where %.4g were asked for: this machine does not keep up; try a lower rate or fewer processes",
			rate, asked)
	}
	return ""
}

// show tells how things are, from time to time.
func (r *run) show() {
	every := r.Every
	if every == 0 {
		every = time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	before, at := 0, time.Now()
	for {
		select {
		case <-r.stop:
			return
		case now := <-tick.C:
			v := r.view()
			v.Rate = float64(v.Step-before) / now.Sub(at).Seconds()
			before, at = v.Step, now
			r.Watch(v)
		}
	}
}

// view returns how things are.
func (r *run) view() *View {
	up := len(r.launcher.ports())
	r.mu.Lock()
	defer r.mu.Unlock()
	v := &View{
		Seconds: time.Since(r.began).Seconds(), Step: r.steps, Hosts: r.Hosts, HostsUp: up, Missing: r.missing,
		Accuracy: r.score.accuracy(), Frozen: r.asTrained.Accuracy(),
		Cost: r.score.meanCost(), FrozenCost: r.asTrained.MeanCost(), Events: slices.Clone(r.events),
	}
	v.Counters = r.past
	v.Reports = v.Counters.add(r.latest)
	v.Disagreement = r.disagreement(v.Reports)
	return v
}

// result sums up the run.
func (r *run) result() *Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &Result{
		Task: r.Task.name, Run: r.Run, Bus: r.Bus, Hosts: r.Hosts, Nodes: r.Task.Nodes, Steps: r.steps,
		Seconds: r.ended.Sub(r.began).Seconds(), Missing: r.missing,
		Accuracy: r.score.accuracy(), Frozen: r.asTrained.Accuracy(), Cost: r.score.meanCost(), FrozenCost: r.asTrained.MeanCost(),
		Server: r.server, Processes: r.pids, Events: r.events,
	}
	if r.steps == 0 {
		s.Seconds = 0
	}
	s.Rate = float64(s.Steps) / max(s.Seconds, 1e-9)
	c := &s.Counters
	*c = r.past
	s.Reports = c.add(r.latest)
	s.LateShare, s.Warning = c.LateShare(), warning(s.Reports)
	if slow := r.slow(s); slow != "" {
		s.Warning = strings.TrimPrefix(s.Warning+"; "+slow, "; ")
	}
	steps := float64(max(s.Steps, 1))
	s.MessagesPerStep = float64(c.Agents.Received) / steps
	s.FramesPerStep, s.BytesPerStep = float64(c.Bus.Received)/steps, float64(c.Bus.ReceivedBytes)/steps
	s.Disagreement = r.disagreement(s.Reports)
	if w, ok := r.Task.World.(*seriesWorld); ok && r.steps == w.steps {
		s.Forecast = w.run.Judged(w.answers)
	}
	if r.verify != nil {
		if r.verify.series == nil {
			r.verify.compare(r.final)
		} else if err := r.verify.compareStates(r.Dir); err != nil {
			r.verify.First = err.Error()
		}
		s.Verified = &r.verify.Verification
	}
	return s
}

// disagreement returns max_i ‖𝒜_i - mean‖ of the parameters in reports.
func (r *run) disagreement(reports []*host.Report) float64 {
	worst := 0.0
	for _, d := range r.distances(reports) {
		worst = max(worst, d)
	}
	return worst
}

// distances returns ‖𝒜_i - mean‖ by node.
func (r *run) distances(reports []*host.Report) map[agent.NodeID]float64 {
	var sum []float64
	count := 0
	for _, report := range reports {
		for _, params := range report.Params {
			if sum == nil {
				sum = make([]float64, len(params))
			}
			for k, v := range params {
				sum[k] += float64(v)
			}
			count++
		}
	}
	mean := make([]float32, len(sum))
	for k, v := range sum {
		mean[k] = float32(v / float64(count))
	}
	all := make(map[agent.NodeID]float64, count)
	for _, report := range reports {
		for node, params := range report.Params {
			all[node] = r.plan.Basis.Distance(params, mean)
		}
	}
	return all
}
