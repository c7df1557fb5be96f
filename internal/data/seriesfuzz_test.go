package data

import (
	"strings"
	"testing"
	"time"
)

// Whatever a text holds, it is a series that is consistent and not much larger
// than the text, or an error.
func FuzzSeriesText(f *testing.F) {
	for _, text := range []string{
		"time,a,b\n2026-03-02 00:00,1,2\n2026-03-02 00:15,3,\n",
		"time,sensor,value,more\n2026-03-02,b,1,2\n2026-03-05,a,2,NaN\n2026-03-02,b,3,2\n",
		"773869,767541\n64.375,67.625\n0,67\n",
		"time;a\n1772409600;1,5\n1772409900000;2\n",
		"time,a\n0001-01-01,1\n9999-12-31,2\n",
		"time,a\n-1e99,1\n99999999999999,2\n",
		"\ufeff# nothing\n\n,\"a\nb\"\n2026-03-02T00:00:00.5+14:00,1e-50\n",
	} {
		f.Add(text, int64(0), int64(0))
		f.Add(text, int64(time.Minute), int64(1772409601))
	}
	f.Fuzz(func(t *testing.T, text string, every, origin int64) {
		o := SeriesOptions{Every: max(0, time.Duration(every))}
		if origin != 0 {
			o.Origin = time.Unix(origin%1e11, 0)
		}
		r, err := newTextReader(strings.NewReader(text), int64(len(text)))
		if err != nil {
			return
		}
		b, err := readTable(r, o)
		if err != nil {
			return
		}
		s, err := b.series(o)
		if err != nil {
			return
		}
		if s.Nodes != len(s.Names) || s.Values.Rows != s.Steps*s.Nodes || s.Values.Cols != s.Features || repeated(s.Names) != "" {
			t.Errorf("got %d steps of %q in %d×%d values, want all to fit", s.Steps, s.Names, s.Values.Rows, s.Values.Cols)
		}
		if most := mostSparse*len(text) + freeCells; len(s.Values.Data) > most {
			t.Errorf("got %d values from %d bytes, want at most %d", len(s.Values.Data), len(text), most)
		}
	})
}

// Whatever a text holds, it is the links of the sensors, or an error.
func FuzzSensorLinks(f *testing.F) {
	for _, text := range []string{
		"src,dst\na,b\nc,b\n", "from,to,weight,time\na,b,0.5,0\nb,a,0.5,0\nd,a,2,2026-03-02 00:20\n", "0,1\n3,2\n",
		"1,0.5,0,0\n0.5,1,0,0\n0,0,1,2\n0,0,2,1\n", ",a,b,c,d\nd,0,0,3,0\nc,0,0,0,3\nb,1,0,0,0\na,0,1,0,0\n",
		"src,dst,time\na,b,1969-01-01\na,c,-1\n", "src;dst;w\na;b;1,5\n",
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, directed bool) {
		r, err := newTextReader(strings.NewReader(text), int64(len(text)))
		if err != nil {
			return
		}
		s := sensorsABCD()
		g, err := readSensorLinks(r, SensorGraph{Directed: directed}, s)
		if err != nil {
			return
		}
		for step := range s.Steps {
			if one := g.At(step); one.Nodes() != s.Nodes || one.Directed() != directed {
				t.Errorf("step %d: got %v, want one of %d nodes", step, one, s.Nodes)
			}
		}
	})
}
