package box

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/wdgnn/wdgnn/modelfile"
)

// Save writes c as a configuration file, whole or not at all.
func Save(path string, c *Config) error {
	text, err := yaml.Marshal(c)
	if err != nil {
		return fmt.Errorf("box: %w", err)
	}
	return modelfile.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Read reads a configuration file without asking whether a box could run with
// it: whoever makes keys has none yet.
func Read(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.dir = filepath.Dir(path)
	return c, nil
}
