package config

import "github.com/wdgnn/wdgnn/scenario/flocking"

// scenario checks the settings of the scenario that c names.
func (k *checker) scenario(c *Config) {
	switch c.Scenario {
	case "sourceloc":
		k.sourceloc(c.Settings())
	case "flocking":
		k.shifted(c)
		k.flocking(c.Flights(), &c.Model)
	default:
		if linked[c.Scenario] != nil {
			k.shifted(c)
			k.errs = append(k.errs, c.Linked().Validate())
			return
		}
		k.complain("no scenario is called %q; this build has sourceloc, flocking and movies", c.Scenario)
	}
}

// Bounds that keep a slip of the pen from asking for all memory.
const (
	mostNodes  = 10_000
	mostValues = 1 << 30
)

func (k *checker) sourceloc(s Sourceloc) {
	k.take("sourceloc", "sourceloc", s.World().Validate())
	k.share("sourceloc.intra", s.Intra)
	k.share("sourceloc.inter", s.Inter)
	k.counts("sourceloc", "samples", s.TrainSamples, s.ValidSamples, s.TestSamples)
	n := max(s.Communities, 1) * max(s.Members, 1)
	k.check(s.Communities <= mostNodes && s.Members <= mostNodes && n <= mostNodes,
		"sourceloc: %d communities of %d members, want at most %d nodes", s.Communities, s.Members, mostNodes)
	for _, samples := range []int{s.TrainSamples, s.ValidSamples, s.TestSamples} {
		k.check(samples <= mostValues/max(n, 1), "sourceloc: %d samples of %d nodes, want at most %d numbers", samples, n, mostValues)
	}
}

// counts checks how many samples there are.
func (k *checker) counts(section, what string, train, valid, test int) {
	k.check(train >= 1, "%s.train_%s is %d, want at least 1", section, what, train)
	k.check(valid >= 0, "%s.valid_%s is %d, want 0 or more", section, what, valid)
	k.check(test >= 0, "%s.test_%s is %d, want 0 or more", section, what, test)
}

// shifted checks what does not fit a scenario whose inputs are shifted before
// training.
func (k *checker) shifted(c *Config) {
	layers, p, lost := len(c.Model.Deep), c.Train.OutageProb, c.Train.Outage
	k.check(layers <= 1, "model.deep has %d layers, want at most 1 for the scenario %s, as in the paper", layers, c.Scenario)
	k.check(p == 0, "train.outage_prob is %v, but the scenario %s loses no links at random; leave it out", p, c.Scenario)
	k.check(lost == nil, "train.outage, but the scenario %s loses no links at random; leave it out", c.Scenario)
}

func (k *checker) flocking(f Flocking, m *Model) {
	k.take("flocking", "flocking", f.World().Validate())
	k.counts("flocking", "flights", f.TrainFlights, f.ValidFlights, f.TestFlights)
	k.check(f.DaggerFlights >= 0, "flocking.dagger_flights is %d, want 0 or more", f.DaggerFlights)
	values := flocking.Features * float64(max(m.Order(), 0)+1) * float64(f.Robots) * (f.DurationSeconds / f.SampleSeconds)
	for _, flights := range []int{f.TrainFlights + f.DaggerFlights, f.ValidFlights, f.TestFlights} {
		all := float64(flights) * values
		k.check(!(all > mostValues), "flocking: %d flights of %d robots make %.3g numbers, want at most %d", flights, f.Robots, all, mostValues)
	}
}
