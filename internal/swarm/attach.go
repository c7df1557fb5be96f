package swarm

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// Reports calls on with what hosts say on the bus of a deployment, until stop.
func (o ReportSource) Reports(ctx context.Context, on func(*host.Report)) (stop func(), err error) {
	conn, err := o.dial(ctx)
	if err != nil {
		return nil, err
	}
	end, err := OnReports(conn, o.Run, on)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return func() { end(); conn.Close() }, nil
}

// Follow takes reports until ctx ends and calls take about once a second with what the
// hosts said lately; a host that says nothing for a while is no longer among them.
func Follow(ctx context.Context, reports func(context.Context, func(*host.Report)) (stop func(), err error),
	take func(map[transport.HostID]Sighting) error,
) error {
	var mu sync.Mutex
	heard, said := map[transport.HostID]Sighting{}, map[transport.HostID]time.Time{}
	stop, err := reports(ctx, func(r *host.Report) {
		mu.Lock()
		defer mu.Unlock()
		s, known := heard[r.Host]
		heard[r.Host] = s.next(r, time.Since(said[r.Host]), known)
		said[r.Host] = time.Now()
	})
	if err != nil {
		return err
	}
	defer stop()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		mu.Lock()
		maps.DeleteFunc(heard, func(id transport.HostID, _ Sighting) bool { return time.Since(said[id]) > silentAfter })
		now := maps.Clone(heard)
		mu.Unlock()
		if err := take(now); err != nil {
			return err
		}
	}
}

const (
	followEvery = time.Second     // between two looks
	silentAfter = 4 * time.Second // reports come every second
)

// next returns what is known of a host after another report, which came so long after
// the one before: the speed is that between the two.
func (s Sighting) next(r *host.Report, after time.Duration, known bool) Sighting {
	if !known || r.Time < s.Last.Time {
		return Sighting{First: r, Last: r}
	}
	return Sighting{First: s.Last, Last: r, Between: after}
}

// Attached turns what the hosts of a deployment say into frames: boxes are drawn, and
// who hears whom. It commands nothing.
type Attached struct {
	run   string
	hosts []transport.HostID
	names []string
	links [][2]int32
	began time.Time
	was   map[transport.HostID]facts
	last  map[transport.HostID]time.Time // when a host was heard last
	seen  bool
}

// facts are what is told of a host when it changes.
type facts struct {
	heard      bool
	problems   []string
	quarantine string // hosts that it does not listen to
	broken     string // sensors
	closed     int    // gates
}

// Attach returns the deployment of a run with hosts as they were found, which hear each
// other as the keys say, by pairs of hosts.
func Attach(run string, found []Standing, links [][2]transport.HostID) *Attached {
	a := &Attached{run: run, began: time.Now(), was: map[transport.HostID]facts{}, last: map[transport.HostID]time.Time{}}
	a.draw(found, links)
	for _, s := range found {
		if s.Heard {
			a.last[s.Host] = a.began
		}
	}
	return a
}

// draw takes hosts and links as they are known now.
func (a *Attached) draw(found []Standing, links [][2]transport.HostID) {
	a.hosts, a.names, a.links = nil, nil, nil
	for _, s := range found {
		name := fmt.Sprintf("host %d", s.Host)
		if s.Nodes != "" {
			name += ", with nodes " + s.Nodes
		}
		a.hosts, a.names = append(a.hosts, s.Host), append(a.names, name)
	}
	for _, l := range links {
		from, ok1 := slices.BinarySearch(a.hosts, l[0])
		to, ok2 := slices.BinarySearch(a.hosts, l[1])
		if ok1 && ok2 && from < to {
			a.links = append(a.links, [2]int32{int32(from), int32(to)})
		}
	}
}

