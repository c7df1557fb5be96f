package forecast

import "slices"

// For returns what a sensor remembers as another of the given Spec and norm can go on
// from it: readings are written in its units, the newest are kept, and where it looks
// further back the oldest stands for those before. The norm that it was written with
// is from.
func (m Memory) For(s *Spec, from, to *Norm) Memory {
	m.Lags, m.Extras = slices.Clone(m.Lags), slices.Clone(m.Extras)
	if to.Mean != from.Mean || to.Scale != from.Scale || to.Level != from.Level {
		move := func(v float32) float32 { return to.Normal(from.Units(v)) }
		for k, v := range m.Lags {
			m.Lags[k] = move(v)
		}
		m.Last = move(m.Last)
		reading := float64((m.Value+from.Level)*from.Scale) + from.Mean
		m.Value = (reading-to.Mean)/to.Scale - to.Level
		m.Rough *= from.Scale / to.Scale
	}
	for k := range m.Extras {
		if k < min(len(from.ExtraScale), len(to.ExtraScale)) {
			reading := float64(float64(m.Extras[k])*from.ExtraScale[k]) + from.ExtraMean[k]
			m.Extras[k] = float32((reading - to.ExtraMean[k]) / to.ExtraScale[k])
		}
	}
	m.Lags = m.Lags[:min(len(m.Lags), s.Lags)]
	for len(m.Lags) < s.Lags {
		last := float32(0)
		if len(m.Lags) > 0 {
			last = m.Lags[len(m.Lags)-1]
		}
		m.Lags = append(m.Lags, last)
	}
	if m.Norm != nil {
		m.Norm = to.clone()
	}
	return m
}
