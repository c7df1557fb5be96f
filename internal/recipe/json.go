package recipe

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/wdgnn/wdgnn/modelfile"
)

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// WriteJSON writes what stands beside a model, or is made of it, whole or not at
// all.
func WriteJSON(path string, v any) error {
	return modelfile.WriteFile(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(v)
	})
}
