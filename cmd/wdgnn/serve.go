package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/dataset"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/recommend"
	"github.com/wdgnn/wdgnn/internal/serve"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/movies"
)

// ServeCommand runs the recommender as an HTTP service.
type ServeCommand struct {
	Stdout, Stderr io.Writer

	model, data, state string
	address, tokenFile string
	preset             string
	step               float64
	window             int
	limit              recommend.LimitConfig
	snapshots          int
	setting            recommend.Setting
	verbose            bool
}

func (c *ServeCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Recommend movies over HTTP, and learn from every rating",
		Long: `Serves predictions of ratings, and learns from every rating that is posted: the
taps of the wide part move at once, and the next prediction shows it. A rating
and the parameters that it led to are on the disk before the answer; after a
crash the service continues with the same parameters.

Without --model, the model is model.safetensors in the folder of --state; if
there is none yet, one is trained first. doc/serve.md describes the API. The
address shows a page in a browser: pick a user, rate a movie, see the
predictions move; doc/page.md describes it.`,
		Example: `  wdgnn data get movielens-100k
  wdgnn serve --data data/ml-100k
  curl 'http://127.0.0.1:8080/v1/users/1/predictions?top=5'
  curl -d '{"user": 1, "movie": 318, "rating": 5}' -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/ratings`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if !cmd.Flags().Changed("step-size") {
				c.step = usualSteps[c.preset]
			}
			return c.Run(cmd.Context())
		},
	}
	c.setting = recommend.DefaultSetting()
	f := cmd.Flags()
	f.StringVar(&c.data, "data", "", "folder of ratings: data/ml-100k, data/ml-1m, or one with ratings.csv")
	f.StringVar(&c.model, "model", "", "model of wdgnn recommend train (default model.safetensors in --state, trained if it is not there)")
	f.StringVar(&c.state, "state", "wdgnn-state", "folder that keeps ratings and parameters")
	f.StringVar(&c.address, "addr", "127.0.0.1:8080", "address to listen at; other machines can reach it only with --token-file")
	f.StringVar(&c.tokenFile, "token-file", "", "file with the token that requests must bear")
	f.StringVar(&c.preset, "preset", "literal", "steps of the learner: literal (the plain gradient) or whitened")
	words(cmd, "preset", "literal", "whitened")
	f.Float64Var(&c.step, "step-size", 0, "step size of the learner; 0 does not learn (default 0.01 for literal, 0.001 for whitened)")
	f.IntVar(&c.window, "guard-window", 500, "users on whose last ratings the learner must not be worse than the model as trained")
	f.IntVar(&c.limit.Burst, "user-burst", 30, "ratings of one user at once that are learned from")
	f.DurationVar(&c.limit.Every, "user-every", 3*time.Second, "time after which one more rating of a user is learned from")
	f.IntVar(&c.snapshots, "snapshot-every", 20_000, "ratings between two snapshots")
	f.IntVar(&c.setting.Movies, "movies", c.setting.Movies, "when a model is trained: how many of the most rated movies it knows, 0 for all")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "log every request")
	return cmd
}

// usualSteps are step sizes by preset.
var usualSteps = map[string]float64{"literal": 0.01, "whitened": 0.001}

// Run serves until ctx ends.
func (c *ServeCommand) Run(ctx context.Context) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	token, err := readToken(c.tokenFile)
	if err != nil {
		return during("serve", err)
	}
	listener, err := listen(ctx, "--addr", c.address, token)
	if err != nil {
		return err
	}
	defer listener.Close()
	all, err := loadRatings("serve", c.data)
	if err != nil {
		return err
	}
	disk, err := journal.OpenDir(c.state)
	if err != nil {
		return helpful{during("serve", err), "another --state, a folder of its own for every service"}
	}
	defer disk.Close()
	model, err := c.prepare(ctx, all)
	if err != nil {
		return err
	}
	service, err := recommend.Open(model, all, disk, config)
	if errors.Is(err, recommend.ErrOtherModel) {
		return helpful{during("serve", err), "the model that it belongs to, or another --state for this one"}
	}
	if err != nil {
		return during("serve", err)
	}
	config.Log.Info("serving", "address", "http://"+listener.Addr().String(), "version", service.Status().Version,
		"users", service.Status().Users, "movies", service.Status().Movies, "token", token != "")
	err = serve.New(service, serve.Config{Token: token, Log: config.Log, Users: frequent(all)}).Serve(ctx, listener)
	err = errors.Join(err, service.Close())
	config.Log.Info("ended", "version", service.Status().Version)
	return during("serve", err)
}

