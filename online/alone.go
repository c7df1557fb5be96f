package online

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/rule"
)

// NewNode returns a node that begins with the taps of m and hears nobody: eq. (7) on
// rows that come one at a time, by [rule.Node.Learn], for those who have z and y† of a row
// themselves and need no network to compute them. A recommender's rows are the K+1 numbers
// of one user at one movie. The moment is [Config.Moment], nil if nobody knows it.
func NewNode(m *gnn.WideDeep, r rule.Config, moment *rule.SecondMoment) (*rule.Node, error) {
	return newNode(m, r, moment, 1)
}

// newNode is NewNode for so many rows a step.
func newNode(m *gnn.WideDeep, r rule.Config, moment *rule.SecondMoment, rows int) (*rule.Node, error) {
	f, err := NewBasis(m, r, moment)
	if err != nil {
		return nil, err
	}
	if r.Retrain == rule.RetrainHeard {
		return nil, errAloneHeard
	}
	return rule.NewNode(rule.NodeConfig{Basis: f, Config: &r, Rows: rows}), nil
}
