package host

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
)

// Numbers are those of one node in a line of the world. In JSON null stands for
// one that nobody knows, which is NaN here: a reading that is missing.
type Numbers []float32

// MarshalJSON writes [61.5,null].
func (n Numbers) MarshalJSON() ([]byte, error) {
	if !slices.ContainsFunc(n, unknown) {
		return json.Marshal([]float32(n))
	}
	list := make([]*float32, len(n))
	for k := range n {
		if !unknown(n[k]) {
			list[k] = &n[k]
		}
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Numbers) UnmarshalJSON(text []byte) error {
	if !bytes.Contains(text, []byte("null")) {
		return json.Unmarshal(text, (*[]float32)(n))
	}
	var list []*float32
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*n = nil
	if list == nil {
		return nil
	}
	*n = make(Numbers, len(list))
	for k, v := range list {
		(*n)[k] = float32(math.NaN())
		if v != nil {
			(*n)[k] = *v
		}
	}
	return nil
}

func unknown(v float32) bool { return v != v }
