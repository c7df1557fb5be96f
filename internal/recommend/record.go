package recommend

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// record is an accepted rating in the journal: all that is needed to have the
// learner that came out of it, to the same bits, without computing anything
// again.
type record struct {
	user, movie int // ids
	rating      float64

	learned bool // the rest is there
	event   event
	at      int64     // when, milliseconds since 1970; 0 in records of version 1
	weight  float32   // part of a step that it took
	mean    float64   // m + b of the prediction
	online  float32   // output of the learner before the step
	base    float32   // output of the frozen model
	z       []float32 // K+1 values
	params  []float32 // of the learner, after the step and the guard
}

// Version 1 has neither at nor weight: every step was a whole one, and nobody's
// were counted.
const (
	recordVersion = 2
	flagLearned   = 1
)

// appendTo appends the bytes of r to dst: little-endian
//
//	version uint8, flags uint8, event uint8, 0, user uint32, movie uint32, rating float64
//
// and, if it was learned from,
//
//	at int64, weight float32, mean float64, online, base float32, K+1, params uint16, z, params float32
func (r *record) appendTo(dst []byte) []byte {
	le := binary.LittleEndian
	flags := byte(0)
	if r.learned {
		flags = flagLearned
	}
	dst = append(dst, recordVersion, flags, byte(r.event), 0)
	dst = le.AppendUint32(dst, uint32(r.user))
	dst = le.AppendUint32(dst, uint32(r.movie))
	dst = le.AppendUint64(dst, math.Float64bits(r.rating))
	if !r.learned {
		return dst
	}
	dst = le.AppendUint64(dst, uint64(r.at))
	dst = le.AppendUint32(dst, math.Float32bits(r.weight))
	dst = le.AppendUint64(dst, math.Float64bits(r.mean))
	dst = le.AppendUint32(dst, math.Float32bits(r.online))
	dst = le.AppendUint32(dst, math.Float32bits(r.base))
	dst = le.AppendUint16(dst, uint16(len(r.z)))
	dst = le.AppendUint16(dst, uint16(len(r.params)))
	for _, values := range [][]float32{r.z, r.params} {
		for _, v := range values {
			dst = le.AppendUint32(dst, math.Float32bits(v))
		}
	}
	return dst
}

var errShort = errors.New("it is too short")

// parseRecord is the inverse of appendTo. It reads version 1, too.
func parseRecord(b []byte) (r record, err error) {
	le := binary.LittleEndian
	const head, since2, more = 20, 12, 20
	if len(b) < head {
		return r, errShort
	}
	version := b[0]
	if version < 1 || version > recordVersion {
		return r, fmt.Errorf("it has version %d, this program reads 1 to %d; try a newer wdgnn", version, recordVersion)
	}
	if b[1]&^flagLearned != 0 || int(b[2]) >= len(eventNames) {
		return r, fmt.Errorf("flags %d, event %d are not known; try a newer wdgnn", b[1], b[2])
	}
	r.learned, r.event = b[1] == flagLearned, event(b[2])
	r.user, r.movie = int(le.Uint32(b[4:])), int(le.Uint32(b[8:]))
	r.rating = math.Float64frombits(le.Uint64(b[12:]))
	if b = b[head:]; !r.learned {
		if len(b) > 0 {
			return r, errors.New("it is too long")
		}
		return r, nil
	}
	r.weight = 1
	if version > 1 {
		if len(b) < since2 {
			return r, errShort
		}
		r.at, r.weight = int64(le.Uint64(b)), math.Float32frombits(le.Uint32(b[8:]))
		b = b[since2:]
	}
	if len(b) < more {
		return r, errShort
	}
	r.mean = math.Float64frombits(le.Uint64(b))
	r.online, r.base = math.Float32frombits(le.Uint32(b[8:])), math.Float32frombits(le.Uint32(b[12:]))
	inputs, params := int(le.Uint16(b[16:])), int(le.Uint16(b[18:]))
	if b = b[more:]; len(b) != 4*(inputs+params) {
		return r, errShort
	}
	values := make([]float32, inputs+params)
	for k := range values {
		values[k] = math.Float32frombits(le.Uint32(b[4*k:]))
	}
	r.z, r.params = values[:inputs:inputs], values[inputs:]
	return r, nil
}
