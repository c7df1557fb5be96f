package box

import (
	"fmt"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
)

// conditions is what a box knows of itself beside the reports of its host. Methods of
// the zero value know nothing.
type conditions struct {
	patience    time.Duration // in which a line should have an answer; 0 means healthyFor
	damaged     int           // checkpoints that could not be read at the start
	saved       time.Time     // when the last was written before the start; zero if there is none
	jumps       *jumps
	certificate *certificate
	sensed      *mqttWorld // nil if the world is another
}

// conditions returns those of a box.
func (b *Box) conditions() conditions {
	p := b.pace()
	deadline := p.Deadline
	if deadline == 0 {
		deadline = host.DefaultDeadline
	}
	return conditions{
		patience: max(healthyFor, 3*deadline, p.First+deadline),
		jumps:    b.jumps, certificate: b.certificate, sensed: b.sensed,
	}
}

// observe makes what is seen of a report after the one before, nil if there was none.
func (c *conditions) observe(r *host.Report, before *seen, now time.Time) *seen {
	copied := *r
	s := &seen{report: &copied, at: now, silent: map[agent.NodeID]time.Time{}, saved: c.saved}
	var was host.Report
	if before != nil {
		was, s.saved = *before.report, before.saved
	}
	for _, node := range r.Silent {
		s.silent[node] = now
		if before != nil && !before.silent[node].IsZero() {
			s.silent[node] = before.silent[node]
		}
	}
	if r.Waits || r.Stats.Unanswered > was.Stats.Unanswered {
		s.owed = now
		if before != nil && !before.owed.IsZero() && r.Agents.Predicted == was.Agents.Predicted {
			s.owed = before.owed
		}
	}
	if r.Stale > 0 {
		s.stale = now
		if before != nil && !before.stale.IsZero() {
			s.stale = before.stale
		}
	}
	if r.Stats.Checkpoints > was.Stats.Checkpoints {
		s.saved = now
	}
	copied.Health = &host.Health{Damaged: c.damaged, ClockJump: c.jumps.off().Seconds(), Certificate: c.certificate.left(now).Seconds()}
	if c.sensed != nil {
		copied.Health.Broker = c.sensed.broker()
	}
	if !s.saved.IsZero() {
		copied.Health.Checkpoint = max(now.Sub(s.saved).Seconds(), 1e-3)
	}
	return s
}

// problems says what is wrong by what was seen last, a line for each thing.
func (c *conditions) problems(s *seen, now time.Time) (list []string) {
	if age := now.Sub(s.at); age > healthyFor {
		list = append(list, fmt.Sprintf("the last report is %v old", age.Round(time.Second)))
	}
	patience := c.patience
	if patience == 0 {
		patience = healthyFor
	}
	if !s.owed.IsZero() && now.Sub(s.owed) >= patience {
		list = append(list, fmt.Sprintf("no answer for %v: step %d waits for one", now.Sub(s.owed).Round(time.Second), s.report.Time))
	}
	if s.report.Unsaved {
		list = append(list, "the last checkpoint was not written; the log says why")
	}
	var gone []agent.NodeID
	for _, node := range s.report.Silent { // ascending
		if now.Sub(s.silent[node]) >= silentFor {
			gone = append(gone, node)
		}
	}
	switch {
	case len(gone) > 0 && len(gone) == s.report.Outside:
		list = append(list, fmt.Sprintf("all neighbours have been silent for %v and more: nodes %s", silentFor, host.FormatNodes(gone)))
	case len(gone) > 0:
		list = append(list, fmt.Sprintf("neighbours that have been silent for %v and more: nodes %s", silentFor, host.FormatNodes(gone)))
	}
	for _, a := range s.report.Apart {
		where := fmt.Sprintf("%d steps ahead", a.Steps)
		if a.Steps < 0 {
			where = fmt.Sprintf("%d steps behind", -a.Steps)
		}
		list = append(list, fmt.Sprintf("host %d is %s, by what it sends: do the clocks of the two agree, and are frames faster than steps?",
			a.Host, where))
	}
	if late := time.Duration(s.report.Late * float64(time.Second)); late >= lateFor {
		list = append(list, fmt.Sprintf("lines of the world have been waiting for %v, and answers are late: are neighbours in earlier steps, "+
			"or has this box too much to do?", late.Round(time.Second)))
	}
	if !s.stale.IsZero() && now.Sub(s.stale) >= healthyFor {
		list = append(list, fmt.Sprintf("lines of the world are refused: they are %d steps and more before step %d, at which this box is, "+
			"or its checkpoint was; was a clock set back? To begin anew move the state folder away", s.report.Stale, s.report.Time))
	}
	if early := c.jumps.ahead(); early > 0 {
		list = append(list, fmt.Sprintf("the checkpoint is %v ahead of the clock of this machine: was it set back? "+
			"The box waits until it is there; to begin anew now, move the state folder away", early.Round(time.Second)))
	}
	if s.report.Unlinked {
		list = append(list, "nobody has said whom the nodes here hear: name links in lines of the world, or in the configuration")
	}
	if c.sensed != nil {
		if err := c.sensed.err(); err != nil {
			list = append(list, fmt.Sprintf("mqtt: %v", err))
		}
	}
	if left := c.certificate.left(now); left < 0 {
		list = append(list, fmt.Sprintf("the certificate of %s expired %v ago; wdgnn swarm keys renew makes another",
			c.certificate.watch.Party, -left.Round(time.Second)))
	}
	if off := c.jumps.off(); off != 0 {
		list = append(list, fmt.Sprintf("the clock of this machine jumped by %v; restart the box if it is right now", off.Round(time.Second)))
	}
	return list
}
