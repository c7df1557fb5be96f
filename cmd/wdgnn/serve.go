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
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
	"github.com/wdgnn/wdgnn/internal/shop/serve"
)

// ServeCommand runs the recommender as an HTTP service.
type ServeCommand struct {
	Stdout, Stderr io.Writer

	model, data, state string
	ratings, items     string
	scale              string
	address, tokenFile string
	rate               serve.Limit
	step               float64
	window             int
	limit              recommend.LimitConfig
	snapshots          int
	setting            recommend.Setting
	counted            bool // --movies was given
	verbose            bool
}

func (c *ServeCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Recommend movies, or whatever a shop has, over HTTP, and learn from every rating",
		Long: `Serves predictions of ratings, and learns from every rating that is posted: the
taps of the wide part move at once, and the next prediction shows it. A rating
and the parameters that it led to are on the disk before the answer; after a
crash the service continues with the same parameters.

Ratings are a folder of MovieLens (--data), or a CSV file of anything (--ratings):
lines user,item,rating[,time][,title] with ids of any kind, in any scale.

Without --model, the model is model.safetensors in the folder of --state; if
there is none yet, one is trained first. doc/serve.md describes the API. The
address shows a page in a browser: pick a user, rate a movie, see the
predictions move; doc/page.md describes it.`,
		Example: `  wdgnn data get movielens-100k
  wdgnn serve --data data/ml-100k
  wdgnn serve --ratings shop.csv --items titles.csv --scale 0..10
  curl 'http://127.0.0.1:8080/v1/users/1/predictions?top=5'
  curl -d '{"user": 1, "movie": 318, "rating": 5}' -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/ratings`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			c.counted = cmd.Flags().Changed("movies")
			return c.Run(cmd.Context())
		},
	}
	c.setting = recommend.DefaultSetting()
	f := cmd.Flags()
	shopFlags(f, &c.data, &c.ratings, &c.items, &c.scale)
	f.StringVar(&c.model, "model", "", "model of wdgnn recommend train (default model.safetensors in --state, trained if it is not there)")
	f.StringVar(&c.state, "state", "wdgnn-state", "folder that keeps ratings and parameters")
	f.StringVar(&c.address, "addr", "127.0.0.1:8080", "address to listen at; other machines can reach it only with --token-file")
	f.StringVar(&c.tokenFile, "token-file", "", "file with the token that requests must bear, or several, one a line")
	f.Float64Var(&c.rate.PerSecond, "rate", 0, "requests a second that one client may make, by token or else by address; 0 for any number")
	f.IntVar(&c.rate.Burst, "rate-burst", 0, "requests of a client at once (default twice --rate)")
	f.Float64Var(&c.step, "step-size", usualStep, "step size of the learner; 0 does not learn")
	f.IntVar(&c.window, "guard-window", 1000, "users of the data on whose ratings the learner must not be 2 % worse than the model as trained")
	f.IntVar(&c.limit.Burst, "user-burst", 30, "ratings of one user at once that are learned from")
	f.DurationVar(&c.limit.Every, "user-every", 3*time.Second, "time after which one more rating of a user is learned from")
	f.IntVar(&c.snapshots, "snapshot-every", 20_000, "ratings between two snapshots")
	f.IntVar(&c.setting.Movies, "movies", c.setting.Movies,
		"when a model is trained: how many of the most rated movies or items it knows, 0 for all, as with --ratings")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "log every request")
	return cmd
}

const usualStep = 0.01

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
	listener, err := listen(ctx, c.address, token)
	if err != nil {
		return err
	}
	defer listener.Close()
	shop, err := loadShop("serve", c.data, c.ratings, c.items)
	if err != nil {
		return err
	}
	disk, err := journal.OpenDir(c.state)
	if err != nil {
		return helpful{during("serve", err), "another --state, a folder of its own for every service"}
	}
	defer disk.Close()
	model, err := c.prepare(ctx, shop)
	if err != nil {
		return err
	}
	service, err := recommend.OpenShop(model, shop, disk, config)
	if errors.Is(err, recommend.ErrOtherModel) {
		return helpful{during("serve", err), "the model that it belongs to, or another --state for this one; " +
			"wdgnn recommend ratings writes what was told, to train with it"}
	}
	if errors.Is(err, recommend.ErrOtherData) {
		return helpful{during("serve", err), "the ratings that it was trained with, or wdgnn recommend train with these"}
	}
	if err != nil {
		return during("serve", err)
	}
	config.Log.Info("serving", "address", "http://"+listener.Addr().String(), "version", service.Status().Version,
		"users", service.Status().Users, shop.Word+"s", service.Status().Movies, "token", token != "")
	err = serve.New(service, serve.Config{
		Config: liveweb.Config{Token: token, Log: config.Log}, Users: frequent(shop.Ratings), Limit: c.rate,
	}).Serve(ctx, listener)
	err = errors.Join(err, service.Close())
	config.Log.Info("ended", "version", service.Status().Version)
	return during("serve", err)
}

