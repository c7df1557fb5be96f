package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggestion returns the known word that somebody may have meant by a mistyped one,
// as the end of a sentence, and nothing if none is near.
func suggestion(typed string, known []string) string {
	best, least := "", len(typed)/3+2 // so many letters must be right
	for _, word := range known {
		if d := edits(typed, word); d < least {
			best, least = word, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// edits returns how many letters must be inserted, removed, changed or swapped with
// the next to make b of a.
func edits(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 0
			if a[i-1] != b[j-1] {
				change = 1
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}

// suggestCommand is suggestion among the commands of a group.
func suggestCommand(cmd *cobra.Command, typed string) string {
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	return suggestion(typed, known)
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
		if s := suggestion("--"+unknown.GetSpecifiedName(), known); s != "" {
			err = fmt.Errorf("%w%s", err, s)
		}
	}
	return usageError{cmd.CommandPath(), err}
}
