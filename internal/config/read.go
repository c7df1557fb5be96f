package config

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wdgnn/wdgnn/internal/duration"
)

// largest is the largest configuration that is read, in bytes: the links of a
// box may be many.
const largest = 64 << 20

// Read reads a YAML file into a struct that holds the defaults; its keys are the
// yaml tags of the fields. A key that does not exist, one that comes twice, a
// number that would have to be cut and a value of another kind are errors. Every
// complaint names the file and the line.
func Read(path string, into any) error { return read(path, into, nil) }

func read(path string, into any, changes []Change) error {
	text, err := load(path)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	if err := decode(text, into, changes); err != nil {
		return InFile(path, err)
	}
	return nil
}

// Marshal returns the text that Read reads v from.
func Marshal(v any) ([]byte, error) { return yaml.Marshal(v) }

func load(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err == nil && len(text) > largest {
		err = fmt.Errorf("%s is larger than %d bytes, which is no configuration", path, largest)
	}
	return text, err
}

// InFile puts the name of a file before each complaint.
func InFile(path string, err error) error { return complaints{path, err} }

type complaints struct {
	path string
	err  error
}

func (c complaints) Error() string {
	lines := strings.Split(c.err.Error(), "\n")
	for i, l := range lines {
		lines[i] = c.path + ": " + l
	}
	return strings.Join(lines, "\n")
}

func (c complaints) Unwrap() error { return c.err }

// decode is Read without a file.
func decode(text []byte, into any, changes []Change) error {
	v := reflect.ValueOf(into).Elem()
	root, err := parseTree(text, v.Type())
	if err != nil {
		return err
	}
	apply(root, changes)
	r := reader{}
	r.fields(v, root, "")
	return errors.Join(r.errs...)
}

// indentTab is a tab where YAML, which takes none there, wants spaces.
var indentTab = regexp.MustCompile(`(?m)^[ -]*\t`)

// parseTree returns the one mapping that text holds, with values in the place of
// aliases. It is to be a struct of type t.
func parseTree(text []byte, t reflect.Type) (*yaml.Node, error) {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the configuration is empty")
	case err != nil:
		what := strings.TrimPrefix(err.Error(), "yaml: ")
		at := indentTab.FindIndex(text)
		if at != nil && (strings.HasSuffix(what, "cannot start any token") || strings.HasSuffix(what, "violates indentation")) {
			what = fmt.Sprintf("line %d: a tab begins it, want spaces", 1+bytes.Count(text[:at[0]], []byte("\n")))
		}
		return nil, errors.New(what)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document, want one")
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("want keys and values, such as %s: …", keyed(t)[0].key)
	}
	root := doc.Content[0]
	if doc.HeadComment != "" { // it would be lost with the document
		root.HeadComment = strings.TrimSpace(doc.HeadComment + "\n\n" + root.HeadComment)
	}
	return root, (&expander{}).expand(root)
}

// reader collects what is wrong with the form of a configuration.
type reader struct{ errs []error }

func (r *reader) complain(n *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...)))
}

