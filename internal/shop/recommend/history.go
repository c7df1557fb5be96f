package recommend

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// told is a rating as it was told: all that the learner must hear to learn it again.
type told struct {
	user, movie int // ids
	rating      float64
	at          int64 // milliseconds since 1970
}

// history is everything that was told, in order.
type history []told

// told returns what a record was about.
func (r *record) told() told { return told{r.user, r.movie, r.rating, r.at} }

// MarshalJSON writes [[user, movie, rating, at], …].
func (h history) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, 40*len(h)+2), '[')
	for k, t := range h {
		if k > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(append(out, '['), int64(t.user), 10)
		out = strconv.AppendInt(append(out, ','), int64(t.movie), 10)
		out = strconv.AppendFloat(append(out, ','), t.rating, 'g', -1, 64)
		out = strconv.AppendInt(append(out, ','), t.at, 10)
		out = append(out, ']')
	}
	return append(out, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (h *history) UnmarshalJSON(text []byte) error {
	var list [][4]float64 // whole numbers up to 2⁵³ are exact
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	*h = make(history, len(list))
	for k, v := range list {
		(*h)[k] = told{int(v[0]), int(v[1]), v[2], int64(v[3])}
	}
	return nil
}