// Grow says whether hosts are heard, or known to others, that are not drawn: they joined.
// From then on they are, with links as the keys are now, and Scene is another.
func (a *Attached) Grow(heard map[transport.HostID]Sighting, links func() [][2]transport.HostID) bool {
	list := Standings(a.run, a.hosts, heard)
	if len(list) == len(a.hosts) {
		return false
	}
	a.draw(list, links())
	return true
}

// Scene returns what the deployment shows.
func (a *Attached) Scene() live.Scene {
	s := live.Scene{
		Title: "Deployment " + a.run, Task: "deployment", Time: "s", Layout: live.LayoutForce, Down: "not heard",
		About: aboutDeployment,
		Nodes: a.names, Edges: a.links, Learners: []string{"frozen", "agents"}, Looks: []int{live.LookFrozen, live.LookLearning},
		Quantities: []live.Quantity{
			{Name: "steps behind the fastest", Learner: -1, Good: "low"},
			{Name: "nodes that answer with what they learned", Learner: learnerAgents, Unit: "%", High: 100},
			{Name: "cost, share of that as trained", Learner: learnerAgents, Unit: "%", Good: "low"},
			{Name: "frames and rows refused", Learner: -1, Good: "low"},
			{Name: "hosts that do not listen to it", Learner: -1, Good: "low"},
		},
		Counters: []live.Counter{
			{Name: "hosts heard"},
			{Name: "hosts that are not well"},
			{Name: "step"},
			{Name: "in quarantine"},
			{Name: "sensors not believed"},
		},
	}
	const cost, share = "cost of the answers, latest steps, mean of all hosts", "answers whose set or interval held the truth"
	s.Curves = []live.Curve{
		{
			Name: "frozen", Chart: cost, Learner: learnerFrozen,
			Note:  "How wrong the answers of the boxes are, beside the model as trained: less is better.",
			Blank: "No box has said yet what its answers cost.",
		},
		{Name: "agents", Chart: cost, Learner: learnerAgents},
		{
			Name: "steps per second", Chart: "steps per second", Learner: -1,
			Note: "How fast the boxes answer, the median of all.", Blank: "It takes two reports of a box to know.",
		},
		{
			Name: "nodes", Chart: "nodes that answer with what they learned", Learner: learnerAgents,
			Note:  "The others answer as trained, until what they learned has been better for a while.",
			Blank: "No box has said that its nodes have gates.",
		},
		{
			Name: "agents", Chart: share, Learner: learnerAgents, Unit: "%",
			Note:  "They should hold the truth as often as was asked for; one without ends holds everything.",
			Blank: "No box has said that its answers come with sets or intervals.",
		},
		{Name: "asked for", Chart: share, Learner: -1, Unit: "%"},
		{Name: "hosts", Chart: "hosts heard", Learner: -1, Note: "Boxes that reported within the last seconds."},
	}
	s.Hero = &live.Hero{Chart: cost, Learner: learnerAgents}
	return s
}

// Take returns the frame of what was heard, and what is new, in words. Where nobody was
// heard curves have a gap.
func (a *Attached) Take(heard map[transport.HostID]Sighting) (*live.Frame, []live.Words) {
	list := Standings(a.run, a.hosts, heard)
	t := math.Round(10*time.Since(a.began).Seconds()) / 10
	f := &live.Frame{Time: t, Down: []int32{}, Out: a.out(list), Said: map[int32]string{}}
	for range 5 {
		f.Values = append(f.Values, blank(len(a.hosts)))
	}
	sum, speed, step := sums{}, speedOf(heard), uint64(0)
	avoided := map[transport.HostID]int{}
	for _, s := range list {
		for _, q := range s.Quarantine {
			avoided[q.Host]++
		}
	}
	for _, s := range list {
		at, known := slices.BinarySearch(a.hosts, s.Host)
		if known && !s.Heard {
			f.Down, f.Said[int32(at)] = append(f.Down, int32(at)), a.silence(s.Host)
		}
		if !s.Heard {
			continue
		}
		a.last[s.Host] = time.Now()
		sum.add(&s)
		step = max(step, s.Time)
		if known {
			behind := math.Round(max(float64(s.Behind)-secondOf(speed), 0)) // reports are a second old
			for q, v := range []float64{behind, openShare(&s), costShare(&s), float64(s.Refused), float64(avoided[s.Host])} {
				f.Values[q][at] = float32(v)
			}
			if len(s.Problems) > 0 {
				f.Said[int32(at)] = brief("not well: " + strings.Join(s.Problems, "; "))
			}
		}
	}
	f.Curves = live.Numbers{
		sum.frozen / sum.judged, sum.learned / sum.judged, speed, openNodes(&sum),
		100 * sum.held / sum.covered, 100 * sum.asked / sum.covered, float64(len(heard)),
	}
	f.Counters = live.Numbers{float64(len(heard)), float64(Wrong(list)), float64(step), float64(len(avoided)), sum.broken}
	return f, a.news(t, list)
}

