package config

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

// largest is the largest configuration that is read, in bytes.
const largest = 1 << 20

// Load reads and validates a file. Every complaint names the file, and those
// about its form the line.
func Load(path string) (*Config, error) {
	text, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	c, err := Parse(text)
	if err != nil {
		return nil, complaints{path, err}
	}
	c.dir = filepath.Dir(path)
	return c, nil
}

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

// complaints puts the name of the file before each complaint.
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

// Parse reads and validates the text of a configuration. Relative paths begin
// at the working directory.
func Parse(text []byte) (*Config, error) {
	root, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	c := Default()
	r := reader{}
	r.fields(reflect.ValueOf(&c).Elem(), root, "")
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &c, nil
}

// parseTree returns the one mapping that text holds.
func parseTree(text []byte) (*yaml.Node, error) {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the configuration is empty")
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document, want one")
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("want keys and values, such as seed: 7")
	}
	root := doc.Content[0]
	if doc.HeadComment != "" { // it would be lost with the document
		root.HeadComment = strings.TrimSpace(doc.HeadComment + "\n\n" + root.HeadComment)
	}
	return root, nil
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

// value reads what stands behind a key. Nothing leaves the default.
func (r *reader) value(v reflect.Value, n *yaml.Node, key string) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	_, isText := v.Addr().Interface().(encoding.TextUnmarshaler)
	switch {
	case n.Kind == yaml.AliasNode:
		r.complain(n, "%s is an alias; write the value out", key)
	case v.Kind() == reflect.Pointer:
		v.Set(fresh(v.Type().Elem()))
		r.value(v.Elem(), n, key)
	case v.Kind() == reflect.Struct:
		r.fields(v, n, key+".")
	case v.Kind() == reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			r.complain(n, "%s is %s, want a list", key, describe(n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, item := range n.Content {
			v.Index(i).Set(fresh(v.Type().Elem()).Elem())
			r.value(v.Index(i), item, fmt.Sprintf("%s[%d]", key, i))
		}
	case n.Kind != yaml.ScalarNode:
		r.complain(n, "%s is %s, want %s", key, describe(n), wanted(v.Type()))
	case isText:
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value)); err != nil {
			_, text, _ := strings.Cut(err.Error(), ": ") // without the package
			r.complain(n, "%s: %s", key, text)
		}
	default:
		if err := n.Decode(v.Addr().Interface()); err != nil || !keeps(n, v) {
			r.complain(n, "%s is %s, want %s", key, describe(n), wanted(v.Type()))
		}
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
	switch p := v.Interface().(type) {
	case *Data:
		*p = Data{Shift: graph.ShiftSpectral, Split: Split{Valid: 0.1, Test: 0.1}}
	case *Sourceloc:
		d := sourceloc.Default()
		*p = Sourceloc{
			Communities: d.Communities, Members: d.Members, Intra: d.Intra, Inter: d.Inter, MaxTime: d.MaxTime, Noise: d.Noise,
			TrainSamples: 10000, ValidSamples: 1000, TestSamples: 1000,
		}
	case *Gains:
		*p = Gains{Wide: 1, Deep: 1}
	case *Adam:
		*p = Adam{StepSize: 0.001, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	case *SGD:
		*p = SGD{StepSize: 0.01}
	case *Lipschitz:
		*p = Lipschitz{Low: -1, High: 1}
	case *Online:
		*p = Online{Out: "online", Mode: Distributed, Preset: "personal"}
	}
	return v
}

func freshOf[T any]() *T { return fresh(reflect.TypeFor[T]()).Interface().(*T) }

// keyOf returns the key of a field, "" if it has none.
func keyOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return key
}

func fieldByKey(v reflect.Value, key string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if k := keyOf(v.Type().Field(i)); k != "" && k == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
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

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number, 0 or more, below 2⁶⁴"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "text"
}
