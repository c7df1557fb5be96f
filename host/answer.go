package host

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/wdgnn/wdgnn/mat"
)

// AppendText appends the answer to text as JSON, as package json writes it. A host of
// many nodes says much at every step, in numbers that need not be looked up in a type
// and memory that need not be asked for again.
func (a *Answer) AppendText(text []byte) ([]byte, error) {
	text = append(slices.Grow(text, 64+40*len(a.Outputs)), `{"host":`...)
	text = strconv.AppendUint(text, uint64(a.Host), 10)
	text = append(text, `,"time":`...)
	text = strconv.AppendUint(text, a.Time, 10)
	text = append(text, `,"outputs":`...)
	if a.Outputs == nil {
		text = append(text, "null"...)
	} else {
		text = append(text, '[')
		for k := range a.Outputs {
			if k > 0 {
				text = append(text, ',')
			}
			var err error
			if text, err = a.Outputs[k].append(text); err != nil {
				return nil, err
			}
		}
		text = append(text, ']')
	}
	if a.Error == "" && a.At == "" && len(a.For) == 0 {
		return append(text, '}'), nil
	}
	rest, err := json.Marshal(struct {
		Error string   `json:"error,omitempty"`
		At    string   `json:"at,omitempty"`
		For   []string `json:"for,omitempty"`
	}{a.Error, a.At, a.For})
	if err != nil {
		return nil, err
	}
	return append(append(text, ','), rest[1:]...), nil
}

// append appends the output to text.
func (o *Output) append(text []byte) ([]byte, error) {
	if o.Sensor != "" || o.Age > 0 || o.Value == nil || len(o.Set) > 0 || len(o.Intervals) > 0 || !mat.Finite(o.Value...) {
		all, err := json.Marshal(o)
		return append(text, all...), err
	}
	text = strconv.AppendUint(append(text, `{"node":`...), uint64(o.Node), 10)
	text = append(text, `,"output":[`...)
	for c, v := range o.Value {
		if c > 0 {
			text = append(text, ',')
		}
		text = appendNumber(text, v)
	}
	return append(text, "]}"...), nil
}

// appendNumber appends a finite number in the fewest digits that read back as it,
// with an exponent where it is very small or very large.
func appendNumber(text []byte, v float32) []byte {
	form := byte('f')
	if size := math.Abs(float64(v)); size != 0 && (float32(size) < 1e-6 || float32(size) >= 1e21) {
		form = 'e'
	}
	text = strconv.AppendFloat(text, float64(v), form, -1, 32)
	if n := len(text); form == 'e' && text[n-4] == 'e' && text[n-3] == '-' && text[n-2] == '0' { // e-09
		text[n-2] = text[n-1]
		text = text[:n-1]
	}
	return text
}
