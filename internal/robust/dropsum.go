package robust

import (
	"math"
	"slices"
)

// sum turns the counts of n draws at a probability into bounds.
func (d *dropping) sum(c *dropCounts, at, n int) Drop {
	conf, share := d.config.Confidence, 0.0
	for _, v := range d.shares[at] {
		if v == v {
			share += v / float64(n)
		}
	}
	out := Drop{
		Of: d.config.Of, Probability: d.config.Probabilities[at], Draws: n, Planned: d.config.Draws, Confidence: conf,
		Share: share, Rare: 1 - math.Pow(1-conf, 1/float64(n)), Each: make([]Stay, len(d.start)),
	}
	out.Low = onAverage(out.Share, n, conf)
	together := 1 - (1-conf)/float64(len(d.start))
	vote := 1.0
	if d.q.Classify {
		vote = 1 - (1-conf)/float64(d.q.Network.Outputs())
	}
	memo := map[[3]int]float64{}
	atLeast := func(k, n, which int, confidence float64) float64 {
		key := [3]int{k, n, which}
		if _, known := memo[key]; !known {
			memo[key] = AtLeast(k, n, confidence)
		}
		return memo[key]
	}
	moves := make([]float64, len(d.start))
	for a := range d.start {
		of := n - c.absent[a%len(d.readers)]
		s := Stay{Of: of, Kept: of - c.changed[a], Move: c.move[a]}
		s.Low = atLeast(s.Kept, of, 0, conf)
		if s.Low > 0.5 {
			out.Held++
		}
		if atLeast(s.Kept, of, 1, together) > 0.5 {
			out.Together++
		}
		if d.q.Classify {
			s.Vote, s.Said = d.vote(c, a, of)
			if atLeast(s.Said, of, 2, vote) > 0.5 {
				out.Voted++
			}
		}
		moves[a], out.Each[a] = s.Move, s
	}
	slices.Sort(moves)
	out.Moves, out.Most = moves[len(moves)/2], moves[len(moves)-1]
	return out
}

// vote returns the class that answer a is most often, and how often, of so many
// draws: the class as it is unless another was said.
func (d *dropping) vote(c *dropCounts, a, of int) (class, said int) {
	classes := d.q.Network.Outputs()
	said = -1
	for k, v := range c.votes[a*classes : (a+1)*classes] {
		if k == d.start[a].Class {
			v += of
		}
		if v > said {
			class, said = k, v
		}
	}
	return class, said
}
