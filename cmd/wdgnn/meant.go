package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wdgnn/wdgnn/internal/config"
)

// meant asks whether somebody meant a known word by a mistyped one; it is empty if
// none is near.
func meant(typed string, known []string) string {
	if word := config.Nearest(typed, known); word != "" {
		return fmt.Sprintf("; did you mean %s?", word)
	}
	return ""
}

// meantCommand is meant among the commands of a group.
func meantCommand(cmd *cobra.Command, typed string) string {
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	return meant(typed, known)
}

// flagError says what is wrong with a flag, and which one may have been meant.
func flagError(cmd *cobra.Command, err error) error {
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) && !strings.Contains(err.Error(), "shorthand") {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		err = fmt.Errorf("%w%s", err, meant("--"+unknown.GetSpecifiedName(), known))
	}
	return usageError{cmd.CommandPath(), err}
}
