package config

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// Relocate returns the configuration at path as it must read in the folder
// dir of a training run: relative paths of its files lead to the same files,
// and out is the folder itself; changes are in it. Comments are kept.
func Relocate(path, dir string, changes ...Change) ([]byte, error) {
	return relocate(path, dir, "", changes)
}

// RelocateOnline is Relocate for the folder of an online run, which is the out
// of the online section.
func RelocateOnline(path, dir string, changes ...Change) ([]byte, error) {
	return relocate(path, dir, "online", changes)
}

// relocate sets the out of the given section, "" for the top level.
func relocate(path, dir, section string, changes []Change) ([]byte, error) {
	text, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("copy configuration: %w", err)
	}
	root, err := parseTree(text, reflect.TypeFor[Config]())
	if err != nil {
		return nil, InFile(path, err)
	}
	apply(root, changes)
	move := func(p string) (string, error) {
		if filepath.IsAbs(p) {
			return p, nil
		}
		return relative(dir, filepath.Join(filepath.Dir(path), filepath.FromSlash(p)))
	}
	if err := movePaths(reflect.TypeFor[Config](), root, move); err != nil {
		return nil, fmt.Errorf("copy configuration: %w", err)
	}
	setOut(find(root, section))
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("copy configuration: %w", err)
	}
	return out.Bytes(), enc.Close()
}

// relative returns target as seen from the folder dir, or, where there is no
// way from one to the other, in full.
func relative(dir, target string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(target)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(from, to); err == nil {
		to = rel
	}
	return filepath.ToSlash(to), nil
}

// movePaths changes every path that the mapping n holds as a struct of type t.
func movePaths(t reflect.Type, n *yaml.Node, move func(string) (string, error)) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		value := n.Content[i+1]
		for _, field := range keyed(t) {
			if field.key != n.Content[i].Value {
				continue
			}
			if field.Type != reflect.TypeFor[Path]() {
				if err := movePaths(field.Type, value, move); err != nil {
					return err
				}
				continue
			}
			if value.Kind != yaml.ScalarNode || value.Value == "" || value.Tag == "!!null" {
				continue
			}
			moved, err := move(value.Value)
			if err != nil {
				return err
			}
			value.Value = moved
		}
	}
	return nil
}

// find returns the section of that name, or root itself.
func find(root *yaml.Node, section string) *yaml.Node {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == section && root.Content[i+1].Kind == yaml.MappingNode {
			return root.Content[i+1]
		}
	}
	return root
}

// setOut makes "." the output folder.
func setOut(root *yaml.Node) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "out" {
			out := root.Content[i+1]
			out.Value, out.Tag, out.Style = ".", "!!str", 0
			return
		}
	}
	root.Content = append(root.Content,
		&yaml.Node{Kind: yaml.ScalarNode, Value: "out"}, &yaml.Node{Kind: yaml.ScalarNode, Value: "."})
}
