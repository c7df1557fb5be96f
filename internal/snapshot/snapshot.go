package snapshot

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Names of the tensors that hold what a learner remembers.
const (
	givenName  = "online.given"        // answers of each node so far, one number
	lengthName = "online.state.length" // of the State of each node, 0 for one that has not begun
	valuesName = "online.state.values" // all of them, one after the other
	delayName  = "online.delay."       // and l: the l-th delay line, one row
)

// Put stores what a learner remembers in a model file, to the last bit, in the place
// of what another did.
func Put(file *modelfile.Model, s online.Snapshot) {
	if file.Extra == nil {
		file.Extra = map[string]mat.Dense{}
	}
	if file.Precise == nil {
		file.Precise = map[string]modelfile.Float64s{}
	}
	precise := func(name string, list []float64) {
		if delete(file.Precise, name); len(list) > 0 {
			file.Precise[name] = modelfile.Float64s{Rows: 1, Cols: len(list), Data: list}
		}
	}
	lengths := make([]float64, len(s.Nodes))
	for i, state := range s.Nodes {
		lengths[i] = float64(len(state))
	}
	precise(givenName, []float64{float64(s.Given)})
	precise(lengthName, lengths)
	precise(valuesName, slices.Concat(s.Nodes...))
	for l, line := range s.Delay {
		if name := delayName + strconv.Itoa(l); len(line) > 0 {
			file.Extra[name] = mat.NewDense(1, len(line), line)
		} else {
			delete(file.Extra, name)
		}
	}
}

// Of returns what Put stored; false if there is nothing. What
// it returns holds together; whether it fits a learner, Restore says.
func Of(file *modelfile.Model) (s online.Snapshot, found bool, err error) {
	damaged := func(format string, args ...any) (online.Snapshot, bool, error) {
		return s, true, fmt.Errorf("the state of online learning in the model file is damaged: "+format, args...)
	}
	given, found := file.Numbers(givenName)
	if !found {
		return s, false, nil
	}
	if len(given.Data) != 1 || !whole(given.Data[0]) {
		return damaged("%s is not one whole number", givenName)
	}
	s.Given = uint64(given.Data[0])
	lengths, _ := file.Numbers(lengthName)
	values, _ := file.Numbers(valuesName)
	rest := values.Data
	for i, n := range lengths.Data {
		if !whole(n) || n > float64(len(rest)) {
			return damaged("%s says %v of node %d, and %s has %d more", lengthName, n, i, valuesName, len(rest))
		}
		s.Nodes = append(s.Nodes, append(rule.State(nil), rest[:int(n)]...))
		rest = rest[int(n):]
	}
	if len(rest) > 0 {
		return damaged("%s holds more than %s says", valuesName, lengthName)
	}
	layers := 0
	if file.Meta.Delayed {
		layers = len(delayLines(file.Network))
	}
	for l := range layers {
		x := file.Extra[delayName+strconv.Itoa(l)]
		if x.Rows > 1 {
			return damaged("%s%d has %d rows", delayName, l, x.Rows)
		}
		line := []float32(nil)
		if x.Rows == 1 {
			line = slices.Clone(x.Row(0))
		}
		s.Delay = append(s.Delay, line)
	}
	return s, true, nil
}

func whole(v float64) bool { return v >= 0 && v <= 1<<53 && v == float64(int64(v)) }
