package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/serve"
)

// ViewCommand shows what a run left.
type ViewCommand struct {
	Stdout, Stderr io.Writer

	page page
}

func (c *ViewCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "view FOLDER",
		Short: "Replay a recorded run in a browser, or show the paper's tables",
		Long: `Serves a page that shows what is in the folder of a run:

  events.jsonl    of a run that was recorded: everything, with a time slider
  metrics.jsonl   of wdgnn train and wdgnn online: the curves
  result.json     of wdgnn reproduce, here or in folders below: tables and figures

It goes on until Ctrl-C.`,
		Example: `  wdgnn demo --page --record run
  wdgnn view run
  wdgnn view reproduce`,
		Args: arguments("FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return c.Run(cmd.Context(), args[0])
		},
	}
	c.page.flag = "--addr"
	c.page.flags(cmd.Flags())
	cmd.Flags().StringVar(&c.page.address, "addr", pageAddress, "`address` of the page")
	return cmd
}

// Run serves the page until ctx ends.
func (c *ViewCommand) Run(ctx context.Context, dir string) error {
	recording, err := live.Open(dir)
	if errors.Is(err, live.ErrNoRun) {
		if c.page.shown = tablesIn(dir); c.page.shown != nil {
			recording, err = nil, nil
		}
	}
	if err != nil {
		return helpful{during("view", err), "wdgnn demo --page --record run, then wdgnn view run"}
	}
	if recording != nil {
		defer recording.Close()
	}
	served, err := c.page.start(ctx, c.Stdout, serve.LiveConfig{Recording: recording})
	if err != nil {
		return during("view", err)
	}
	return during("view", <-served)
}

// tablesIn returns the results in a folder, nil if there are none.
func tablesIn(dir string) *live.Results {
	r, err := live.OpenResults(dir)
	if err != nil {
		return nil
	}
	if list, err := r.List(); err != nil || len(list) == 0 {
		r.Close()
		return nil
	}
	return r
}
