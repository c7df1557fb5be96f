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

// flagError says what is wrong with a flag: which one may have been meant, what it wants.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &invalid):
		err = fmt.Errorf("--%s is %q, want %s", invalid.GetFlag().Name, invalid.GetValue(), wanted(invalid.GetFlag()))
	case errors.As(err, &missing):
		err = fmt.Errorf("--%s says nothing, want %s behind it", missing.GetFlag().Name, wanted(missing.GetFlag()))
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		err = fmt.Errorf("no flag is called --%s%s", unknown.GetSpecifiedName(), meant("--"+unknown.GetSpecifiedName(), known))
	case errors.As(err, &unknown):
		err = fmt.Errorf("no flag is called -%s", unknown.GetSpecifiedName())
	}
	return usageError{cmd.CommandPath(), err}
}

// wanted says in words what a flag takes.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number such as " + example(f, "10")
	case "uint", "uint64":
		return "a whole number, 0 or more"
	case "float64":
		return "a number such as " + example(f, "0.5")
	case "duration":
		return "a time with its unit, such as 500ms, 2s or 1m"
	case "intSlice", "float64Slice":
		return "numbers with commas between them, such as " + example(f, "1,2")
	case "bool":
		return "nothing behind it, or =true or =false"
	}
	if name, _ := pflag.UnquoteUsage(f); name != "string" && name != "strings" && name != "stringArray" {
		return "a " + name // named in the help
	}
	return "a word"
}

// example is the default of a flag if it shows what to write, else what usually does.
func example(f *pflag.Flag, usual string) string {
	if d := f.DefValue; d != "" && d != "0" && d != "-1" && !strings.ContainsAny(d, "[]") {
		return d
	}
	return usual
}