// config returns what the flags ask of the service.
func (c *ServeCommand) config() (recommend.Config, error) {
	bad := func(format string, args ...any) error {
		return usageError{"wdgnn serve", fmt.Errorf(format, args...)}
	}
	presets := map[string]func(float64) rule.Config{"literal": recommend.Literal, "whitened": recommend.Whitened}
	preset := presets[c.preset]
	if preset == nil {
		return recommend.Config{}, bad("no preset is called %q; try literal or whitened", c.preset)
	}
	if c.data == "" {
		return recommend.Config{}, bad("--data names the folder of ratings; wdgnn data get movielens-100k makes one")
	}
	if c.limit.Burst < 1 || c.limit.Every <= 0 {
		return recommend.Config{}, bad("--user-burst is %d and --user-every %v, want at least 1 and more than 0", c.limit.Burst, c.limit.Every)
	}
	if c.snapshots < 1 || c.window < 1 {
		return recommend.Config{}, bad("--snapshot-every is %d and --guard-window %d, want at least 1", c.snapshots, c.window)
	}
	level := slog.LevelInfo
	if c.verbose {
		level = slog.LevelDebug
	}
	config := recommend.Config{
		Rule: preset(c.step), Guard: recommend.GuardConfig{Window: c.window}, Limit: c.limit, SnapshotEvery: c.snapshots, Threads: threads(),
		Log: slog.New(slog.NewTextHandler(c.Stderr, &slog.HandlerOptions{Level: level})),
	}
	if err := errors.Join(config.Rule.Validate(), config.Guard.Validate()); err != nil {
		return recommend.Config{}, bad("%w", err)
	}
	return config, nil
}

// readToken reads a file of a token; no file means no token.
func readToken(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	token := string(bytes.TrimSpace(text))
	if len(token) < 16 || strings.ContainsAny(token, " \t\r\n") {
		return "", helpful{fmt.Errorf("token: %s: want one word of 16 characters or more", path), "head -c 24 /dev/urandom | base64 > " + path}
	}
	return token, nil
}

// prepare reads the model, which it trains if it must.
func (c *ServeCommand) prepare(ctx context.Context, all *movies.Ratings) (*recommend.Model, error) {
	path := c.model
	if path == "" {
		path = filepath.Join(c.state, "model.safetensors")
	}
	model, err := recommend.Load(path)
	switch {
	case err == nil:
		return model, nil
	case c.model != "" || !errors.Is(err, fs.ErrNotExist):
		return nil, helpful{during("serve", err), "wdgnn recommend train --data " + c.data + " --out model.safetensors"}
	}
	fmt.Fprintf(c.Stderr, "no model in %s yet: training one\n", c.state)
	model, err = trainRecommender(ctx, all, c.setting, recommend.TrainConfig{}, c.Stderr, false)
	if err == nil {
		err = recommend.Save(path, model, version())
	}
	return model, during("serve", err)
}

// offered is how many users the page offers to pick from.
const offered = 200

// frequent returns the first users of the data.
func frequent(all *movies.Ratings) (ids []int) {
	for u := range min(all.Users(), offered) {
		ids = append(ids, all.UserID(u))
	}
	return ids
}

// loadRatings reads a folder of ratings for a command.
func loadRatings(command, dir string) (*movies.Ratings, error) {
	all, err := dataset.Load(dir)
	var p *dataset.Problem
	if errors.As(err, &p) {
		return nil, helpful{during(command, err), p.Try}
	}
	return all, during(command, err)
}
