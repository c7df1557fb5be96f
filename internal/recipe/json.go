package recipe

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/wdgnn/wdgnn/modelfile"
)

// readJSON reads what writeJSON wrote.
func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// writeJSON writes what stands beside a model, or is made of it, whole or not at
// all.
func writeJSON(path string, v any) error {
	return modelfile.WriteFile(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(v)
	})
}
