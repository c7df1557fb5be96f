package box

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// mostBytes bounds a configuration file.
const mostBytes = 64 << 20

// Load reads and validates a configuration file. Keys that do not exist are
// errors.
func Load(path string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostBytes {
		return nil, fmt.Errorf("%s: more than %d bytes", path, mostBytes)
	}
	c, err := parse(text)
	if err == nil {
		c.dir = filepath.Dir(path)
		err = c.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// parse reads a configuration.
func parse(text []byte) (*Config, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the file is empty; wdgnn agent -h shows an example")
		}
		return nil, err
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document, want one")
	}
	if root := doc.Content[0]; root.Kind != yaml.MappingNode {
		return nil, errors.New("want keys and values, such as run: demo")
	}
	c := new(Config)
	if err := errors.Join(unknownKeys(doc.Content[0], reflect.TypeOf(c).Elem(), "")...); err != nil {
		return nil, err
	}
	if err := errors.Join(cutNumbers(doc.Content[0], reflect.TypeOf(c).Elem(), "")...); err != nil {
		return nil, err
	}
	if err := doc.Decode(c); err != nil {
		return nil, plain(err)
	}
	return c, nil
}

// plain turns the decoder's complaints into errors of one line each.
func plain(err error) error {
	var bad *yaml.TypeError
	if !errors.As(err, &bad) {
		return err
	}
	var errs []error
	for _, text := range bad.Errors {
		text = strings.ReplaceAll(text, "into time.Duration", "as a duration; want one such as 200ms")
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}

// unknownKeys complains about keys of n that type t does not have.
func unknownKeys(n *yaml.Node, t reflect.Type, prefix string) (errs []error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			errs = append(errs, unknownKeys(item, t.Elem(), prefix)...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for k := 1; k < len(n.Content); k += 2 {
			errs = append(errs, unknownKeys(n.Content[k], t.Elem(), prefix+n.Content[k-1].Value+".")...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		known := keysOf(t)
		for k := 0; k+1 < len(n.Content); k += 2 {
			key := n.Content[k]
			field, ok := known[key.Value]
			if !ok {
				errs = append(errs, fmt.Errorf("line %d: unknown key %q%s", key.Line, prefix+key.Value, hint(known, key.Value)))
				continue
			}
			errs = append(errs, unknownKeys(n.Content[k+1], field, prefix+key.Value+".")...)
		}
	}
	return errs
}

// keysOf returns the types behind the keys of a struct.
func keysOf(t reflect.Type) map[string]reflect.Type {
	keys := map[string]reflect.Type{}
	for f := range t.Fields() {
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		keys[name] = f.Type
	}
	return keys
}

// hint says which key may be meant by a wrong one: one with nearly the same
// letters, or all there are.
func hint(known map[string]reflect.Type, wrong string) string {
	var names []string
	best, most := "", 0.6
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if s := likeness(wrong, name); s > most {
			best, most = name, s
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return "; the keys here are " + strings.Join(names, ", ")
}

// likeness is the share of letters, with their neighbours, that two words have
// in common, 0 to 1.
func likeness(a, b string) float64 {
	pairs := func(s string) map[string]int {
		m := map[string]int{}
		last := '^'
		for _, r := range strings.ToLower(s) + "$" {
			if unicode.IsLetter(r) || r == '$' {
				m[string(last)+string(r)]++
				m[string(r)]++
				last = r
			}
		}
		return m
	}
	pa, pb := pairs(a), pairs(b)
	common, all := 0, 0
	for p, n := range pa {
		common += min(n, pb[p])
		all += n
	}
	for _, n := range pb {
		all += n
	}
	return 2 * float64(common) / float64(all)
}

// Abs returns a path of the configuration as seen from here; empty stays empty.
func (c *Config) Abs(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.dir, filepath.FromSlash(path))
}