// brief cuts off what is longer than a few lines.
func brief(text string) string {
	const most = 300 // bytes
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// silence says since when nothing is heard of a host.
func (a *Attached) silence(id transport.HostID) string {
	last, ever := a.last[id]
	if !ever {
		return "not heard yet"
	}
	return "gone since " + last.Format(time.TimeOnly)
}

// speedOf returns how many steps a second the hosts make, the median of all; NaN if
// that is not known yet.
func speedOf(heard map[transport.HostID]Sighting) float64 {
	var all []float64
	for _, s := range heard {
		if s.Between > 0 {
			all = append(all, s.rate())
		}
	}
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// secondOf returns the steps of a second, 0 if the speed is not known.
func secondOf(speed float64) float64 {
	if math.IsNaN(speed) {
		return 0
	}
	return speed
}

// sums are over hosts that were heard.
type sums struct {
	learned, frozen, judged float64
	open, gated             float64 // nodes; hosts with gates
	held, asked, covered    float64
	broken                  float64
}

func (s *sums) add(h *Standing) {
	if l := h.Learning; l != nil && l.Steps > 0 {
		s.learned, s.frozen, s.judged = s.learned+l.Learned, s.frozen+l.Frozen, s.judged+1
	}
	if g := h.Gate; g != nil {
		s.open, s.gated = s.open+float64(g.Adapted), s.gated+1
	}
	if c := h.Coverage; c != nil && c.Judged > 0 {
		n := float64(c.Judged)
		s.held, s.asked, s.covered = s.held+c.Share*n, s.asked+c.Asked*n, s.covered+n
	}
	s.broken += float64(h.BrokenSensors)
}

// openNodes returns how many nodes answer with what they learned, NaN without gates.
func openNodes(s *sums) float64 {
	if s.gated == 0 {
		return math.NaN()
	}
	return s.open
}

func openShare(h *Standing) float64 {
	if h.Gate == nil || h.Gate.Adapted+h.Gate.Trained == 0 {
		return math.NaN()
	}
	return 100 * float64(h.Gate.Adapted) / float64(h.Gate.Adapted+h.Gate.Trained)
}

func costShare(h *Standing) float64 {
	if h.Learning == nil || !(h.Learning.Frozen > 0) {
		return math.NaN()
	}
	return 100 * h.Learning.Learned / h.Learning.Frozen
}

// out returns the links between hosts of which one is not heard, or is in the
// quarantine of the other.
func (a *Attached) out(list []Standing) []int32 {
	cut, down := map[[2]transport.HostID]bool{}, map[transport.HostID]bool{}
	for _, s := range list {
		down[s.Host] = !s.Heard
		for _, q := range s.Quarantine {
			cut[[2]transport.HostID{min(s.Host, q.Host), max(s.Host, q.Host)}] = true
		}
	}
	out := []int32{}
	for k, l := range a.links {
		x, y := a.hosts[l[0]], a.hosts[l[1]]
		if down[x] || down[y] || cut[[2]transport.HostID{x, y}] {
			out = append(out, int32(k))
		}
	}
	return out
}

// news says what changed since the last look. The first look tells what is wrong.
func (a *Attached) news(t float64, list []Standing) (words []live.Words) {
	say := func(mark, format string, args ...any) {
		words = append(words, live.Words{Time: t, Text: fmt.Sprintf(format, args...), Mark: mark})
	}
	for _, s := range list {
		now, was := factsOf(&s), a.was[s.Host]
		a.was[s.Host] = now
		switch {
		case !now.heard && (was.heard || !a.seen):
			if _, ever := a.last[s.Host]; ever {
				say(fmt.Sprintf("host %d gone", s.Host), "Host %d is %s: it is down, cut off or shut out.", s.Host, a.silence(s.Host))
				words[len(words)-1].Time = math.Round(10*max(0, a.last[s.Host].Sub(a.began).Seconds())) / 10 // and not when it was noticed
			} else {
				say("", "Host %d is not heard yet: it is not started, cut off, shut out, or of another run.", s.Host)
			}
			continue
		case !now.heard:
			continue
		case now.heard && !was.heard && a.seen:
			say(fmt.Sprintf("host %d heard", s.Host), "Host %d reports; it runs nodes %s.", s.Host, s.Nodes)
		}
		for _, p := range now.problems {
			if !slices.Contains(was.problems, p) {
				say("", "Host %d: %s.", s.Host, strings.TrimSuffix(p, "."))
			}
		}
		if now.quarantine != was.quarantine && now.quarantine != "" {
			say("quarantine", "Host %d does not use what it hears of host %s.", s.Host, now.quarantine)
		}
		if now.quarantine == "" && was.quarantine != "" {
			say("", "Host %d listens to host %s again.", s.Host, was.quarantine)
		}
		if now.broken != was.broken && now.broken != "" {
			say("sensor not believed", "Host %d does not believe %s.", s.Host, now.broken)
		}
		if now.closed != was.closed && a.seen {
			say("", "Host %d: %d of its nodes answer as trained.", s.Host, now.closed)
		}
	}
	a.seen = true
	return words
}

func factsOf(s *Standing) (f facts) {
	f.heard = s.Heard
	if !s.Heard {
		return f
	}
	for _, p := range s.Problems {
		if !strings.ContainsAny(p, "0123456789") { // numbers change all the time
			f.problems = append(f.problems, p)
		}
	}
	var shunned, broken []string
	for _, q := range s.Quarantine {
		shunned = append(shunned, fmt.Sprintf("%d (%s)", q.Host, q.Why))
	}
	for _, b := range s.Broken {
		name := b.Sensor
		if name == "" {
			name = fmt.Sprintf("the sensor of node %d", b.Node)
		}
		broken = append(broken, fmt.Sprintf("%s (%s)", name, b.Why))
	}
	f.quarantine, f.broken = strings.Join(shunned, ", "), strings.Join(broken, ", ")
	if s.Gate != nil {
		f.closed = s.Gate.Trained
	}
	return f
}

// HeardHosts returns who hears whom by a set of keys: pairs of hosts, the smaller first.
func HeardHosts(dir string) ([][2]transport.HostID, error) {
	p, err := keys.LoadPermissions(dir)
	if err != nil {
		return nil, err
	}
	pairs := map[[2]transport.HostID]bool{}
	for _, u := range p.Users {
		var id transport.HostID
		if n, _ := fmt.Sscanf(u.Name, "host-%d", &id); n != 1 {
			continue
		}
		for _, subject := range u.Subscribe {
			if from, err := natsbus.HostOf(subject); err == nil && from != id && subject == natsbus.FromSubject(p.Run, from) {
				pairs[[2]transport.HostID{min(id, from), max(id, from)}] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(pairs), func(a, b [2]transport.HostID) int { return slices.Compare(a[:], b[:]) }), nil
}
