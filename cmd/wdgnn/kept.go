package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/pflag"
)

// One rule for what is there already: models, runs, flights, keys and exports are never
// written over. A command that would do so says it before it begins to work; another
// name helps, or --force. Runs can often be resumed instead, which the command says.
// Predictions and charts, which are made again in seconds, are replaced, whole or not
// at all.

// forced adds --force, which replaces what is there.
func forced(f *pflag.FlagSet, force *bool) {
	f.BoolVar(force, "force", false, "replace what is there already")
}

// tryFolder is what helps where nothing can be written.
const tryFolder = "another --out, a folder that you may write to"

// kept refuses to write over files. other is what to name instead, such as "another
// --out"; a file that replaces itself is for the caller to see.
func kept(force bool, other string, paths ...string) error {
	for _, path := range paths {
		switch _, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return helpful{err, other + ", where you may write"}
		case !force:
			return helpful{fmt.Errorf("%s exists already", path), other + ", or --force to replace it"}
		}
	}
	return nil
}
