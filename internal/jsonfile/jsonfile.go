// Package jsonfile reads and writes files that hold one JSON value.
package jsonfile

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/wdgnn/wdgnn/modelfile"
)

// Read reads what Write wrote.
func Read(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Write writes a file whole or not at all, its lines indented; no indent means one
// line.
func Write(path string, v any, indent string) error {
	return modelfile.WriteFile(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", indent)
		return enc.Encode(v)
	})
}
