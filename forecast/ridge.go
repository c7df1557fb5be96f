package forecast

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// Ridge forecasts each sensor by itself, linearly in its lags, with weights of its own
// for each horizon: what a network of sensors must beat.
//
//	y_c = Σ_l w_cl x(t-l) + w_cp        l = 0 … p-1, normalised
type Ridge struct {
	Lags     int       // p, the newest of Spec.Lags
	Horizons int       // C
	Weights  []float64 // N×C×(p+1), the constant last

	pooled []float64 // C×(p+1), their mean over sensors, for newcomers
}

const (
	ridgePenalty = 1.0 // on the weights of lags, in normalised units
	ridgeLags    = 64  // at most, so that long windows cost no more than this squared
)

// NewRidge returns one with the given weights, N×C×(lags+1), which it shares.
func NewRidge(lags, horizons int, weights []float64) (*Ridge, error) {
	each := (lags + 1) * horizons
	if lags < 1 || horizons < 1 || len(weights) == 0 || len(weights)%each != 0 {
		return nil, fmt.Errorf("forecast: ridge: %d weights for %d lags and %d horizons", len(weights), lags, horizons)
	}
	r := &Ridge{Lags: lags, Horizons: horizons, Weights: weights, pooled: make([]float64, each)}
	n := len(weights) / each
	for k, w := range weights {
		if w-w != 0 {
			return nil, fmt.Errorf("forecast: ridge: a weight is %v", w)
		}
		r.pooled[k%each] += w / float64(n)
	}
	return r, nil
}

// Of returns the weights of node i, C×(p+1); those of a newcomer are the mean of all.
func (r *Ridge) Of(i int) []float64 {
	each := len(r.pooled)
	if i >= len(r.Weights)/each {
		return r.pooled
	}
	return r.Weights[i*each : (i+1)*each]
}

// Forecast returns the normalised forecast of node i at horizon c from its inputs, a
// row of Sensor.Read or Network.Read.
func (r *Ridge) Forecast(i, c int, row []float32) float32 {
	p := r.Lags
	w := r.Of(i)[c*(p+1) : (c+1)*(p+1)]
	y := w[p]
	for l, x := range row[:p] {
		y += float64(w[l] * float64(x))
	}
	return float32(y)
}

// FitRidge fits the weights of every sensor by least squares on the training part of a
// series; readings and links are those of Fit. Gaps in inputs are filled as Network
// does; missing targets count nothing. Step, which may be nil, is told before every
// sensor how many of all are done; its error ends the work.
func FitRidge(s *Spec, readings mat.Dense, links *mat.CSR, step func(done, all int) error) (*Ridge, error) {
	nodes, p := len(s.Sensors), min(s.Lags, ridgeLags)
	if readings.Rows%nodes != 0 || readings.Cols != 1+s.Extras {
		return nil, fmt.Errorf("forecast: ridge: readings are %d×%d for %d sensors", readings.Rows, readings.Cols, nodes)
	}
	steps := readings.Rows / nodes
	lags := replayLags(s, readings, links)
	q := (p + 1) * (p + 2) / 2 // of the lower triangle of the Gram matrix
	gram, moment, z := make([]float64, q), make([]float64, p+1), make([]float64, p+1)
	weights := make([]float64, 0, nodes*len(s.Horizons)*(p+1))
	for i := range nodes {
		if step != nil {
			if err := step(i, nodes); err != nil {
				return nil, err
			}
		}
		for _, h := range s.Horizons {
			clear(gram)
			clear(moment)
			for t := p - 1; t+h < steps; t++ {
				v := readings.Row((t+h)*nodes + i)[0]
				if !s.present(v) {
					continue
				}
				for l := range p { // the newest first
					z[l] = float64(lags.Row(i)[t-l])
				}
				z[p] = 1
				accumulate(gram, moment, z, float64(s.Norms[i].Normal(v)))
			}
			weights = append(weights, solve(gram, moment, ridgePenalty)...)
		}
	}
	return NewRidge(p, len(s.Horizons), weights)
}

// replayLags returns what the newest lag of every node is at every step, N×T.
func replayLags(s *Spec, readings mat.Dense, links *mat.CSR) mat.Dense {
	nodes := len(s.Sensors)
	if links == nil {
		links = &mat.CSR{Rows: nodes, Cols: nodes, RowPtr: make([]int, nodes+1)}
	}
	network, rows := NewNetwork(s, nodes), mat.NewDense(nodes, s.Inputs(), nil)
	lags := mat.NewDense(nodes, readings.Rows/nodes, nil)
	for t := range lags.Cols {
		network.Read(rows, uint64(t), readings.View(t*nodes, 0, nodes, readings.Cols), nil, links)
		for i := range nodes {
			lags.Row(i)[t] = rows.Row(i)[0]
		}
	}
	return lags
}

// accumulate adds z zᵀ, its lower triangle by rows, and z v.
func accumulate(gram, moment, z []float64, v float64) {
	k := 0
	for a, za := range z {
		moment[a] += float64(za * v)
		for _, zb := range z[:a+1] {
			gram[k] += float64(za * zb)
			k++
		}
	}
}

// solve returns w with (G + λI) w = m, where the last unknown, the constant, is
// penalised a hundredth as much. G is overwritten.
func solve(gram, moment []float64, penalty float64) []float64 {
	n := len(moment)
	at := func(a, b int) *float64 { return &gram[a*(a+1)/2+b] }
	for a := range n - 1 {
		*at(a, a) += penalty
	}
	*at(n-1, n-1) += penalty / 100
	w := append([]float64(nil), moment...)
	for a := range n { // G = L Lᵀ, L w' = m
		for b := range a + 1 {
			sum := *at(a, b)
			for k := range b {
				sum -= float64(*at(a, k) * *at(b, k))
			}
			if a == b {
				*at(a, a) = math.Sqrt(max(sum, 1e-12))
				continue
			}
			*at(a, b) = sum / *at(b, b)
		}
		for k := range a {
			w[a] -= float64(*at(a, k) * w[k])
		}
		w[a] /= *at(a, a)
	}
	for a := n - 1; a >= 0; a-- { // Lᵀ w = w'
		for k := a + 1; k < n; k++ {
			w[a] -= float64(*at(k, a) * w[k])
		}
		w[a] /= *at(a, a)
	}
	return w
}
