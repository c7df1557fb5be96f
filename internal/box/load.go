package box

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
)

// Load reads and validates a configuration file. Keys that do not exist are
// errors.
func Load(path string) (*Config, error) { return LoadWith(path, nil) }

// LoadWith is Load for a program that has rules of its own, by name.
func LoadWith(path string, own map[string]rule.Rule) (*Config, error) {
	c, err := Read(path)
	if err != nil {
		return nil, err
	}
	c.rules = own
	if err := c.Validate(); err != nil {
		return nil, config.InFile(path, err)
	}
	return c, nil
}

// Read reads a configuration file without asking whether a box could run with
// it: whoever makes keys has none yet.
func Read(path string) (*Config, error) {
	c := &Config{dir: filepath.Dir(path)}
	if err := config.Read(path, c); err != nil {
		return nil, err
	}
	return c, nil
}

// Save writes c as a configuration file, whole or not at all.
func Save(path string, c *Config) error {
	text, err := config.Marshal(c)
	if err != nil {
		return fmt.Errorf("box: %w", err)
	}
	return modelfile.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// abs returns a path of the configuration as seen from here; empty stays empty.
func (c *Config) abs(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.dir, filepath.FromSlash(path))
}
