package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// IDs are those that are texts: "sku 17", "Zoë". Tables and models know the
// number of a name, which is its place in the order of bytes. They never change;
// a nil *IDs says that ids are the numbers themselves.
type IDs struct {
	list []string // ascending
}

// newIDs returns the names in a list, nil if all are whole numbers as programs
// write them: 0, 17, not 017.
func newIDs(texts []string) *IDs {
	list := slices.Clone(texts)
	slices.Sort(list)
	list = slices.Compact(list)
	if !slices.ContainsFunc(list, func(text string) bool { _, ok := number(text); return !ok }) {
		return nil
	}
	return &IDs{list}
}

// number returns the id that a text is, if it is one.
func number(text string) (int, bool) {
	v, err := strconv.ParseInt(text, 10, 64)
	return int(v), err == nil && v >= 0 && v <= movies.MaxID && strconv.FormatInt(v, 10) == text
}

// Len returns how many there are, 0 where ids are numbers.
func (n *IDs) Len() int {
	if n == nil {
		return 0
	}
	return len(n.list)
}

// Find returns the number of an id.
func (n *IDs) Find(text string) (id int, known bool) {
	if n == nil {
		return number(text)
	}
	return slices.BinarySearch(n.list, text)
}

// Of returns the id with the given number.
func (n *IDs) Of(id int) string {
	if n == nil {
		return strconv.Itoa(id)
	}
	return n.list[id]
}

// MaxID is the most bytes that an id may have.
const MaxID = 200

// CheckID reports why a text cannot be an id.
func CheckID(text string) error {
	switch {
	case text == "":
		return fmt.Errorf("an empty id")
	case len(text) > MaxID:
		return fmt.Errorf("an id of %d bytes, %.40q…; want at most %d", len(text), text, MaxID)
	case !utf8.ValidString(text):
		return fmt.Errorf("id %.40q is not UTF-8 text", text)
	case strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("id %.40q has control characters", text)
	case text == "." || text == "..":
		return fmt.Errorf("id %q cannot stand in an address, by which users are asked for and deleted", text)
	case strings.TrimSpace(text) != text:
		return fmt.Errorf("id %.40q begins or ends with a space", text)
	}
	return nil
}

// Fingerprint returns the SHA-256 of a shop's ratings: that of [Fingerprint], and
// where ids are texts that of the lines
//
//	fingerprint\n "name of user 0"\n … "name of item 0"\n …
func (s *Shop) Fingerprint() string {
	plain := Fingerprint(s.Ratings)
	if s.Users == nil && s.Items == nil {
		return plain
	}
	sum := sha256.New()
	fmt.Fprintln(sum, plain)
	for _, n := range []*IDs{s.Users, s.Items} {
		for id := range n.Len() {
			fmt.Fprintln(sum, strconv.Quote(n.Of(id)))
		}
		fmt.Fprintln(sum)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
