package train

// carried says which target rows carry a loss, so that the loss of a batch is
// one mean over those of its rows, however passes cut it:
//
//	J = (1/R) Σ_i J_i        over the R rows of the batch that carry a loss
//
// The loss of a pass is a mean over its own rows that do; they are its share of
// the R.
type carried struct {
	carries func(row int) bool // nil if every row does
	known   []int              // rows of each sample that carry a loss; nil if all have the same
	same    int                // that number then
	each    float64            // target rows of a sample, on average
}

// rowwise is an objective some of whose rows may carry no loss.
type rowwise interface {
	carries(row int) bool
}

// newCarried looks at the target rows of samples, which follow each other; rows
// returns how many sample s has.
func newCarried(o Objective, samples int, rows func(s int) int) carried {
	var (
		c                   = carried{known: make([]int, samples)}
		mask, masked        = o.(rowwise)
		row, all, different = 0, 0, false
	)
	for s := range samples {
		for range rows(s) {
			if !masked || mask.carries(row) {
				c.known[s]++
			}
			row++
		}
		all += c.known[s]
		different = different || c.known[s] != c.known[0]
	}
	if all < row {
		c.carries = mask.carries
	}
	c.each = float64(row) / float64(samples)
	if !different {
		c.same, c.known = c.known[0], nil
	}
	return c
}

// share fills in what p counts for in a batch of the given samples. Rows of p
// are there already. Without a mask, and with samples of one size, shares are
// those of the samples, to the last bit: a quotient does not depend on a common
// factor.
func (c *carried) share(p *Pass, samples []int) {
	batch := c.same * len(samples)
	if c.known != nil {
		batch = 0
		for _, s := range samples {
			batch += c.known[s]
		}
	}
	own := len(p.Rows)
	if c.carries != nil {
		own = 0
		for _, r := range p.Rows {
			if c.carries(r) {
				own++
			}
		}
	}
	p.Share = float64(own) / float64(max(batch, 1))
	p.Weight = float64(batch) / c.each
}
