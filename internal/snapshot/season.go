package snapshot

import (
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Names of the tensors that hold what the nodes of a forecaster remember, after a
// stream or after the replay that ends training, all of float64.
const (
	seasonStepsName  = "online.season.steps"  // updates so far, one number
	seasonLengthName = "online.season.length" // how many numbers each node has, 0 for one that has not joined
	seasonValuesName = "online.season.values" // all of them, one after the other; see rule.SeasonMemory.Numbers
)

// putSeason stores what forecasters remember.
func putSeason(file *modelfile.Model, s *online.Snapshot) {
	if len(s.Season) == 0 {
		return
	}
	var lengths, values []float64
	for i := range s.Season {
		numbers := s.Season[i].Numbers()
		lengths, values = append(lengths, float64(len(numbers))), append(values, numbers...)
	}
	for name, list := range map[string][]float64{
		seasonStepsName: {float64(s.Given)}, seasonLengthName: lengths, seasonValuesName: values,
	} {
		if len(list) > 0 {
			file.Precise[name] = modelfile.Float64s{Rows: 1, Cols: len(list), Data: list}
		}
	}
}

// season gives a snapshot what putSeason stored, and says whether there was anything.
// Unless it is alone, another learner has been at work since, and what that counted
// holds.
func (r *reader) season(s *online.Snapshot, alone bool) (found bool) {
	lengths := r.integers(seasonLengthName)
	if lengths == nil {
		return false
	}
	if steps := r.integers(seasonStepsName); len(steps) != 1 {
		r.complain("%s is not one number", seasonStepsName)
	} else if alone {
		s.Given = uint64(steps[0])
	}
	x, _ := r.file.Numbers(seasonValuesName)
	rest := x.Data
	s.Season = make([]rule.SeasonMemory, len(lengths))
	for i, n := range lengths {
		m, err := rule.SeasonOf(take(r, seasonValuesName, &rest, n))
		if err != nil {
			r.complain("%s, node %d: %v", seasonValuesName, i, err)
		}
		s.Season[i] = m
	}
	if r.err == nil && len(rest) > 0 {
		r.complain("%s holds more than %s says", seasonValuesName, seasonLengthName)
	}
	return true
}
