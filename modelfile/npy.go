package modelfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxNpyHeader is the largest header of an array, in bytes. That of an
// ordinary array has about a hundred.
const maxNpyHeader = 1 << 16

// npyHeader is what precedes the values of a .npy file.
type npyHeader struct {
	descr   string // element type, as in "<f4"
	kind    byte   // f, i, u, b; S, U for text
	width   int    // bytes per element
	order   binary.ByteOrder
	fortran bool
	shape   []int64
	count   int64 // elements
	length  int64 // bytes before the values
}

// size returns the size of a file with this header.
func (h *npyHeader) size() int64 { return h.length + h.count*int64(h.width) }

// readNpyHeader reads the header at the front of r and checks that a file of
// size bytes is just as long as it says.
func readNpyHeader(r io.Reader, size int64) (*npyHeader, error) {
	if size < 10 {
		return nil, fmt.Errorf("%d bytes are too few for a .npy array", size)
	}
	var start [12]byte
	if _, err := io.ReadFull(r, start[:10]); err != nil {
		return nil, noEOF(err)
	}
	if string(start[:6]) != "\x93NUMPY" {
		return nil, errors.New(`it does not begin with \x93NUMPY: not an array of NumPy; try numpy.save`)
	}
	length, at := int64(binary.LittleEndian.Uint16(start[8:])), int64(10)
	switch start[6] {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return nil, noEOF(err)
		}
		length, at = int64(binary.LittleEndian.Uint32(start[8:])), 12
	default:
		return nil, fmt.Errorf("version %d.%d of the .npy format is unknown; try numpy.save", start[6], start[7])
	}
	if length > size-at || length > maxNpyHeader {
		return nil, fmt.Errorf("it announces a header of %d bytes; the file has %d, and headers at most %d", length, size, maxNpyHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, noEOF(err)
	}
	h := &npyHeader{length: at + length}
	if err := h.parse(string(text)); err != nil {
		return nil, fmt.Errorf("header: %w", brief(err))
	}
	if h.count > (math.MaxInt64-h.length)/int64(h.width) || h.size() != size {
		return nil, fmt.Errorf("its header announces shape %s of %s, which %s; the file has %d bytes: it is cut off or damaged",
			tuple(h.shape), h.descr, h.sizeText(), size)
	}
	return h, nil
}

// sizeText says how large the file should be.
func (h *npyHeader) sizeText() string {
	if h.count > (math.MaxInt64-h.length)/int64(h.width) {
		return "no file can hold"
	}
	return fmt.Sprintf("makes a file of %d bytes", h.size())
}

// parse reads the dictionary, a Python literal such as
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (200, 50, 1), }
func (h *npyHeader) parse(text string) error {
	s := &literal{text: text}
	seen := make(map[string]bool)
	s.want('{')
	for s.err == nil && !s.next('}') {
		key := s.str()
		s.want(':')
		if s.err == nil && seen[key] {
			return fmt.Errorf("%q occurs twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			if s.next('[') {
				return errors.New("arrays of structures cannot be read; save one field at a time")
			}
			h.descr = s.str()
		case "fortran_order":
			h.fortran = s.boolean()
		case "shape":
			h.shape = s.tuple()
		default:
			s.fail("descr, fortran_order or shape")
		}
		if !s.next(',') && !s.peek('}') {
			s.fail("a comma or }")
		}
	}
	if s.err != nil {
		return s.err
	}
	if strings.TrimRight(s.text, " \n") != "" {
		return fmt.Errorf("%q follows the closing }", s.text)
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return fmt.Errorf("it has no %q", key)
		}
	}
	if err := h.parseType(); err != nil {
		return err
	}
	count, ok := product(h.shape)
	if !ok {
		return fmt.Errorf("no array has shape %s", tuple(h.shape))
	}
	h.count = count
	return nil
}

// parseType takes the element type apart.
func (h *npyHeader) parseType() error {
	unreadable := fmt.Errorf("values of type %q cannot be read; convert the array with .astype(numpy.float32)", h.descr)
	if len(h.descr) < 3 {
		return unreadable
	}
	switch h.descr[0] {
	case '<', '|', '=':
		h.order = binary.LittleEndian
	case '>':
		h.order = binary.BigEndian
	default:
		return unreadable
	}
	h.kind = h.descr[1]
	switch h.descr[1:] {
	case "f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1":
		h.width = int(h.descr[2] - '0')
	default: // text, as SciPy uses for the kind of a sparse matrix
		n, err := strconv.ParseUint(h.descr[2:], 10, 8)
		switch {
		case err != nil || n == 0:
			return unreadable
		case h.kind == 'S':
			h.width = int(n)
		case h.kind == 'U':
			h.width = 4 * int(n)
		default:
			return unreadable
		}
	}
	return nil
}

// tuple writes a shape as Python does.
func tuple(shape []int64) string {
	words := make([]string, len(shape))
	for i, n := range shape {
		words[i] = strconv.FormatInt(n, 10)
	}
	if len(words) == 1 {
		return "(" + words[0] + ",)"
	}
	return "(" + strings.Join(words, ", ") + ")"
}

// literal reads Python literals from the front of text. The first failure
// stays in err, and nothing is read after it.
type literal struct {
	text string
	err  error
}

func (s *literal) fail(want string) {
	if s.err == nil {
		s.err = fmt.Errorf("want %s at %.30q", want, s.text)
	}
}

// peek says whether c comes next.
func (s *literal) peek(c byte) bool {
	s.text = strings.TrimLeft(s.text, " \t\n")
	return s.err == nil && s.text != "" && s.text[0] == c
}

// next takes c if it comes next.
func (s *literal) next(c byte) bool {
	ok := s.peek(c)
	if ok {
		s.text = s.text[1:]
	}
	return ok
}

func (s *literal) want(c byte) {
	if !s.next(c) {
		s.fail(strconv.QuoteRune(rune(c)))
	}
}

// str reads a string without escapes, in either kind of quotes.
func (s *literal) str() string {
	for _, q := range []byte(`'"`) {
		if !s.next(q) {
			continue
		}
		v, rest, ok := strings.Cut(s.text, string(q))
		if !ok || strings.Contains(v, `\`) {
			s.fail("a string")
			return ""
		}
		s.text = rest
		return v
	}
	s.fail("a string")
	return ""
}

func (s *literal) boolean() bool {
	s.peek(0) // spaces
	rest, yes := strings.CutPrefix(s.text, "True")
	rest, no := strings.CutPrefix(rest, "False")
	if yes == no {
		s.fail("True or False")
	}
	if s.err == nil {
		s.text = rest
	}
	return yes
}

// tuple reads numbers in parentheses, at most 32 as in NumPy.
func (s *literal) tuple() []int64 {
	shape := []int64{}
	s.want('(')
	for s.err == nil && !s.next(')') {
		end := strings.IndexFunc(s.text, func(r rune) bool { return r != '-' && (r < '0' || r > '9') })
		n, err := strconv.ParseInt(s.text[:max(end, 0)], 10, 64)
		if err != nil || n < 0 || len(shape) == 32 {
			s.fail("a shape of at most 32 numbers, each 0 or more")
			return nil
		}
		shape = append(shape, n)
		s.text = strings.TrimPrefix(s.text[end:], "L") // Python 2 wrote 3L
		if !s.next(',') && !s.peek(')') {
			s.fail("a comma or )")
		}
	}
	return shape
}
