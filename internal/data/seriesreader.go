package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// textReader reads a table line by line.
type textReader struct {
	*csv.Reader
	size    int64 // of the file
	decimal bool  // 3,5 means 3.5
	top     int   // line of the header
	header  []string
	first   []string // the line after the header
	line    int      // of first, then of the last line read
	clock   clock
	code    *float32
}

// openTable opens a text file and reads its first two lines. What it returns
// must be closed.
func openTable(path string) (*textReader, io.Closer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("it is not an ordinary file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	r, err := newTextReader(f, info.Size())
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return r, f, nil
}

// newTextReader finds out what separates columns, and reads two lines.
func newTextReader(f io.Reader, size int64) (*textReader, error) {
	b := bufio.NewReaderSize(f, 1<<16)
	start, err := b.Peek(1 << 15)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff")) {
		return nil, errors.New("it is text in UTF-16; save it as CSV in UTF-8")
	}
	if bytes.IndexByte(start, 0) >= 0 || bytes.HasPrefix(start, []byte("PK\x03\x04")) {
		return nil, errors.New("it is not a text; save the table as CSV, with commas between columns")
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(start, mark) { // spreadsheets begin files with it
		if _, err := b.Discard(len(mark)); err != nil {
			return nil, err
		}
		start = start[len(mark):]
	}
	r := &textReader{Reader: csv.NewReader(b), size: size}
	r.Comma = separator(start)
	r.decimal = r.Comma == ';'
	r.Comment, r.ReuseRecord, r.FieldsPerRecord = '#', true, -1
	if r.header, err = r.next(); err != nil {
		if err == io.EOF {
			return nil, errors.New("it is empty; want a line of names and then readings")
		}
		return nil, err
	}
	r.header, r.top = slices.Clone(r.header), r.line
	if r.first, err = r.next(); err != nil && err != io.EOF {
		return nil, err
	}
	r.first = slices.Clone(r.first)
	return r, nil
}

// separator returns what the first line that is not a comment has most of:
// commas, semicolons or tabs.
func separator(start []byte) rune {
	for len(start) > 0 {
		var line []byte
		line, start, _ = bytes.Cut(start, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		best, most := ',', 0
		for _, c := range ",;\t" {
			if n := bytes.Count(line, []byte(string(c))); n > most {
				best, most = c, n
			}
		}
		return best
	}
	return ','
}

// next reads a line, without spaces around its fields.
func (r *textReader) next() ([]string, error) {
	fields, err := r.Read()
	if err != nil {
		return nil, err
	}
	r.line, _ = r.FieldPos(0)
	for i, f := range fields {
		if !utf8.ValidString(f) {
			return nil, fmt.Errorf("line %d: %.40q is not UTF-8 text; save the file as UTF-8", r.line, f)
		}
		fields[i] = strings.TrimSpace(f)
	}
	return fields, nil
}

// each hands on the lines after the header.
func (r *textReader) each(do func(fields []string) error) error {
	if r.first == nil {
		return errors.New("it has a line of names and nothing after it")
	}
	for fields := r.first; ; {
		if len(fields) != len(r.header) {
			return fmt.Errorf("line %d: %s, but the first line has %d", r.line, counted(len(fields), "column"), len(r.header))
		}
		if err := do(fields); err != nil {
			return fmt.Errorf("line %d, %w", r.line, err)
		}
		var err error
		if fields, err = r.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// lines hands on all lines, or those after the first if that one has names.
func (r *textReader) lines(named bool, do func(fields []string) error) error {
	if !named {
		after := r.line
		r.line = r.top
		if err := do(r.header); err != nil {
			return fmt.Errorf("line %d, %w", r.top, err)
		}
		if r.line = after; r.first == nil {
			return nil
		}
	}
	return r.each(do)
}

// number reads a reading; NaN if there is none.
func (r *textReader) number(text string) (float32, error) {
	if text == "" {
		return float32(math.NaN()), nil
	}
	if c := text[0]; c > '9' || c == '#' {
		switch strings.ToLower(text) {
		case "nan", "na", "n/a", "#n/a", "null", "none":
			return float32(math.NaN()), nil
		}
	}
	if r.decimal && strings.Count(text, ",") == 1 && !strings.Contains(text, ".") {
		text = strings.Replace(text, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(text, 32)
	switch {
	case errors.Is(err, strconv.ErrRange) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%.40q is not a finite number that fits; leave the cell empty if there is no reading", text)
	case err != nil && slashed.MatchString(text):
		return 0, fmt.Errorf("%.40q looks like a date, and may be two; write 2026-03-31 15:04, and call the column time", text)
	case err != nil:
		return 0, fmt.Errorf("%.40q is not a number; leave units and text out, and the cell empty if there is no reading", text)
	}
	return float32(v), nil
}

// slashed matches dates of which nobody knows whether the day or the month is first.
var slashed = regexp.MustCompile(`^\d{1,2}[/-]\d{1,2}[/-]\d{2,4}\b`)

// reading is number for a value that may be the code of a missing one.
func (r *textReader) reading(text string) (float32, error) {
	v, err := r.number(text)
	if r.code != nil && v == *r.code {
		v = float32(math.NaN())
	}
	return v, err
}
