package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A change holds whether its section is there, is not, has nothing in it or is merged; in
// the copy of the configuration too. What reads like nothing in YAML is a text here.
func TestChange(t *testing.T) {
	rest, _, _ := strings.Cut(small, "train:")
	for name, text := range map[string]string{
		"there":     rest + "train: {epochs: 5, adam: {step_size: 0.01}}\n",
		"not there": rest,
		"nothing":   rest + "train: # what there is to say\n",
		"null":      rest + "train: null\n",
		"merged":    rest + "train: {<<: {epochs: 5}, adam: {step_size: 0.01}}\n",
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		changes := []Change{{"train.epochs", "3"}, {"out", "null"}}
		c, err := Load(path, changes...)
		if err != nil || c.Train.Epochs != 3 || c.Out != "null" {
			t.Errorf("%s: got %+v (%v), want 3 epochs and the folder null", name, c, err)
		}
		copied, err := Relocate(path, t.TempDir(), changes...)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parse(copied); err != nil || again.Train.Epochs != 3 {
			t.Errorf("%s: got a copy %s (%v), want 3 epochs", name, copied, err)
		}
	}
}

// A text that is empty does not become the default.
func TestChangeToNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(small), 0o666); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path, Change{"out", ""}); err == nil {
		t.Errorf("got the folder %q, want an error", c.Out)
	}
}
