package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wdgnn/wdgnn/internal/config"
)

// renamed lets flags be given by names that they had before, too; -h shows those of
// today.
func renamed(f *pflag.FlagSet, names map[string]string) {
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if today, ok := names[name]; ok {
			name = today
		}
		return pflag.NormalizedName(name)
	})
}

// words completes a flag in a shell by words that it takes.
func words(cmd *cobra.Command, flag string, list ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
}

// checkCommon refuses values that make no sense of flags which many commands have.
func checkCommon(cmd *cobra.Command) error {
	f := cmd.Flags()
	if n, err := f.GetInt("threads"); err == nil && f.Changed("threads") && (n < -1 || n == 0 || n > config.MostThreads) {
		return fmt.Errorf("--threads is %d, want -1 for all processors, or 1 to %d", n, config.MostThreads)
	}
	if at, err := f.GetString("addr"); err == nil && f.Changed("addr") {
		return checkAddress("--addr", at)
	}
	return nil
}

// inFlags says what is wrong by the names of flags: pairs are words of the library and
// those of the command line.
func inFlags(err error, pairs []string) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.NewReplacer(pairs...).Replace(err.Error()))
}

// told returns where a command says how far it is: nowhere if it is to be quiet.
func told(cmd *cobra.Command, quiet bool) io.Writer {
	if quiet {
		return io.Discard
	}
	return cmd.ErrOrStderr()
}
