package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/shop/dataset"
)

// newDataCommand groups the commands about data sets.
func newDataCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Get public data sets",
		Args:  onlyCommands,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand((&DataGetCommand{}).command())
	return cmd
}

// DataGetCommand downloads a data set.
type DataGetCommand struct {
	Stdout io.Writer
	Stderr io.Writer

	name  string // of the set
	dir   string // empty means a folder with the set's name
	url   string
	quiet bool
	json  bool
}

func (c *DataGetCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get NAME",
		Short: "Download a data set and check it: " + strings.Join(dataset.Names(), ", "),
		Long: "Data sets: " + strings.Join(dataset.Names(), ", ") + `.

Downloads a data set from its publisher into a folder, after checking size,
checksum and content. Nothing half-written is left; an interrupted download goes
on where it stopped when the command is given again. This program ships no data.`,
		Example: `  wdgnn data get movielens-100k
  wdgnn data get movielens-1m --out elsewhere/ml-1m`,
		Args:      arguments("NAME"),
		ValidArgs: dataset.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr, c.name = cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0]
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&c.dir, "out", "", "folder to make (default data/ml-100k or data/ml-1m, where other commands look)")
	cmd.Flags().StringVar(&c.url, "url", dataset.Base, "address of the folder that holds the archive")
	cmd.Flags().BoolVarP(&c.quiet, "quiet", "q", false, "print no progress and no terms")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	renamed(cmd.Flags(), map[string]string{"data": "out"})
	return cmd
}

// Run downloads the set.
func (c *DataGetCommand) Run(ctx context.Context) error {
	set, err := dataset.Find(c.name)
	if err != nil {
		return usageError{"wdgnn data get", err}
	}
	if c.dir == "" {
		c.dir = filepath.Join("data", set.Folder)
	}
	shown := newTransfer(io.Discard)
	if !c.quiet {
		fmt.Fprintln(c.Stderr, set.Notice)
		shown = newTransfer(c.Stderr)
	}
	result, err := set.Get(ctx, dataset.Options{Dir: c.dir, Base: c.url, Progress: shown.show})
	shown.end()
	if err != nil {
		err = during("data get", err)
		var p *dataset.Problem
		if errors.As(err, &p) {
			return helpful{err, p.Try}
		}
		return err
	}
	return c.print(set, result)
}

func (c *DataGetCommand) print(set dataset.Set, r dataset.Result) error {
	if c.json {
		return writeJSON(c.Stdout, struct {
			Name    string `json:"name"`
			Data    string `json:"data"`
			Present bool   `json:"present"`
			Bytes   int64  `json:"bytes"`
			Resumed int64  `json:"resumed"`
			MD5     string `json:"md5"`
			Ratings int    `json:"ratings"`
			Users   int    `json:"users"`
			Movies  int    `json:"movies"`
		}{set.Name, c.dir, r.Present, r.Bytes, r.Resumed, r.MD5, set.Ratings, set.Users, set.Movies})
	}
	w := &lines{w: c.Stdout}
	switch {
	case r.Present:
		w.printf("%s is in %s already\n", set.Name, c.dir)
	case r.MD5 == "":
		w.printf("no checksum is published beside %s; its content is the known one\n", set.Archive)
	default:
		w.printf("%s has the published MD5 %s\n", set.Archive, r.MD5)
	}
	w.printf("%s: %d ratings, %d users, %d movies\n", c.dir, set.Ratings, set.Users, set.Movies)
	return w.err
}

// transfer shows how far a download is: one line that changes on a terminal,
// a plain line for every tenth of the archive elsewhere.
type transfer struct {
	screen
	began  time.Time
	tenths int64
}

func newTransfer(out io.Writer) *transfer {
	return &transfer{screen: newScreen(out), began: time.Now()}
}

func (t *transfer) show(p dataset.Progress) {
	tenths := int64(0)
	if p.Total > 0 {
		tenths = 10 * p.Done / p.Total
	}
	switch {
	case t.terminal() && (p.Done == p.Total || t.due()):
		t.draw(t.line(p))
	case !t.terminal() && tenths > t.tenths:
		fmt.Fprintln(t.out, t.line(p))
	}
	t.tenths = tenths
}

func (t *transfer) line(p dataset.Progress) string {
	text := fmt.Sprintf("%.1f MB", float64(p.Done)/1e6)
	if p.Total > 0 {
		text = fmt.Sprintf("%.1f of %.1f MB, %d %%", float64(p.Done)/1e6, float64(p.Total)/1e6, 100*p.Done/p.Total)
	}
	if came := p.Done - p.Began; p.Total > 0 && came > 0 {
		left := float64(time.Since(t.began)) / float64(came) * float64(p.Total-p.Done)
		text += fmt.Sprintf(", %v left", brief(time.Duration(left)))
	}
	return text
}
