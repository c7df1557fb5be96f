// Command wdgnn-agent runs the agents of one box, a robot or a sensor: what
// `wdgnn agent` does, in a small program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/wdgnn/wdgnn/internal/box"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

// release is the version of a release; the linker sets it.
var release string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `wdgnn-agent runs the agents of one box.

  wdgnn-agent --config agent.yaml            run until the world ends, or SIGTERM
  wdgnn-agent --config agent.yaml --check    say what it would do, and start nothing
  wdgnn-agent version

`

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("wdgnn-agent", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, usage+box.Example+"\nFlags:\n")
		fs.PrintDefaults()
	}
	path := fs.String("config", "", "configuration of the box, agent.yaml")
	check := fs.Bool("check", false, "say what would be done, and start nothing")
	verbose := fs.Bool("verbose", false, "log more")
	fs.BoolVar(verbose, "v", false, "short for --verbose")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return exitUsage
	}
	if fs.NArg() == 1 && fs.Arg(0) == "version" {
		fmt.Fprintf(stdout, "wdgnn-agent %s, %s, %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return 0
	}
	if *path == "" || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "wdgnn-agent: --config FILE says what to run\nTry: wdgnn-agent -h")
		return exitUsage
	}
	if err := start(ctx, *path, *check, *verbose, stdin, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "wdgnn-agent: %v\n", err)
		return exitFailure
	}
	return 0
}

// start runs or checks a box.
func start(ctx context.Context, path string, check, verbose bool, stdin io.Reader, stdout, stderr io.Writer) error {
	config, err := box.Load(path)
	if err != nil {
		return err
	}
	if check {
		text, err := box.Describe(config)
		fmt.Fprint(stdout, text)
		return err
	}
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	return box.Run(ctx, config, box.Streams{In: stdin, Out: stdout, Log: log})
}

// version returns that of the release, of the module, or "devel". Both programs
// have it: commands are not imported, and the linker sets release of each.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
