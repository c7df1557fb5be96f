package modelfile

// Names of the tensors that hold a second moment, both of float64.
const (
	momentName      = "online.moment"       // Σ, (inputs+1)×(inputs+1)
	momentCountName = "online.moment.count" // observations, 1×1
)

// rowNormsName is the tensor of the largest norms of rows, 1×hops of float64.
const rowNormsName = "online.row_norms"

// SetMoment stores the second moment Σ of what the wide part read in training,
// and of how many observations it is the mean: what scales the prior of online
// learning. The model keeps mean.
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

// SetRowNorms stores the largest norm in training of every row that a node sends
// to its neighbours, by layer and hop; none stores nothing.
func (m *Model) SetRowNorms(norms []float64) {
	if len(norms) == 0 {
		return
	}
	if m.Precise == nil {
		m.Precise = map[string]Float64s{}
	}
	m.Precise[rowNormsName] = Float64s{Rows: 1, Cols: len(norms), Data: norms}
}

// RowNorms returns what SetRowNorms stored; false if the model has none. Whether
// there is one for every row is for the caller to check.
func (m *Model) RowNorms() (norms []float64, found bool) {
	x, found := m.Numbers(rowNormsName)
	return x.Data, found
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
