// Package agentcmd is the program wdgnn-agent, for those who build one with
// rules of their own. This is all of it:
//
//	func main() {
//		agentcmd.Main(map[string]rule.Rule{"mine": Mine{}})
//	}
//
// In agent.yaml the nodes of a box then learn by it:
//
//	learn: {rule: mine}
package agentcmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

// kernelsVariable names a kernel set where the command line names none.
const kernelsVariable = "WDGNN_KERNELS"

// Main runs the agents of one box as the command line says, until their world
// ends or SIGTERM comes, and exits: with 0, with 1 if something failed, or with 2
// if the command line makes no sense. Rules are what learn.rule in agent.yaml may
// name beside gradient steps, nil for none.
func Main(rules map[string]rule.Rule) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	p := &program{
		name:  strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"),
		rules: rules, in: os.Stdin, out: os.Stdout, errors: os.Stderr,
	}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// program is wdgnn-agent under any name.
type program struct {
	name        string
	rules       map[string]rule.Rule
	in          io.Reader
	out, errors io.Writer
}

// run executes one command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	fs := flag.NewFlagSet(p.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	path := fs.String("config", "", "")
	check := fs.Bool("check", false, "")
	verbose := fs.Bool("verbose", false, "")
	asked := fs.Bool("version", false, "")
	kernels := fs.String("kernels", os.Getenv(kernelsVariable), "")
	fs.BoolVar(verbose, "v", false, "")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(p.errors, p.usage()+box.Example+flagsHelp)
			return 0
		}
		return p.misused(err)
	}
	if *kernels != "" {
		if err := mat.UseKernels(*kernels); err != nil {
			fmt.Fprintf(p.errors, "%s: --kernels, or the variable %s: %v\n", p.name, kernelsVariable, err)
			return exitFailure
		}
	}
	if *asked || fs.NArg() == 1 && fs.Arg(0) == "version" {
		fmt.Fprintf(p.out, "%s %s, %s, %s/%s, kernels %s (%s): %s\n",
			p.name, version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, mat.Kernels(), mat.Family(), mat.KernelsReason())
		return 0
	}
	switch {
	case *path == "" && fs.NArg() == 1:
		return p.misused(fmt.Errorf("%s stands alone; did you mean --config %s?", fs.Arg(0), fs.Arg(0)))
	case *path == "":
		return p.misused(errors.New("--config FILE says what to run"))
	case fs.NArg() > 0:
		return p.misused(fmt.Errorf("it takes flags only, got %s", strings.Join(fs.Args(), " ")))
	}
	if err := p.start(ctx, *path, *check, *verbose); err != nil {
		fmt.Fprintf(p.errors, "%s: %v\n", p.name, err)
		return exitFailure
	}
	return 0
}

// misused says what is wrong with a command line.
func (p *program) misused(err error) int {
	fmt.Fprintf(p.errors, "%s: %v\nTry: %s -h\n", p.name, err, p.name)
	return exitUsage
}

// flagsHelp is what help ends with.
const flagsHelp = `
Flags:
      --check           say what would be done, and start nothing
      --config string   configuration of the box, agent.yaml
      --kernels string  compute with avx512, avx2, neon, fusedgo or portable loops, by default those that $` + kernelsVariable + ` names
  -v, --verbose         log more
`

// usage is what help begins with.
func (p *program) usage() string {
	text := strings.ReplaceAll(`NAME runs the agents of one box.

  NAME --config agent.yaml            run until the world ends, or SIGTERM
  NAME --config agent.yaml --check    say what it would do, and start nothing
  NAME version

`, "NAME", p.name)
	if len(p.rules) > 0 {
		text += fmt.Sprintf("Its own rules, for learn.rule: %s\n\n", strings.Join(slices.Sorted(maps.Keys(p.rules)), ", "))
	}
	return text
}

// start runs or checks a box.
func (p *program) start(ctx context.Context, path string, check, verbose bool) error {
	config, err := box.LoadWith(path, p.rules)
	if err != nil {
		return fmt.Errorf("%w\nTry: %s -h, which shows an example, or doc/runtime.md, which lists every key", err, p.name)
	}
	if check {
		text, err := box.Describe(config)
		fmt.Fprint(p.out, text)
		return err
	}
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(p.errors, &slog.HandlerOptions{Level: level}))
	return box.Run(ctx, config, box.Streams{In: p.in, Out: p.out, Log: log})
}

// release is the version of a release; the linker sets it.
var release string

// version returns that of the release, of the program's module, or "devel", and that
// of this module behind it if it is another.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	own := numbered(info.Main.Version)
	for _, m := range info.Deps {
		if m.Path == module {
			return own + " with wdgnn " + numbered(m.Version)
		}
	}
	return own
}

// module is where this package comes from.
const module = "github.com/wdgnn/wdgnn"

func numbered(version string) string {
	if version == "" || version == "(devel)" {
		return "devel"
	}
	return version
}
