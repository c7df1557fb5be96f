package recommend

import (
	"cmp"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// Because says which of the user's ratings spoke for a prediction. Start, what the
// ratings add and Others sum up to the prediction before it is clipped to the scale,
// within the rounding of float32.
type Because struct {
	Start   float64 `json:"start"`   // the user's mean, the item's offset, and what the network says where all is average
	Ratings []Voice `json:"ratings"` // those that add or take most
	Others  float64 `json:"others"`  // what the other ratings add
}

// Voice is a rating that spoke.
type Voice struct {
	Movie  int     `json:"movie"`
	Title  string  `json:"title,omitempty"`
	Rating float64 `json:"rating"`
	Adds   float64 `json:"adds"`
}

// Explain fills in Because of predictions, with so many ratings at most.
//
// A rating is heard through x_i = r_i - b_i - m, what it is beyond its item and its
// user: z_k = Σ_i [Sᵏ]_ni x_i is their sum. The wide part, and what was learned, are
// linear in z: what they say is divided exactly. Of the deep part, with a_g = Σ_k z_k B_kg
// before the nonlinearity, every feature says σ(a_g + b_g) - σ(b_g), and each
// rating is given as much of that as it has of a_g. So with
//
//	h_k = α_W A_k R + α_D Σ_g B_kg ρ_g R_g + (x R)_k      ρ_g = (σ(a_g + b_g) - σ(b_g)) / a_g
//
// a rating adds x_i Σ_k [Sᵏ]_ni h_k. How the mean came about is not divided.
func (s *Service) Explain(out *Predictions, most int) {
	p, v := out.of, out.by
	f, every := s.look.with(p, v.newcomers), s.world.graph.features.With(v.newcomers.all())
	for k := range out.List {
		if n, known := s.world.locate(out.List[k].Movie, v.newcomers); known {
			out.List[k].Because = s.because(p, f, v, n, every.Row(int(n)), most)
		}
	}
}

// because explains the prediction of the item at position n, whose powers are given.
func (s *Service) because(p *profile, f *features, v *version, n int32, row []float64, most int) *Because {
	w, width := s.world, s.world.setting.Order+1
	taps, quiet := s.taps(f.row(n), v)
	mean := f.mean[n] - w.offsetOf(n, v.newcomers)
	out := &Because{Start: f.mean[n] + float64(w.unit*quiet), Ratings: []Voice{}}
	for k, i := range p.movie {
		if i == n {
			continue
		}
		voice := Voice{Rating: p.rating[k]}
		voice.Movie, voice.Title = w.idOf(i, v.newcomers)
		x := p.rating[k] - w.offsetOf(i, v.newcomers) - mean
		for j, h := range taps {
			voice.Adds += float64(float64(h*row[int(i)*width+j]) * x)
		}
		out.Ratings = append(out.Ratings, voice)
	}
	slices.SortStableFunc(out.Ratings, func(a, b Voice) int { return cmp.Compare(math.Abs(b.Adds), math.Abs(a.Adds)) })
	for _, quieter := range out.Ratings[min(most, len(out.Ratings)):] {
		out.Others += quieter.Adds
	}
	out.Ratings = out.Ratings[:min(most, len(out.Ratings))]
	return out
}

// taps returns h at z, and the output where z is 0.
func (s *Service) taps(z []float32, v *version) (h []float64, quiet float64) {
	net, in := s.model.network, make([]float32, 2*len(z))
	copy(in, z) // and a row of zeros
	y, tape := mat.NewDense(2, 1, nil), gnn.Tape{}
	net.Forward(y, &gnn.Input{Shifted: mat.NewDense(2, len(z), in)}, &tape)
	params, readout := &net.Params, net.Params.Readout.Weight
	wide, deep := 1.0, 1.0
	if g := params.Gain; len(g) > 0 {
		wide, deep = float64(g[gnn.GainWide]), float64(g[gnn.GainDeep])
	}
	h, quiet = make([]float64, len(z)), float64(y.At(1, 0))
	for k := range h {
		for g, a := range params.Wide.Taps[k].Row(0) {
			h[k] += float64(wide * float64(a) * float64(readout.At(g, 0)))
		}
	}
	if len(params.Deep) > 0 {
		spoken, layer := tape.Deep().Layers[0].Out, params.Deep[0]
		for g := range layer.Out() {
			sum := 0.0
			for k := range layer.Taps {
				sum += float64(float64(z[k]) * float64(layer.Taps[k].At(0, g)))
			}
			if sum == 0 {
				continue
			}
			slope := deep * (float64(spoken.At(0, g)) - float64(spoken.At(1, g))) / sum * float64(readout.At(g, 0))
			for k := range layer.Taps {
				h[k] += float64(slope * float64(layer.Taps[k].At(0, g)))
			}
		}
	}
	if v.serving {
		learned := make([]float64, s.basis.Len()) // one output: a number for each input, and the bias if it learns
		s.basis.Effect(learned, v.params)
		for k := range h {
			h[k] += learned[k]
		}
		if len(learned) > len(z) {
			quiet += learned[len(z)]
		}
	}
	return h, quiet
}
