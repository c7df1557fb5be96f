package mqtt

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		text, filter string // of a template that is whole levels; "" if it is not
		wrong        string // part of the error; "" if there is none
	}{
		{"sensors/{name}/temperature", "sensors/+/temperature", ""},
		{"{name}", "+", ""},
		{"zigbee2mqtt/0x{name}", "", ""},
		{"sensors/temperature", "", "has no {name}"},
		{"", "", "has no {name}"},
		{"{name}/{name}", "", "once"},
		{"{name}/{unit}", "", "no other braces"},
		{"sensors/+/{name}", "", "leave + and # out"},
	} {
		template, err := ParseTemplate(c.text)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.wrong)
		}
		if err != nil {
			continue
		}
		if filter, ok := template.Filter(); ok != (c.filter != "") || ok && filter != c.filter {
			t.Errorf("%q: filter %q, %t, want %q", c.text, filter, ok, c.filter)
		}
		topic, err := template.Topic("north-1")
		if name, ok := template.Name(topic); err != nil || !ok || name != "north-1" {
			t.Errorf("%q: topic %q (%v) is of %q, want north-1", c.text, topic, err, name)
		}
		if _, err := template.Topic("a+b"); err == nil {
			t.Errorf("%q: a name with a wildcard is taken", c.text)
		}
	}
	template, _ := ParseTemplate("sensors/{name}/temperature")
	for _, topic := range []string{"sensors/north-1/humidity", "sensors//temperature", "sensors/temperature", "x/sensors/a/temperature"} {
		if name, ok := template.Name(topic); ok {
			t.Errorf("topic %q has the name %q, want none", topic, name)
		}
	}
}

// Payloads of real sensors, and what is wrong with others.
func TestRead(t *testing.T) {
	came := time.Date(2026, 3, 29, 23, 45, 1, 0, time.UTC)
	nan := float32(math.NaN())
	for _, c := range []struct {
		values   string // pointers, with spaces between
		at       string
		payload  string
		row      []float32
		when     time.Time // zero: when it came
		kind     error     // of the complaint; nil if there is none
		contains string
	}{
		{"", "", "21.5", []float32{21.5}, time.Time{}, nil, ""},
		{"", "", " -3\n", []float32{-3}, time.Time{}, nil, ""},
		{"", "", "1e400", nil, time.Time{}, ErrNumber, ""},
		{"", "", "nan", nil, time.Time{}, ErrNumber, "not finite"},
		{"", "", "1e39", nil, time.Time{}, ErrNumber, "not finite"}, // no float32
		{"", "", "unavailable", nil, time.Time{}, ErrNumber, `"unavailable"`},
		{"", "", "21,5", nil, time.Time{}, ErrNumber, "with a point"},
		{"", "", `{"temperature":21.5}`, nil, time.Time{}, ErrNumber, "world.values"},
		{"", "", "", nil, time.Time{}, ErrNumber, ""},
		{"/temperature", "", `{"temperature":21.5,"battery":97}`, []float32{21.5}, time.Time{}, nil, ""},
		{"/temperature", "", `{"temperature":"21.5"}`, []float32{21.5}, time.Time{}, nil, ""},
		{"/temperature", "", `{"temperature":null}`, []float32{nan}, time.Time{}, nil, ""},
		{"/temperature", "", `{"temperature":true}`, nil, time.Time{}, ErrNumber, "true"},
		{"/temperature", "", `{"humidity":50}`, nil, time.Time{}, ErrPointer, `no "temperature" in "{\"humidity\":50}"`},
		{"/temperature", "", `21.5`, nil, time.Time{}, ErrPointer, "looked for in 21.5"},
		{"/temperature", "", `{"temperature"`, nil, time.Time{}, ErrPointer, "no JSON"},
		{"/temperature", "", `{"temperature":21.5}}`, nil, time.Time{}, ErrPointer, "no JSON"},
		{"/a/1/b", "", `{"a":[{"b":1},{"b":2}]}`, []float32{2}, time.Time{}, nil, ""},
		{"/a/7/b", "", `{"a":[{"b":1},{"b":2}]}`, nil, time.Time{}, ErrPointer, "a list of 2"},
		{"/a~1b/~0", "", `{"a/b":{"~":4}}`, []float32{4}, time.Time{}, nil, ""},
		{"/t /h", "", `{"t":1,"h":2}`, []float32{1, 2}, time.Time{}, nil, ""},
		{"/t", "/time", `{"t":1,"time":"2026-03-29T23:30:00Z"}`, []float32{1}, came.Add(-15*time.Minute - time.Second), nil, ""},
		{"/t", "/time", `{"t":1,"time":1774827000}`, []float32{1}, time.Unix(1774827000, 0), nil, ""},
		{"/t", "/time", `{"t":1,"time":1774827000500}`, []float32{1}, time.UnixMilli(1774827000500), nil, ""},
		{"/t", "/time", `{"t":1,"time":"soon"}`, nil, time.Time{}, ErrTime, "soon"},
		{"/t", "/time", `{"t":1}`, nil, time.Time{}, ErrPointer, `no "time"`},
	} {
		f, err := NewFormat(strings.Fields(c.values), c.at, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Read([]byte(c.payload), came)
		if !errors.Is(err, c.kind) || c.kind != nil && !strings.Contains(err.Error(), c.contains) {
			t.Errorf("%q at %q: error %v, want %v with %q", c.payload, c.values, err, c.kind, c.contains)
		}
		if c.when.IsZero() {
			c.when = came
		}
		if err == nil && (!same(r.Row, c.row) || !r.At.Equal(c.when)) {
			t.Errorf("%q at %q: %v of %v, want %v of %v", c.payload, c.values, r.Row, r.At, c.row, c.when)
		}
	}
	for _, c := range [][2]string{{"temperature", ""}, {"", "/time"}, {"/t", "time"}} {
		if _, err := NewFormat(strings.Fields(c[0]), c[1], time.UTC); err == nil {
			t.Errorf("values %q and time %q are taken", c[0], c[1])
		}
	}
}

func same(a, b []float32) bool {
	for k := range a {
		if len(a) != len(b) || a[k] != b[k] && (a[k] == a[k] || b[k] == b[k]) {
			return false
		}
	}
	return len(a) == len(b)
}

// A payload is never more than a complaint, whatever it is.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"t":[1,{"a":"2"}],"time":3}`))
	f.Add([]byte(`-1e5`))
	plain, _ := NewFormat(nil, "", time.UTC)
	deep, _ := NewFormat([]string{"/t/1/a"}, "/time", time.UTC)
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, format := range []Format{plain, deep} {
			if r, err := format.Read(payload, time.Unix(0, 0)); err == nil && math.IsInf(float64(r.Row[0]), 0) {
				t.Errorf("%q: %v", payload, r.Row)
			}
		}
	})
}
