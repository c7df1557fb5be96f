// Command wdgnn trains and runs wide and deep graph neural networks that keep
// learning inside the network they run on.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/shop/movierecipe"
)

// Of the scenarios, movies are linked in: nothing but the program knows them.
func init() { config.Link("movies", new(movierecipe.Keys)) }

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1   // the work failed
	exitUsage       = 2   // the command line made no sense
	exitInterrupted = 130 // Ctrl-C, or another signal to stop, came before the end
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	stdout, stderr := onTerminal(os.Stdout), onTerminal(os.Stderr)
	code := run(ctx, os.Args[1:], stdout, stderr)
	stop()
	for _, out := range []io.Writer{stdout, stderr} {
		if t, ok := out.(*terminal); ok {
			t.flush()
		}
	}
	os.Exit(code)
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	if slices.Equal(args, []string{"--version"}) {
		args = []string{"version"}
	}
	root.SetArgs(pageArguments(args))
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	code := exitFailure
	var bad usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &bad):
		fmt.Fprintf(stderr, "wdgnn: %v\nTry: %s -h\n", err, cmp.Or(bad.command, cmd.CommandPath()))
		return exitUsage
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "wdgnn: interrupted")
		code = exitInterrupted
	default:
		fmt.Fprintf(stderr, "wdgnn: %v\n", err)
	}
	if try := hint(err, ""); try != "" {
		fmt.Fprintf(stderr, "Try: %s\n", try)
	}
	return code
}

// helpful is a failure with a line that helps.
type helpful struct {
	err error
	try string
}

func (e helpful) Error() string { return e.err.Error() }
func (e helpful) Unwrap() error { return e.err }

// usageError is a mistake on the command line.
type usageError struct {
	command string // whose help to read; nothing means that which runs
	err     error
}

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "wdgnn",
		Short: "Graph neural networks that keep learning inside the network they run on",
		Long: `wdgnn trains and runs wide and deep graph neural networks: a linear graph
filter and a deep graph neural network, added. Both are trained offline; the
filter goes on learning where the network runs, at every node, from one-hop
messages.

Models, runs and flights that are there already are not written over: --out names
another folder, --force replaces what is there.

Exit codes: 0 done, 1 failed, 2 a command line that makes no sense, 130 stopped by
Ctrl-C before the end, with what was done kept.`,
		Example: `  wdgnn demo                            train one, drop links, watch it learn
  wdgnn demo --page                     the same in a browser, with links and nodes to take away
  wdgnn reproduce table1 --quick        the paper's table beside ours
  wdgnn flock                           train a controller of robots, fly it, record the flight
  wdgnn init first                      write a configuration and data to begin with
  wdgnn train first/config.yaml         train on them
  wdgnn online first/run/model.safetensors first/config.yaml
  wdgnn inspect first/run/model.safetensors
  wdgnn init --task forecast roads      readings of sensors: train, then say what they will read
  wdgnn forecast roads/run/model.safetensors --series roads/later.csv`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{cmd.CommandPath(), fmt.Errorf("no command is called %q%s", args[0], meantCommand(cmd, args[0]))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return greet(cmd.OutOrStdout()) },
	}
	kernels := root.PersistentFlags().String("kernels", "",
		"compute with avx512, avx2, neon, fusedgo or portable loops (default what suits the processor, or $"+kernelsVariable+")")
	words(root, "kernels", "avx512", "avx2", "neon", "fusedgo", "portable")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkCommon(cmd); err != nil {
			return usageError{cmd.CommandPath(), err}
		}
		return useKernels(cmd, *kernels)
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(showHelp)
	root.AddCommand(
		(&DemoCommand{}).command(),
		(&ReproduceCommand{}).command(),
		(&FlockCommand{}).command(),
		(&InitCommand{}).command(),
		(&TrainCommand{}).command(),
		(&OnlineCommand{}).command(),
		(&AgentCommand{}).command(),
		newSwarmCommand(),
		(&ForecastCommand{}).command(),
		(&BacktestCommand{}).command(),
		(&PredictCommand{}).command(),
		(&EvalCommand{}).command(),
		(&InspectCommand{}).command(),
		(&ExportCommand{}).command(),
		(&CertifyCommand{}).command(),
		newDataCommand(),
		newRecommendCommand(),
		(&ServeCommand{}).command(),
		(&ViewCommand{}).command(),
		(&BenchCommand{}).command(),
		(&VersionCommand{}).command(),
	)
	addCobras(root)
	return root
}

// addCobras adds the commands that cobra has itself, which refuse words as ours do.
func addCobras(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = onlyCommands
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error { return knownCommand(root, args) }
		}
	}
}

// knownCommand refuses words that name no command.
func knownCommand(root *cobra.Command, args []string) error {
	for cmd := root; len(args) > 0; args = args[1:] {
		next, _, err := cmd.Find(args[:1])
		if err != nil || next == cmd {
			return usageError{cmd.CommandPath(), fmt.Errorf("no command is called %q%s", args[0], meantCommand(cmd, args[0]))}
		}
		cmd = next
	}
	return nil
}

// greet says what this is to somebody who typed nothing more than its name.
func greet(w io.Writer) error {
	_, err := io.WriteString(w, reflow(greeting, columns(w)))
	return err
}

const greeting = `wdgnn: graph neural networks that keep learning inside the network they run on

Sensors, robots or raters whose network changes after training: every node goes on
learning from its own mistakes, and talks to its neighbours only. Four things to try:

  wdgnn demo --page              a network loses links; watch it learn, in a browser
  wdgnn flock                    train a controller of robots, fly it, record the flight
  wdgnn init first               files to begin with, and how to go on with data of your own
  wdgnn swarm up --processes 5   the same learning as real processes that send messages

wdgnn -h lists all commands, wdgnn COMMAND -h explains one by examples.
`

// arguments asks for as many positional arguments as there are names.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			got := grid.Count(len(args), "argument")
			return usageError{cmd.CommandPath(), fmt.Errorf("%s wants %s, got %s", cmd.CommandPath(), strings.Join(names, " "), got)}
		}
		return nil
	}
}

// during says which command failed, unless err begins with that already.
func during(command string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), command+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", command, err)
}

// writeJSON prints v as one JSON object.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// onlyCommands refuses what is no command of a group of them.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{cmd.CommandPath(), fmt.Errorf("%s has no command %q%s", cmd.CommandPath(), args[0], meantCommand(cmd, args[0]))}
	}
	return nil
}

// noArguments refuses positional arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{cmd.CommandPath(), fmt.Errorf("%s takes no arguments, got %s", cmd.CommandPath(), strings.Join(args, " "))}
	}
	return nil
}
