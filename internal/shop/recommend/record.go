package recommend

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// record is a change in the journal: an accepted rating with all that is needed to
// have the learner that came out of it, to the same bits, without computing
// anything again; or a new item.
type record struct {
	kind        kind
	user, movie int // ids
	rating      float64
	at          int64  // when, milliseconds since 1970
	name        string // of a user or an item who is new, where ids are texts
	title       string // of a new item

	learned bool // the rest is there
	event   event
	weight  float32   // part of a step that it took
	mean    float64   // m + b of the prediction
	online  float32   // output of the learner before the step
	base    float32   // output of the frozen model
	z       []float32 // K+1 values
	params  []float32 // of the learner, after the step and the guard
}

// kind is what a record is about.
type kind uint8

const (
	kindRating kind = iota
	kindItem        // a new item
)

const (
	recordVersion = 3
	flagLearned   = 1
	flagTexts     = 2
)

// appendTo appends the bytes of r to dst: little-endian
//
//	version uint8, flags uint8, event uint8, kind uint8, user uint32, movie uint32, rating float64, at int64
//
// if there is a name or a title,
//
//	bytes of the name uint16, bytes of the title uint16, name, title
//
// and, if it was learned from,
//
//	weight float32, mean float64, online, base float32, K+1, params uint16, z, params float32
func (r *record) appendTo(dst []byte) []byte {
	le := binary.LittleEndian
	flags := byte(0)
	if r.learned {
		flags = flagLearned
	}
	if r.name != "" || r.title != "" {
		flags |= flagTexts
	}
	dst = append(dst, recordVersion, flags, byte(r.event), byte(r.kind))
	dst = le.AppendUint32(dst, uint32(r.user))
	dst = le.AppendUint32(dst, uint32(r.movie))
	dst = le.AppendUint64(dst, math.Float64bits(r.rating))
	dst = le.AppendUint64(dst, uint64(r.at))
	if flags&flagTexts != 0 {
		dst = le.AppendUint16(dst, uint16(len(r.name)))
		dst = le.AppendUint16(dst, uint16(len(r.title)))
		dst = append(append(dst, r.name...), r.title...)
	}
	if !r.learned {
		return dst
	}
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

// parseRecord is the inverse of appendTo.
func parseRecord(b []byte) (r record, err error) {
	le := binary.LittleEndian
	const head = 28
	if len(b) < head {
		return r, errShort
	}
	if b[0] != recordVersion {
		return r, fmt.Errorf("it has version %d, this program reads %d; try a newer wdgnn", b[0], recordVersion)
	}
	flags := b[1]
	r.learned, r.event, r.kind = flags&flagLearned != 0, event(b[2]), kind(b[3])
	if flags&^(flagLearned|flagTexts) != 0 || int(r.event) >= len(eventNames) || r.kind > kindItem {
		return r, fmt.Errorf("flags %d, event %d, kind %d are not known; try a newer wdgnn", flags, r.event, r.kind)
	}
	r.user, r.movie = int(le.Uint32(b[4:])), int(le.Uint32(b[8:]))
	r.rating, r.at = math.Float64frombits(le.Uint64(b[12:])), int64(le.Uint64(b[20:]))
	b = b[head:]
	if flags&flagTexts != 0 {
		if b, err = r.parseTexts(b); err != nil {
			return r, err
		}
	}
	if r.learned {
		return r, r.parseLearned(b)
	}
	if len(b) > 0 {
		return r, errors.New("it is too long")
	}
	return r, nil
}

func (r *record) parseTexts(b []byte) (rest []byte, err error) {
	if len(b) < 4 {
		return nil, errShort
	}
	name, title := int(binary.LittleEndian.Uint16(b)), int(binary.LittleEndian.Uint16(b[2:]))
	if b = b[4:]; len(b) < name+title || name+title == 0 {
		return nil, errShort
	}
	r.name, r.title = string(b[:name]), string(b[name:name+title])
	return b[name+title:], nil
}

func (r *record) parseLearned(b []byte) error {
	le := binary.LittleEndian
	const more = 24
	if len(b) < more {
		return errShort
	}
	r.weight, r.mean = math.Float32frombits(le.Uint32(b)), math.Float64frombits(le.Uint64(b[4:]))
	r.online, r.base = math.Float32frombits(le.Uint32(b[12:])), math.Float32frombits(le.Uint32(b[16:]))
	inputs, params := int(le.Uint16(b[20:])), int(le.Uint16(b[22:]))
	if b = b[more:]; len(b) != 4*(inputs+params) {
		return errShort
	}
	values := make([]float32, inputs+params)
	for k := range values {
		values[k] = math.Float32frombits(le.Uint32(b[4*k:]))
	}
	r.z, r.params = values[:inputs:inputs], values[inputs:]
	return nil
}
