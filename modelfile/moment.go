package modelfile

// Names of the tensors that hold a second moment, both of float64.
const (
	momentName      = "online.moment"       // Σ, (inputs+1)×(inputs+1)
	momentCountName = "online.moment.count" // observations, 1×1
)

// SetMoment stores the second moment Σ of what the wide part read in training,
// and of how many observations it is the mean: what whitened online learning
// needs. The model keeps mean.
func (m *Model) SetMoment(mean Float64s, count float64) {
	if m.Precise == nil {
		m.Precise = map[string]Float64s{}
	}
	m.Precise[momentName] = mean
	m.Precise[momentCountName] = Float64s{Rows: 1, Cols: 1, Data: []float64{count}}
}

// Moment returns what SetMoment stored; false if the model has none. Whether it
// is the moment of anything is for the caller to check.
func (m *Model) Moment() (mean Float64s, count float64, found bool) {
	if mean, found = m.Numbers(momentName); !found {
		return mean, 0, false
	}
	if c, ok := m.Numbers(momentCountName); ok && len(c.Data) > 0 {
		count = c.Data[0]
	}
	return mean, count, true
}

// Numbers returns a further tensor in float64, whichever type it is stored in;
// false if the model has none of that name.
func (m *Model) Numbers(name string) (Float64s, bool) {
	if x, ok := m.Precise[name]; ok {
		return x, true
	}
	d, ok := m.Extra[name]
	if !ok {
		return Float64s{}, false
	}
	x := Float64s{Rows: d.Rows, Cols: d.Cols}
	for i := range d.Rows {
		for _, v := range d.Row(i) {
			x.Data = append(x.Data, float64(v))
		}
	}
	return x, true
}
