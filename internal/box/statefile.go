package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/modelfile"
)

// stateFile is a file of JSON in the folder of checkpoints. It says its version, none
// at first, and the run that it belongs to.
type stateFile struct {
	name    string
	version int    // that is written, and the latest that is read
	key     string // of the configuration that it is about
	instead string // of a file that cannot be used
}

// read reads the file into v, and says whether there is one.
func (f stateFile) read(c *Config, v any) (found bool, err error) {
	if c.State == "" {
		return false, nil
	}
	path := filepath.Join(c.abs(c.State), f.name)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var head struct {
		Version int    `json:"version"`
		Run     string `json:"run"`
	}
	if err == nil {
		err = json.Unmarshal(text, &head)
	}
	if head.Version > f.version {
		return false, fmt.Errorf("%s: %s is of version %d, this program reads up to %d: a newer one wrote it; update this box, or %s",
			f.key, path, head.Version, f.version, f.instead)
	}
	if err == nil && head.Run != c.Run {
		err = fmt.Errorf("it belongs to the run %q, this is %q", head.Run, c.Run)
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return false, f.unfit(c, err)
	}
	return true, nil
}

// unfit is an error of a file that cannot be used.
func (f stateFile) unfit(c *Config, err error) error {
	return fmt.Errorf("%s: %s: %w; %s", f.key, filepath.Join(c.abs(c.State), f.name), err, f.instead)
}

// write replaces what is on disk, whole or not at all.
func (f stateFile) write(c *Config, v any) error {
	return modelfile.WriteFile(filepath.Join(c.abs(c.State), f.name), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(v)
	})
}
