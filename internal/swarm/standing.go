package swarm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
)

// Sighting is what was heard of a host: its latest report, the first, and the time
// between the two.
type Sighting struct {
	First, Last *host.Report
	Between     time.Duration
}

// rate is how many steps a second the host made in between.
func (s Sighting) rate() float64 {
	if s.Between <= 0 || s.Last.Time < s.First.Time {
		return 0
	}
	return float64(s.Last.Time-s.First.Time) / s.Between.Seconds()
}

// Standing is how one host of a deployment does. The report of one that was not heard
// holds its run and number alone.
type Standing struct {
	*host.Report
	Heard    bool     `json:"heard"`
	Behind   uint64   `json:"behind"`             // steps behind the host that is farthest
	Refused  uint64   `json:"refused"`            // frames, messages and connections of others that it did not take
	Problems []string `json:"problems,omitempty"` // what is wrong; empty means nothing
}

// A host is behind when it is farther back than what the fastest makes in
// behindSeconds, and behindSteps more: reports are a second old at most.
const (
	behindSeconds = 3
	behindSteps   = 10
)

// certificateDays is how long before its end a certificate is something wrong.
const certificateDays = 30

// Standings judges the hosts of a deployment, ascending: those that are expected,
// those that were heard, and those that these say have joined.
func Standings(run string, expected []transport.HostID, heard map[transport.HostID]Sighting) []Standing {
	all := map[transport.HostID]bool{}
	for _, h := range expected {
		all[h] = true
	}
	farthest, fastest := uint64(0), 0.0
	for h, s := range heard {
		all[h] = true
		for _, j := range s.Last.Joined { // others know it, so it should be there
			all[j.Host] = true
		}
		farthest, fastest = max(farthest, s.Last.Time), max(fastest, s.rate())
	}
	var list []Standing
	for _, h := range slices.Sorted(maps.Keys(all)) {
		s, ok := heard[h]
		if !ok {
			list = append(list, Standing{
				Report:   &host.Report{Run: run, Host: h},
				Problems: []string{"nothing is heard of it: it is down, cut off, shut out, or of another run"},
			})
			continue
		}
		list = append(list, judge(s.Last, farthest-s.Last.Time, uint64(behindSeconds*fastest)+behindSteps))
	}
	return list
}

// judge says how a host does that is so many steps behind, of which so many are usual.
func judge(r *host.Report, behind, usual uint64) Standing {
	s := Standing{Report: r, Heard: true, Behind: behind}
	s.Refused = r.Bus.Refused + r.Agents.Refused + r.Stats.Impostors + r.Stats.BadFrames + r.Stats.OtherRuns + r.Stats.OtherPlans
	complain := func(format string, args ...any) { s.Problems = append(s.Problems, fmt.Sprintf(format, args...)) }
	if r.Health != nil {
		s.Problems = slices.Clone(r.Health.Problems)
		if days := r.Health.Certificate / 86400; days > 0 && days < certificateDays {
			complain("its certificate ends in %s; try: wdgnn swarm keys renew", grid.Count(int(days), "day"))
		}
		if n := r.Health.Damaged; n > 0 {
			complain("%s could not be read when it was started; it went on from the one before", grid.Count(n, "checkpoint"))
		}
	}
	if behind > usual && !r.Final {
		complain("it is %s behind", grid.Count(behind, "step"))
	}
	if len(r.Silent) > 0 && !slices.ContainsFunc(s.Problems, func(p string) bool { return strings.Contains(p, "silent") }) {
		complain("it does not wait for neighbours that are silent: nodes %s", host.FormatNodes(r.Silent))
	}
	if len(r.Differ) > 0 {
		complain("hosts %v run another model, scale or rule", r.Differ)
	}
	for _, q := range r.Quarantine {
		complain("it has kept host %d in quarantine for %v: %s", q.Host, time.Duration(q.Seconds)*time.Second, q.Reasons())
	}
	if r.BrokenSensors > 0 {
		complain("%d of its sensors are broken", r.BrokenSensors)
	}
	if r.SilentSensors > 0 {
		complain("%d of its sensors are silent", r.SilentSensors)
	}
	if r.Learning != nil && r.Gate == nil && r.Learning.Harmful() {
		complain("learning does harm: %v", r.Learning)
	}
	return s
}

// StandingTable returns a row of words for each host under a header, and a sentence for
// each thing that is worth saying or wrong.
func StandingTable(list []Standing) (header []string, rows [][]string, notes []string) {
	header = []string{"host", "state", "step", "behind", "silent", "refused", "gated", "broken", "checkpoint", "certificate"}
	for _, s := range list {
		if !s.Heard {
			rows = append(rows, []string{fmt.Sprint(s.Host), "not heard", "-", "-", "-", "-", "-", "-", "-", "-"})
			continue
		}
		gated, checkpoint, certificate := "-", "-", "-"
		if s.Gate != nil {
			gated = fmt.Sprint(s.Gate.Trained)
		}
		if h := s.Health; h != nil && h.Checkpoint != 0 {
			checkpoint = (time.Duration(h.Checkpoint) * time.Second).String() + " old"
		}
		if h := s.Health; h != nil && h.Certificate != 0 {
			certificate = grid.Count(int(h.Certificate/86400), "day")
		}
		state := "ok"
		switch {
		case len(s.Problems) > 0:
			state = "not well"
		case s.Final:
			state = "ended"
		}
		rows = append(rows, []string{
			fmt.Sprint(s.Host), state, fmt.Sprint(s.Time), fmt.Sprint(s.Behind), fmt.Sprint(len(s.Silent)), fmt.Sprint(s.Refused),
			gated, fmt.Sprint(s.BrokenSensors), checkpoint, certificate,
		})
	}
	for _, s := range list {
		if c := s.Change; s.Heard && c != nil {
			notes = append(notes, fmt.Sprintf("host %d: model %.12s %s", s.Host, c.Model, changeState(c)))
		}
	}
	for _, s := range list {
		for _, p := range s.Problems {
			notes = append(notes, fmt.Sprintf("host %d: %s", s.Host, p))
		}
	}
	return header, rows, notes
}

// Wrong returns how many of the hosts are not well.
func Wrong(list []Standing) (n int) {
	for _, s := range list {
		if len(s.Problems) > 0 {
			n++
		}
	}
	return n
}

// ExpectedHosts returns the run and the hosts of a set of keys, without those that
// are revoked.
func ExpectedHosts(dir string) (run string, hosts []transport.HostID, err error) {
	p, err := keys.LoadPermissions(dir)
	if err != nil {
		return "", nil, err
	}
	for _, u := range p.Users {
		var id transport.HostID
		if n, _ := fmt.Sscanf(u.Name, "host-%d", &id); n == 1 {
			hosts = append(hosts, id)
		}
	}
	return p.Run, hosts, nil
}

// changeState says how far a model is that was deployed.
func changeState(c *host.ChangeReport) string {
	switch c.State {
	case host.ChangeMade:
		return fmt.Sprintf("runs since step %d, as deployed", c.Step)
	case host.ChangeAgreed:
		return fmt.Sprintf("is agreed on for step %d", c.Step)
	case host.ChangeDropped:
		return "was staged, and dropped"
	}
	return fmt.Sprintf("is armed for step %d, and not agreed on", c.Step)
}
