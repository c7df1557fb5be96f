package certify

import (
	"encoding/json"
	"fmt"
	"math"
)

// Number is a float64 that JSON can hold: null where it is not known, "inf"
// where it is infinite.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	switch v := float64(n); {
	case math.IsNaN(v):
		return []byte("null"), nil
	case math.IsInf(v, 0):
		return []byte(`"inf"`), nil
	default:
		return json.Marshal(v)
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "null":
		*n = Number(math.NaN())
		return nil
	case `"inf"`:
		*n = Number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// Text writes n with so many digits, – where it is not known.
func (n Number) Text(digits int) string {
	switch v := float64(n); {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 0):
		return "∞"
	default:
		return fmt.Sprintf("%.*g", digits, v)
	}
}
