package config_test

import (
	"bytes"
	"encoding"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	. "github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/config/comments"
	"github.com/wdgnn/wdgnn/internal/shop/movierecipe"
	"github.com/wdgnn/wdgnn/loss"
)

var update = flag.Bool("update", false, "write doc/config.md again")

func init() { Link("movies", new(movierecipe.Keys)) }

const referencePage = "../../doc/config.md"

// doc/config.md lists every key with its meaning, default and an example, all
// of them taken from the types.
func TestReference(t *testing.T) {
	page := reference(t)
	if *update {
		if err := os.WriteFile(referencePage, page, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, page) {
		t.Errorf("doc/config.md is not what the types say\nTry: go generate ./internal/config")
	}
}

// The example of every key reads back.
func TestReferenceExamples(t *testing.T) {
	eachSection(reflect.TypeFor[Config](), "", func(_ string, typ reflect.Type) {
		for _, f := range Keyed(typ) {
			if section(f.Type) != nil {
				continue
			}
			if err := Decode([]byte(f.Key()+": "+f.Tag.Get("example")), Fresh(typ).Interface(), nil); err != nil {
				t.Errorf("%s.%s: example: %v", typ.Name(), f.Name, err)
			}
		}
	})
}

func reference(t *testing.T) []byte {
	docs, err := comments.Of(
		"config.go", "forecast.go", "online.go", "../../rule/settings.go", "../../rule/season.go",
		"../../gnn/config.go", "../../gnn/lipschitz.go", "../../optim/adam.go", "../../optim/sgd.go", "../../train/inputs.go",
		"../../train/outage.go", "../../scenario/sourceloc/sourceloc.go", "../shop/movierecipe/keys.go")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString(`# Configuration

<!-- Written by "go generate ./internal/config" from the types of that package; change their comments. -->

` + "`wdgnn train CONFIG.yaml`" + ` and ` + "`wdgnn online MODEL CONFIG.yaml`" + ` read this. ` +
		"`wdgnn init DIR`" + ` writes one to start from. Relative paths begin at the folder of the
file. A key that is not listed here is an error. Aliases (` + "`*name`" + `) and merges (` + "`<<`" + `) of YAML are what they stand for.
`)
	eachSection(reflect.TypeFor[Config](), "", func(path string, typ reflect.Type) {
		title := "Top level"
		if path != "" {
			title = "`" + path + "`"
		}
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		if section := reflect.TypeFor[Section](); typ.PkgPath() == section.PkgPath() || reflect.PointerTo(typ).Implements(section) {
			fmt.Fprintf(&b, "%s\n\n", docs[typ.String()])
		}
		b.WriteString("| key | meaning | default | example |\n| --- | --- | --- | --- |\n")
		value := Fresh(typ).Elem()
		if typ == reflect.TypeFor[Config]() {
			value = reflect.ValueOf(Defaults())
		} else if path == "train" {
			value = reflect.ValueOf(Defaults().Train)
		} else if path == "data.split" {
			value = reflect.ValueOf(Fresh(reflect.TypeFor[Data]()).Interface().(*Data).Split)
		} else if path == "forecast.split" {
			value = reflect.ValueOf(Fresh(reflect.TypeFor[Forecast]()).Interface().(*Forecast).Split)
		}
		for _, f := range Keyed(typ) {
			key := f.Key()
			doc := comments.Losses(docs[owner(typ, f.Index).String()+"."+f.Name], loss.Names(true))
			if doc == "" {
				t.Errorf("%s.%s: key %q has no comment", typ.Name(), f.Name, key)
			}
			if section(f.Type) != nil {
				fmt.Fprintf(&b, "| `%s` | %s | | [below](#%s) |\n", key, doc, anchor(join(path, key, f.Type)))
				continue
			}
			example := f.Tag.Get("example")
			if example == "" {
				t.Errorf("%s.%s: key %q has no example", typ.Name(), f.Name, key)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | `%s: %s` |\n", key, doc, defaultOf(value.FieldByIndex(f.Index), f.StructField), key, example)
		}
	})
	return b.Bytes()
}

// eachSection visits a struct type and those of its fields, outside first.
func eachSection(typ reflect.Type, path string, visit func(path string, typ reflect.Type)) {
	visit(path, typ)
	for _, f := range Keyed(typ) {
		if s := section(f.Type); s != nil {
			eachSection(s, join(path, f.Key(), f.Type), visit)
		}
	}
}

// owner returns the struct that a field at that index is written in.
func owner(t reflect.Type, index []int) reflect.Type {
	for _, i := range index[:len(index)-1] {
		t = t.Field(i).Type
	}
	return t
}

// section returns the struct type of a field that is a section, nil for one
// that holds a value.
func section(t reflect.Type) reflect.Type {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

func join(path, key string, t reflect.Type) string {
	if path != "" {
		key = path + "." + key
	}
	if t.Kind() == reflect.Slice {
		key += "[]"
	}
	return key
}

// anchor is how a heading is linked to.
func anchor(title string) string {
	return strings.NewReplacer(".", "", "[", "", "]", "").Replace(title)
}

func defaultOf(v reflect.Value, f reflect.StructField) string {
	if text := f.Tag.Get("default"); text != "" && v.IsZero() {
		return text
	}
	return fmt.Sprintf("`%v`", v.Interface())
}
