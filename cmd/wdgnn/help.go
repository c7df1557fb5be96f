package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// showHelp prints what a command is for, how it is called by examples, then what there is
// to know about it, its commands and its flags.
func showHelp(cmd *cobra.Command, _ []string) {
	out, wide := lines{w: cmd.OutOrStdout()}, columns(cmd.OutOrStdout())
	out.printf("%s\n\nUsage:\n", cmd.Short)
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() || cmd.Use != cmd.Name() {
		out.printf("  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		out.printf("  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		out.printf("\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.Long != "" {
		out.printf("\n%s\n", reflow(strings.TrimRight(cmd.Long, "\n"), wide))
	}
	if cmd.HasAvailableSubCommands() {
		out.printf("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				out.printf("  %-*s %s\n", cmd.Commands()[0].NamePadding(), c.Name(), c.Short)
			}
		}
	}
	out.flags("Flags", cmd.LocalFlags(), wide)
	out.flags("Flags of all commands", cmd.InheritedFlags(), wide)
	if cmd.HasAvailableSubCommands() {
		out.printf("\n%s COMMAND -h explains one of them.\n", cmd.CommandPath())
	}
}

// flags prints flags under a title, if there are any.
func (l *lines) flags(title string, f *pflag.FlagSet, wide int) {
	if f.HasAvailableFlags() {
		l.printf("\n%s:\n%s\n", title, strings.TrimRight(f.FlagUsagesWrapped(wide), "\n"))
	}
}

// reflow sets the paragraphs of a text that was written for 85 columns anew if there are
// fewer. What is set in by spaces is no paragraph.
func reflow(text string, wide int) string {
	if wide == 0 || wide > 85 {
		return text
	}
	var b strings.Builder
	open := false // a paragraph
	for line := range strings.SplitSeq(text, "\n") {
		goesOn := line != "" && line[0] != ' '
		switch {
		case goesOn && open:
			b.WriteByte(' ')
		case b.Len() > 0:
			b.WriteByte('\n')
		}
		b.WriteString(line)
		open = goesOn
	}
	return b.String()
}
