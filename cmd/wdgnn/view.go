package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/livepage"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/rundir"
	"github.com/wdgnn/wdgnn/internal/runview"
	"github.com/wdgnn/wdgnn/modelfile"
)

// ViewCommand shows what a run left.
type ViewCommand struct {
	Stdout, Stderr io.Writer

	page   page
	export string
	lost   string             // what wdgnn certify --lost 1 --json printed
	where  SwarmStatusCommand // of a deployment to look at: keys, config, nats, run
	urls   []string           // metrics addresses of its agents
	force  bool
}

func (c *ViewCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "view FOLDER | --keys DIR | URL...",
		Short: "Show a run, a deployment, or the paper's tables in a browser",
		Long: `Serves a page that shows what is in the folder of a run:

  events.jsonl    of a run that was recorded: everything, with a time slider
  metrics.jsonl   of wdgnn train and wdgnn online: curves, the network, what happened
  origin1, …      of wdgnn backtest: ways to forecast, side by side
  result.json     of wdgnn reproduce, here or in folders below: tables and figures

With --keys it shows a deployment that runs, from the keys of wdgnn swarm keys or the
observer's part of them, as wdgnn swarm status finds it: the boxes and who hears whom,
what learning brings, gates, sensors that are not believed, quarantines, and who is
not heard. It looks on and commands nothing. Boxes with direct links are asked at
their metrics addresses: those named, or those of --config.

It goes on until Ctrl-C. With --export it serves nothing: the page and the run go
into one file that any browser plays, from a disk or as an attachment, without
this program and without a network.`,
		Example: `  wdgnn demo --page --record run
  wdgnn view run
  wdgnn view run --export run.html
  wdgnn view first/online
  wdgnn certify first/run/model.safetensors --config first/config.yaml --lost 1 --json > lost.json
  wdgnn view first/online --certified lost.json
  wdgnn view --keys keys
  wdgnn view http://box-0:9100 http://box-1:9100
  wdgnn view reproduce`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && strings.Contains(args[0], "://") {
				c.urls, args = args, nil
			}
			if !c.attached() {
				return arguments("FOLDER")(cmd, args)
			}
			if len(args) > 0 || c.export != "" {
				return usageError{cmd.CommandPath(), errors.New("a deployment is looked at while it runs: leave out FOLDER and --export")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if c.attached() {
				return during("view", c.Attach(cmd.Context()))
			}
			return c.Run(cmd.Context(), args[0])
		},
	}
	c.page.flags(cmd.Flags())
	cmd.Flags().StringVar(&c.page.address, "addr", pageAddress, "`address` of the page")
	cmd.Flags().StringVar(&c.export, "export", "", "`file` to write the page and the run to, instead of serving them")
	f := cmd.Flags()
	f.StringVar(&c.lost, "certified", "", "`file` of wdgnn certify --lost 1 --json: draw the links whose loss would change an answer")
	f.StringVar(&c.where.keys, "keys", "", "folder of wdgnn swarm keys, or the observer's part of it: look at the deployment")
	f.StringVar(&c.where.nats, "nats", "", "address of a NATS server of the deployment; nothing means that of the keys")
	f.StringVar(&c.where.run, "run", "", "name of the run; nothing means that of the keys")
	f.StringVar(&c.where.config, "config", "", "configuration of any host, which says run, hosts and bus too")
	forced(f, &c.force)
	return cmd
}

// Run serves the page until ctx ends, or exports it.
func (c *ViewCommand) Run(ctx context.Context, dir string) error {
	if err := mistaken(dir, kindFolder); err != nil {
		return during("view", err)
	}
	if _, err := os.Stat(dir); err != nil {
		return helpful{during("view", err), "the folder that wdgnn train, online, backtest or reproduce left"}
	}
	recording, err := runview.Open(dir)
	if err == nil && c.lost != "" {
		if err := runview.Certify(&recording.Scene, c.lost); err != nil {
			recording.Close()
			return helpful{during("view", err), "wdgnn certify MODEL --config CONFIG.yaml --lost 1 --json > lost.json, for the network of the run"}
		}
	}
	if err == nil && c.export != "" {
		defer recording.Close()
		return c.save(recording)
	}
	if errors.Is(err, live.ErrNoRun) && c.export == "" {
		if c.page.shown = tablesIn(dir); c.page.shown != nil {
			recording, err = nil, nil
		}
	}
	if err != nil {
		return helpful{during("view", err), runsIn(dir)}
	}
	if recording != nil {
		defer recording.Close()
	}
	served, err := c.page.start(ctx, c.Stdout, liveweb.LiveConfig{Recording: recording})
	if err != nil {
		return during("view", err)
	}
	return during("view", <-served)
}

// runsIn says what to try where a folder holds no run: those in it, if there are any.
func runsIn(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "*", rundir.MetricsName)) // the pattern is sound
	if len(found) == 0 {
		return "wdgnn demo --page --record run, then wdgnn view run"
	}
	for k, file := range found {
		found[k] = "wdgnn view " + filepath.Dir(file)
	}
	return strings.Join(found, ", or ")
}

// save exports a recording, unless something is there already.
func (c *ViewCommand) save(r *live.Recording) error {
	if err := kept(c.force, "another --export", c.export); err != nil {
		return during("view", err)
	}
	if err := export(c.export, r); err != nil {
		return during("view", err)
	}
	_, err := fmt.Fprintf(c.Stdout, "%s in %s, for any browser\n", grid.Count(r.Frames(), "frame"), c.export)
	return err
}

// export writes a recording as one file that a browser plays, whole or not at
// all.
func export(path string, r *live.Recording) error {
	return modelfile.WriteFile(path, func(w io.Writer) error { return livepage.Export(w, r) })
}
