package conformal

// Meter counts how sets or intervals turned out.
type Meter struct {
	Judged uint64 `json:"judged"` // answers whose truth became known
	Held   uint64 `json:"held"`   // those of them that held it

	// Sized of them have a size, Size in sum: how many classes were in a set, or
	// how wide an interval was. An interval of which nothing was known has none.
	Sized uint64  `json:"sized"`
	Size  float64 `json:"size"`
}

// count takes in one answer.
func (m *Meter) count(held, sized bool, size float64) {
	m.Judged++
	if held {
		m.Held++
	}
	if sized {
		m.Sized++
		m.Size += size
	}
}

// Add takes in what another meter counted.
func (m *Meter) Add(other Meter) {
	m.Judged += other.Judged
	m.Held += other.Held
	m.Sized += other.Sized
	m.Size += other.Size
}

// Since returns what was counted since the meter stood at an earlier one: all of it
// if it began anew after that.
func (m Meter) Since(earlier Meter) Meter {
	if m.Judged < earlier.Judged || m.Held < earlier.Held || m.Sized < earlier.Sized {
		return m
	}
	return Meter{m.Judged - earlier.Judged, m.Held - earlier.Held, m.Sized - earlier.Sized, m.Size - earlier.Size}
}

// Coverage returns the share of judged answers that held the truth, 0 if none was
// judged. Those that are unknown hold everything.
func (m *Meter) Coverage() float64 { return share(float64(m.Held), m.Judged) }

// Unknown returns how many of the judged answers had an interval without ends.
func (m *Meter) Unknown() uint64 { return m.Judged - m.Sized }

// MeanSize returns the mean number of classes in a set, or width of an interval, of
// those that are not unknown; 0 if there is none.
func (m *Meter) MeanSize() float64 { return share(m.Size, m.Sized) }

func share(part float64, of uint64) float64 {
	if of == 0 {
		return 0
	}
	return part / float64(of)
}
