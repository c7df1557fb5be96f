package snapshot

import (
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Names of the tensors that hold what is remembered of answers. Those that wait to
// be judged follow each other node by node, and of a node the oldest first.
const (
	givenName       = "online.given"        // answers of each node so far, one number
	gateName        = "online.gate"         // a row per node that is read: the numbers of gateRow
	waitLengthName  = "online.wait.length"  // answers that wait of each node that is read
	waitNumbersName = "online.wait.numbers" // a row per answer: time, open and risk
	waitInputName   = "online.wait.input"
	waitBaseName    = "online.wait.base"
	waitLearnedName = "online.wait.learned"
)

// gateRow returns the numbers of a gate.
func gateRow(s *rule.GateState) []float64 {
	return []float64{
		bit(s.Open), float64(s.Since), float64(s.Judged), s.Answered, s.Frozen, s.Usual, s.Most, s.Ahead, float64(s.Behind),
		s.Steepness, s.Curvature, bit(s.Blind), float64(s.Refused), float64(s.Anew),
	}
}

// gateNumbers is how many there are.
const gateNumbers = 14

func bit(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// gateOf is the inverse of gateRow.
func gateOf(v []float64) *rule.GateState {
	return &rule.GateState{
		Open: v[0] != 0, Since: uint64(v[1]), Judged: uint64(v[2]), Answered: v[3], Frozen: v[4], Usual: v[5], Most: v[6], Ahead: v[7],
		Behind: int(v[8]), Steepness: v[9], Curvature: v[10], Blind: v[11] != 0, Refused: uint64(v[12]), Anew: uint64(v[13]),
	}
}

// putAnswers stores what a snapshot holds of answers.
func putAnswers(file *modelfile.Model, s *online.Snapshot) {
	if len(s.Answers) == 0 {
		return
	}
	precise := func(name string, cols int, values []float64) {
		if len(values) > 0 {
			file.Precise[name] = modelfile.Float64s{Rows: len(values) / cols, Cols: cols, Data: values}
		}
	}
	var gates, lengths, numbers []float64
	var inputs, bases, learned []float32
	for _, a := range s.Answers {
		if a.Gate != nil {
			gates = append(gates, gateRow(a.Gate)...)
		}
		lengths = append(lengths, float64(len(a.Given)))
		for _, g := range a.Given {
			numbers = append(numbers, float64(g.Time), bit(g.Open), g.Risk)
			inputs, bases, learned = append(inputs, g.Inputs...), append(bases, g.Base...), append(learned, g.Learned...)
		}
	}
	putSure(file, s)
	precise(givenName, 1, []float64{float64(s.Given)})
	precise(gateName, gateNumbers, gates)
	precise(waitLengthName, len(lengths), lengths)
	precise(waitNumbersName, waitNumbers, numbers)
	for name, values := range map[string][]float32{waitInputName: inputs, waitBaseName: bases, waitLearnedName: learned} {
		if rows := len(numbers) / waitNumbers; rows > 0 {
			file.Extra[name] = mat.NewDense(rows, len(values)/rows, values)
		}
	}
}

const waitNumbers = 3

// answers gives a snapshot what putAnswers stored.
func (r *reader) answers(s *online.Snapshot) {
	given, lengths := r.integers(givenName), r.integers(waitLengthName)
	if len(given) != 1 || r.err != nil {
		return
	}
	s.Given, s.Answers = uint64(given[0]), make([]rule.AnswersMemory, len(lengths))
	gates, gated := r.file.Numbers(gateName)
	if gated && (gates.Cols != gateNumbers || gates.Rows != len(lengths)) {
		r.complain("%s is %d×%d, want %d×%d", gateName, gates.Rows, gates.Cols, len(lengths), gateNumbers)
		return
	}
	numbers, _ := r.file.Numbers(waitNumbersName)
	if len(numbers.Data) > 0 && numbers.Cols != waitNumbers {
		r.complain("%s has %d columns, want %d", waitNumbersName, numbers.Cols, waitNumbers)
		return
	}
	inputs, bases, learned := r.values(waitInputName), r.values(waitBaseName), r.values(waitLearnedName)
	rest := numbers.Data
	for k, n := range lengths {
		a := &s.Answers[k]
		if gated {
			a.Gate = gateOf(gates.Data[k*gateNumbers : (k+1)*gateNumbers])
		}
		for range n {
			v := take(r, waitNumbersName, &rest, waitNumbers)
			if r.err != nil {
				return
			}
			a.Given = append(a.Given, rule.Given{
				Time: uint64(v[0]), Open: v[1] != 0, Risk: v[2],
				Inputs: inputs.rows(r, 1), Base: bases.rows(r, 1), Learned: learned.rows(r, 1),
			})
		}
	}
	if r.err == nil && len(rest)+inputs.left()+bases.left()+learned.left() > 0 {
		r.complain("the tensors online.wait.… hold more than %s says", waitLengthName)
	}
	r.sure(s)
}