// fields reads a mapping into a struct. Prefix is the key of the struct and a
// dot.
func (r *reader) fields(v reflect.Value, n *yaml.Node, prefix string) {
	if n.Kind != yaml.MappingNode {
		r.complain(n, "%s is %s, want keys and values", strings.TrimSuffix(prefix, "."), describe(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		field, ok := fieldByKey(v, key.Value)
		switch {
		case !ok:
			r.complain(key, "unknown key %q%s", prefix+key.Value, suggestion(v.Type(), key.Value))
		case seen[key.Value]:
			r.complain(key, "key %q for the second time", prefix+key.Value)
		default:
			r.value(field, value, prefix+key.Value)
		}
		seen[key.Value] = true
	}
}

// ownReader is a value that reads YAML by itself.
type ownReader interface {
	UnmarshalYAML(unmarshal func(any) error) error
}

// value reads what stands behind a key. Nothing leaves the default.
func (r *reader) value(v reflect.Value, n *yaml.Node, key string) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	_, isOwn := v.Addr().Interface().(ownReader)
	_, isTime := v.Addr().Interface().(*time.Time)
	span, isSpan := v.Addr().Interface().(*time.Duration)
	text, isText := v.Addr().Interface().(encoding.TextUnmarshaler)
	switch {
	case isOwn:
		if err := n.Decode(v.Addr().Interface()); err != nil {
			r.complain(n, "%s: %v", key, err)
		}
	case v.Kind() == reflect.Pointer:
		v.Set(fresh(v.Type().Elem()))
		r.value(v.Elem(), n, key)
	case v.Kind() == reflect.Interface:
		v.Set(fresh(reflect.TypeOf(linked[key]).Elem()))
		r.value(v.Elem().Elem(), n, key)
	case v.Kind() == reflect.Struct && !isTime && !(isText && n.Kind == yaml.ScalarNode):
		r.fields(v, n, key+".")
	case v.Kind() == reflect.Map:
		r.entries(v, n, key)
	case v.Kind() == reflect.Slice:
		r.items(v, n, key)
	case n.Kind != yaml.ScalarNode:
		r.complain(n, "%s is %s, want %s", key, describe(n), wanted(v.Type()))
	case isText && !isTime: // a time is more in YAML than in text
		if err := text.UnmarshalText([]byte(n.Value)); err != nil {
			_, what, _ := strings.Cut(err.Error(), ": ") // without the package
			r.complain(n, "%s: %s", key, what)
		}
	case isSpan && n.ShortTag() == "!!str": // a bare number has no unit
		d, err := duration.Parse(n.Value)
		if err != nil {
			r.complain(n, "%s is %s, want %s", key, describe(n), wanted(v.Type()))
		}
		*span = d
	default:
		if err := n.Decode(v.Addr().Interface()); err != nil || !keeps(n, v) {
			r.complain(n, "%s is %s, want %s", key, describe(n), wanted(v.Type()))
		}
	}
}

// items reads a list.
func (r *reader) items(v reflect.Value, n *yaml.Node, key string) {
	if n.Kind != yaml.SequenceNode {
		r.complain(n, "%s is %s, want a list", key, describe(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		v.Index(i).Set(fresh(v.Type().Elem()).Elem())
		r.value(v.Index(i), item, fmt.Sprintf("%s[%d]", key, i))
	}
}

// entries reads a mapping whose keys are values, such as numbers of hosts.
func (r *reader) entries(v reflect.Value, n *yaml.Node, key string) {
	if n.Kind != yaml.MappingNode {
		r.complain(n, "%s is %s, want keys and values", key, describe(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, item := fresh(v.Type().Key()).Elem(), fresh(v.Type().Elem()).Elem()
		was := len(r.errs)
		if r.value(k, n.Content[i], "a key of "+key); len(r.errs) > was {
			continue
		}
		if v.MapIndex(k).IsValid() {
			r.complain(n.Content[i], "key %q for the second time", fmt.Sprintf("%s.%v", key, k))
			continue
		}
		r.value(item, n.Content[i+1], fmt.Sprintf("%s.%v", key, k))
		v.SetMapIndex(k, item)
	}
}

// keeps says whether v still is what the scalar n says. The decoder takes
// numbers with a point or an exponent, and whole ones that are too large for
// any integer, through a float64: it cuts 1.5 to 1, and 2⁶⁴ wraps around.
func keeps(n *yaml.Node, v reflect.Value) bool {
	if n.ShortTag() != "!!float" {
		return true
	}
	var said float64
	if err := n.Decode(&said); err != nil {
		return false
	}
	const exact = 1 << 53 // up to here a float64 has every whole number
	switch {
	case v.CanInt():
		return math.Abs(said) <= exact && float64(v.Int()) == said
	case v.CanUint():
		return math.Abs(said) <= exact && float64(v.Uint()) == said
	}
	return true
}

// fresh returns a pointer to a value of type t with its defaults.
func fresh(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	setDefaults(v.Interface())
	return v
}

// describe shows what stands at a node, shortened.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a section"
	}
	text := []rune(n.Value)
	if len(text) > 40 {
		text = append(text[:40], '…')
	}
	return fmt.Sprintf("%q", string(text))
}

// wanted says what a value of type t looks like.
func wanted(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration such as 200ms or 7d"
	case t == reflect.TypeFor[time.Time]():
		return "a time such as 2030-01-02T15:04:05Z"
	}
	switch v := reflect.Zero(t); {
	case v.Kind() == reflect.Bool:
		return "true or false"
	case v.CanInt():
		return "a whole number"
	case v.CanUint():
		return map[int]string{32: "a whole number, 0 or more, below 2³²", 64: "a whole number, 0 or more, below 2⁶⁴"}[t.Bits()]
	case v.CanFloat():
		return "a number"
	}
	return "text"
}
