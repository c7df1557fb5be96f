package main

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// told returns where a command says how far it is: nowhere if it is to be quiet.
func told(cmd *cobra.Command, quiet bool) io.Writer {
	if quiet {
		return io.Discard
	}
	return cmd.ErrOrStderr()
}
