package mqtt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/internal/strictjson"
)

// Reading is what a sensor said: a row of numbers, NaN for one that it does not know, and
// when.
type Reading struct {
	At  time.Time
	Row []float32
}

// Format says where numbers and times stand in a payload.
type Format struct {
	values [][]string // pointers; none: the payload is one number
	time   []string   // nil: when the message came
	zone   *time.Location
}

// Why a payload cannot be read, for counters.
var (
	ErrNumber  = errors.New("no number")
	ErrPointer = errors.New("nothing there")
	ErrTime    = errors.New("no time")
)

// NewFormat returns a format with JSON pointers (RFC 6901) to the numbers of a reading and
// to its time. Without values a payload is a plain number; without time a reading is of when
// it came. Times without a zone are in the given one.
func NewFormat(values []string, at string, zone *time.Location) (Format, error) {
	f := Format{zone: zone}
	var wrong []error
	for _, v := range values {
		p, err := pointer(v)
		wrong = append(wrong, err)
		f.values = append(f.values, p)
	}
	if at != "" {
		p, err := pointer(at)
		if err == nil && len(values) == 0 {
			err = fmt.Errorf("time %q points into JSON, and the payload is a plain number; name values too, such as [/temperature]", at)
		}
		wrong = append(wrong, err)
		f.time = p
	}
	return f, errors.Join(wrong...)
}

// Width returns how many numbers a reading has.
func (f Format) Width() int { return max(len(f.values), 1) }

// Timed says whether readings say when they are of.
func (f Format) Timed() bool { return f.time != nil }

// pointer returns the tokens of a JSON pointer.
func pointer(text string) ([]string, error) {
	if !strings.HasPrefix(text, "/") {
		return nil, fmt.Errorf("%q is no JSON pointer; want such as /temperature, or /sensor/0/value", text)
	}
	tokens := strings.Split(text[1:], "/")
	for k := range tokens {
		tokens[k] = strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[k])
	}
	return tokens, nil
}

// Read reads a payload that came at a time.
func (f Format) Read(payload []byte, came time.Time) (Reading, error) {
	r := Reading{At: came, Row: make([]float32, f.Width())}
	if len(f.values) == 0 {
		v, err := parseNumber(string(bytes.TrimSpace(payload)))
		r.Row[0] = v
		return r, err
	}
	var document any
	if err := strictjson.Unmarshal(payload, &document); err != nil {
		return r, fmt.Errorf("%w: it is no JSON: %s", ErrPointer, seen(payload))
	}
	for k, tokens := range f.values {
		v, err := find(document, tokens)
		if err == nil {
			r.Row[k], err = number(v)
		}
		if err != nil {
			return r, fmt.Errorf("/%s: %w in %s", strings.Join(tokens, "/"), err, seen(payload))
		}
	}
	if f.time != nil {
		v, err := find(document, f.time)
		if err == nil {
			r.At, err = f.when(v)
		}
		if err != nil {
			return r, fmt.Errorf("/%s: %w in %s", strings.Join(f.time, "/"), err, seen(payload))
		}
	}
	return r, nil
}

// seen quotes the beginning of a payload.
func seen(payload []byte) string { return strconv.Quote(string(payload[:min(len(payload), 80)])) }

// find follows a pointer.
func find(v any, tokens []string) (any, error) {
	for _, token := range tokens {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[token]
			if !ok {
				return nil, fmt.Errorf("%w: no %q", ErrPointer, token)
			}
			v = next
		case []any:
			k, err := strconv.Atoi(token)
			if err != nil || k < 0 || k >= len(in) {
				return nil, fmt.Errorf("%w: no %q in a list of %d", ErrPointer, token, len(in))
			}
			v = in[k]
		default:
			return nil, fmt.Errorf("%w: %q is looked for in %v", ErrPointer, token, v)
		}
	}
	return v, nil
}

// number takes a JSON number, a text that is one, or null, which is a number that nobody knows.
func number(v any) (float32, error) {
	switch v := v.(type) {
	case nil:
		return float32(math.NaN()), nil
	case json.Number:
		return parseNumber(v.String())
	case string:
		return parseNumber(strings.TrimSpace(v))
	}
	return 0, fmt.Errorf("%w: %v", ErrNumber, v)
}

// parseNumber reads a finite number.
func parseNumber(text string) (float32, error) {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && strings.Count(text, ",") == 1:
		if _, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64); err == nil {
			return 0, fmt.Errorf("%w: %.40q has a comma; write it with a point", ErrNumber, text)
		}
		fallthrough
	case err != nil && strings.HasPrefix(text, "{"):
		return 0, fmt.Errorf("%w: it is JSON, %.80q; world.values says where numbers are in it, such as [/temperature]", ErrNumber, text)
	case err != nil:
		return 0, fmt.Errorf("%w: %.40q", ErrNumber, text)
	case math.IsNaN(v) || math.IsInf(float64(float32(v)), 0):
		return 0, fmt.Errorf("%w: %.40q is not finite", ErrNumber, text)
	}
	return float32(v), nil
}

// layouts are the ways to write a time.
var layouts = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04",
}

// milliseconds is from where on a number is no longer seconds since 1970: the year 5138.
const milliseconds = 1e11

// when takes a time as text, or seconds or milliseconds since 1970.
func (f Format) when(v any) (time.Time, error) {
	switch v := v.(type) {
	case json.Number:
		s, err := v.Float64()
		if err != nil || !(s > 0) {
			break
		}
		if s < milliseconds {
			s *= 1000
		}
		return time.UnixMilli(int64(s)), nil
	case string:
		for _, layout := range layouts {
			if at, err := time.ParseInLocation(layout, v, f.zone); err == nil {
				return at, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%w: %v; want such as 2026-03-29T23:45:00Z, or seconds or milliseconds since 1970", ErrTime, v)
}
