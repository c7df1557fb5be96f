package modelfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxLine is the longest line of an edge list, in bytes.
const maxLine = 1 << 16

// columns says where a line of an edge list has what; -1 means nowhere.
type columns struct{ src, dst, weight, time, count int }

// columnNames are the names that a header may use.
var columnNames = map[string]string{
	"src": "src", "source": "src", "from": "src",
	"dst": "dst", "target": "dst", "to": "dst",
	"weight": "weight", "w": "weight",
	"time": "time", "t": "time", "step": "time",
}

// readText reads an edge list whose columns the separator parts; the separator
// " " stands for any number of spaces and tabs. The first line may name the
// columns. Empty lines and lines that begin with # are passed over.
func (l *links) readText(r io.Reader, separator string) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 4096), maxLine)
	var c *columns
	var fields [][]byte
	line := 0
	for s.Scan() {
		line++
		text := s.Bytes()
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff")) // spreadsheets begin files with it
		}
		trimmed := bytes.TrimSpace(text)
		if len(trimmed) == 0 || trimmed[0] == '#' {
			continue
		}
		fields = split(fields[:0], text, separator)
		if c == nil {
			var named bool
			var err error
			if c, named, err = findColumns(fields); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
			l.timed = c.time >= 0
			if named {
				continue
			}
		}
		if err := l.addLine(c, fields, line); err != nil {
			return err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d has more than %d bytes: is this a text of one edge a line?", line+1, maxLine)
	}
	if s.Err() != nil {
		return fmt.Errorf("line %d: %w", line+1, s.Err())
	}
	if c == nil {
		return errors.New("it has no edges and no columns; a graph without edges is the line src,dst alone")
	}
	return nil
}

// split appends the fields of a line to fields, without spaces and quotes
// around them.
func split(fields [][]byte, line []byte, separator string) [][]byte {
	if separator == " " {
		for f := range bytes.FieldsSeq(line) {
			fields = append(fields, f)
		}
		return fields
	}
	for more := true; more; {
		var f []byte
		f, line, more = bytes.Cut(line, []byte(separator))
		f = bytes.TrimSpace(f)
		if len(f) >= 2 && f[0] == '"' && f[len(f)-1] == '"' {
			f = f[1 : len(f)-1]
		}
		fields = append(fields, f)
	}
	return fields
}

// findColumns takes the columns from the first line: by name if it begins with
// a letter, otherwise by number, src, dst, weight, time.
func findColumns(fields [][]byte) (c *columns, named bool, err error) {
	if len(fields) < 2 {
		return nil, false, errors.New("one column, want at least src and dst; columns are separated by commas in a .csv, " +
			"tabs in a .tsv, spaces in a .txt file")
	}
	c = &columns{src: -1, dst: -1, weight: -1, time: -1, count: len(fields)}
	if first := fields[0]; len(first) == 0 || !isLetter(first[0]) {
		if len(fields) > 4 {
			return nil, false, fmt.Errorf("%d columns, want src,dst or src,dst,weight or src,dst,weight,time", len(fields))
		}
		c.src, c.dst = 0, 1
		if len(fields) > 2 {
			c.weight = 2
		}
		if len(fields) > 3 {
			c.time = 3
		}
		return c, false, nil
	}
	place := map[string]*int{"src": &c.src, "dst": &c.dst, "weight": &c.weight, "time": &c.time}
	for i, f := range fields {
		at := place[columnNames[strings.ToLower(string(f))]]
		if at == nil {
			return nil, false, fmt.Errorf("%.40q is neither a node nor the name of a column; want src, dst, weight or time", f)
		}
		if *at >= 0 {
			return nil, false, fmt.Errorf("columns %d and %d are both %s", *at+1, i+1, columnNames[strings.ToLower(string(f))])
		}
		*at = i
	}
	if c.src < 0 || c.dst < 0 {
		return nil, false, errors.New("the header needs the columns src and dst")
	}
	return c, true, nil
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// addLine adds the edge of one line.
func (l *links) addLine(c *columns, fields [][]byte, line int) error {
	complain := func(format string, args ...any) error {
		return fmt.Errorf("line %d: "+format, append([]any{line}, args...)...)
	}
	if len(fields) != c.count {
		return complain("%d columns, but %d in the first line", len(fields), c.count)
	}
	e := link{pos: line}
	var ok bool
	if e.from, ok = parseCount(fields[c.src]); !ok {
		return complain("src is %.40q; nodes are integers that count from 0", fields[c.src])
	}
	if e.to, ok = parseCount(fields[c.dst]); !ok {
		return complain("dst is %.40q; nodes are integers that count from 0", fields[c.dst])
	}
	weight := 1.0
	if c.weight >= 0 {
		var err error
		if weight, err = strconv.ParseFloat(string(fields[c.weight]), 64); err != nil && !errors.Is(err, strconv.ErrRange) {
			return complain("weight is %.40q; want a positive number", fields[c.weight])
		}
	}
	if c.time >= 0 {
		if e.step, ok = parseCount(fields[c.time]); !ok {
			return complain("time is %.40q; times are integers that count steps from 0", fields[c.time])
		}
	}
	return l.add(e, weight)
}

// parseCount reads an integer from 0 to 2³¹-2.
func parseCount(text []byte) (int32, bool) {
	if len(text) == 0 || len(text) > 10 {
		return 0, false
	}
	n := int64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return int32(n), n < 1<<31-1
}