// config returns what the flags ask of the service.
func (c *ServeCommand) config() (recommend.Config, error) {
	bad := func(format string, args ...any) error {
		return usageError{"wdgnn serve", fmt.Errorf(format, args...)}
	}
	if err := checkShop(c.data, c.ratings, c.items); err != nil {
		return recommend.Config{}, bad("%w", err)
	}
	if !(c.rate.PerSecond >= 0) || c.rate.Burst < 0 {
		return recommend.Config{}, bad("--rate is %v and --rate-burst %d, want 0 or more", c.rate.PerSecond, c.rate.Burst)
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
		Rule: recommend.Paper(c.step), Guard: recommend.GuardConfig{Window: c.window}, Limit: c.limit,
		SnapshotEvery: c.snapshots, Threads: threads(),
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
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return "", helpful{fmt.Errorf("token: %s: others than its owner may read it, mode %#o", path, info.Mode().Perm()), "chmod 600 " + path}
	}
	tokens := string(bytes.TrimSpace(text))
	for token := range strings.Lines(tokens + "\n") {
		if token = strings.TrimSpace(token); len(token) < 16 || strings.ContainsAny(token, " \t") {
			return "", helpful{
				fmt.Errorf("token: %s: want one word of 16 characters or more, or one a line for several clients", path),
				"head -c 24 /dev/urandom | base64 > " + path + " && chmod 600 " + path,
			}
		}
	}
	return tokens, nil
}

// prepare reads the model, which it trains if it must.
func (c *ServeCommand) prepare(ctx context.Context, shop *dataset.Shop) (*recommend.Model, error) {
	path := c.model
	if path == "" {
		path = filepath.Join(c.state, "model.safetensors")
	}
	model, err := recommend.Load(path)
	switch {
	case err == nil:
		return model, nil
	case c.model != "" || !errors.Is(err, fs.ErrNotExist):
		from := "--data " + c.data
		if c.ratings != "" {
			from = "--ratings " + c.ratings
		}
		return nil, helpful{during("serve", err), "wdgnn recommend train " + from + " --out model.safetensors"}
	}
	setting, err := settingFor(c.setting, shop, c.scale, c.counted)
	if err != nil {
		return nil, usageError{"wdgnn serve", err}
	}
	fmt.Fprintf(c.Stderr, "no model in %s yet: training one\n", c.state)
	model, err = trainRecommender(ctx, shop, setting, recommend.TrainConfig{}, c.Stderr, false)
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

// shopFlags adds the flags that say where ratings are.
func shopFlags(f *pflag.FlagSet, data, ratings, items, scale *string) {
	f.StringVar(data, "data", "", "folder of ratings: data/ml-100k, data/ml-1m, or one with ratings.csv")
	f.StringVar(ratings, "ratings", "", "CSV file of ratings of anything, in place of --data: user,item,rating[,time][,title]")
	f.StringVar(items, "items", "", "CSV file of titles for --ratings: item,title")
	f.StringVar(scale, "scale", "", "ends of the scale of --ratings, such as 1..5 or -1..1 (default from the least to the most of the file)")
}

// checkShop reports flags that do not say where ratings are.
func checkShop(data, ratings, items string) error {
	switch {
	case data == "" && ratings == "":
		return errors.New("--data names the folder of ratings; wdgnn data get movielens-100k makes one, and --ratings names a file of your own")
	case data != "" && ratings != "":
		return errors.New("both --data and --ratings are given, want one of them")
	case items != "" && ratings == "":
		return errors.New("--items has titles for --ratings, which is not given")
	}
	return nil
}

// tryRatings is what helps where a file holds no ratings.
const tryRatings = "a file with lines user,item,rating[,time][,title], as doc/shop.md shows"

// loadShop reads ratings for a command.
func loadShop(command, data, ratings, items string) (shop *dataset.Shop, err error) {
	if ratings != "" {
		if err := mistaken(ratings, kindTable); err != nil {
			return nil, during(command, err)
		}
		if shop, err = dataset.LoadShop(ratings, items); err != nil {
			err = helpful{err, tryRatings}
		}
	} else {
		shop, err = dataset.LoadMovies(data)
	}
	var p *dataset.Problem
	if errors.As(err, &p) {
		p.Try += "; ratings of your own are named by --ratings FILE.csv"
	}
	return shop, during(command, err)
}

// settingFor returns the setting for a shop: all of its items unless their number was
// given, and its scale. A folder of MovieLens keeps the setting as it is.
func settingFor(s recommend.Setting, shop *dataset.Shop, scale string, counted bool) (recommend.Setting, error) {
	if shop.Word == "movie" {
		if scale != "" {
			return s, errors.New("--scale is for --ratings")
		}
		return s, nil
	}
	if !counted {
		s.Movies = 0
	}
	least, most := shop.Ratings.Range()
	if scale != "" {
		from, to, ok := strings.Cut(scale, "..")
		var errs [2]error
		least, errs[0] = strconv.ParseFloat(from, 64)
		most, errs[1] = strconv.ParseFloat(to, 64)
		if !ok || errs[0] != nil || errs[1] != nil || !(least < most) {
			return s, fmt.Errorf("--scale is %q, want two numbers such as 1..5, 0..10 or -1..1", scale)
		}
	}
	s = s.Scaled(least, most)
	return s, s.Validate()
}
