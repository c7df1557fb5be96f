// Command wdgnn trains and runs wide and deep graph neural networks that keep
// learning inside the network they run on.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // the work failed or was interrupted
	exitUsage   = 2 // the command line made no sense
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var bad usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &bad):
		fmt.Fprintf(stderr, "wdgnn: %v\nTry: %s -h\n", err, bad.command)
		return exitUsage
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "wdgnn: interrupted")
		return exitFailure
	}
	fmt.Fprintf(stderr, "wdgnn: %v\n", err)
	return exitFailure
}

// usageError is a mistake on the command line.
type usageError struct {
	command string // whose help to read
	err     error
}

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "wdgnn",
		Short: "Graph neural networks that keep learning inside the network they run on",
		Long: `wdgnn trains and runs wide and deep graph neural networks: a linear graph
filter and a deep graph neural network, added. Both are trained offline.`,
		Example:       "  wdgnn demo            train one, drop links, see what is lost",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{cmd.CommandPath(), fmt.Errorf("no command is called %q", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{cmd.CommandPath(), err} })
	root.AddCommand((&DemoCommand{}).command())
	return root
}

// noArguments refuses positional arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{cmd.CommandPath(), fmt.Errorf("%s takes no arguments, got %q", cmd.CommandPath(), args)}
	}
	return nil
}
