package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/recommend"
	"github.com/wdgnn/wdgnn/scenario/movies"
	"github.com/wdgnn/wdgnn/train"
)

// newRecommendCommand groups the commands about recommending.
func newRecommendCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recommend",
		Short: "Train the model that wdgnn serve recommends with",
		Args:  onlyCommands,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand((&RecommendTrainCommand{}).command())
	return cmd
}

// RecommendTrainCommand trains a recommender.
type RecommendTrainCommand struct {
	Stdout, Stderr io.Writer

	data, out string
	setting   recommend.Setting
	epochs    int
	quiet     bool
	json      bool
}

func (c *RecommendTrainCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train a model with every movie as target in turn, and test it",
		Long: `Trains one wide and deep graph neural network for all movies: every rating of
every training user is predicted from the user's other ratings. A tenth of the
users, drawn by --seed, only test: neither training nor the graph sees them.

Beside the model, its setting and its scores are written as JSON:
model.safetensors has model.json.`,
		Example: `  wdgnn recommend train --data data/ml-100k --out model.safetensors
  wdgnn recommend train --data movielens-1m --movies 0 --out all.safetensors
  wdgnn serve --data data/ml-100k --model model.safetensors`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return c.Run(cmd.Context())
		},
	}
	c.setting = recommend.DefaultSetting()
	f := cmd.Flags()
	f.StringVar(&c.data, "data", "", "folder of ratings: data/ml-100k, data/ml-1m, or one with ratings.csv")
	f.StringVar(&c.out, "out", "model.safetensors", "file to write")
	f.IntVar(&c.setting.Movies, "movies", c.setting.Movies, "how many of the most rated movies the model knows, 0 for all")
	f.IntVar(&c.setting.Neighbors, "neighbors", c.setting.Neighbors, "most similar movies that a movie keeps in the graph")
	f.Float64Var(&c.setting.Similarity.Shrinkage, "shrinkage", c.setting.Similarity.Shrinkage,
		"co-raters by which similarities are shrunk; 0 leaves them as they are")
	f.BoolVar(&c.setting.Offsets, "offsets", c.setting.Offsets, "count ratings from what their movie gets beyond the mean of its raters")
	f.Uint64Var(&c.setting.Seed, "seed", c.setting.Seed, "root of every random stream")
	f.IntVar(&c.epochs, "epochs", 30, "passes over the ratings")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	f.BoolVar(&c.json, "json", false, "print the report as one JSON object")
	return cmd
}

// Run trains.
func (c *RecommendTrainCommand) Run(ctx context.Context) error {
	if c.data == "" {
		return usageError{"wdgnn recommend train", errors.New("--data names the folder of ratings; wdgnn data get movielens-100k makes one")}
	}
	if err := c.setting.Validate(); err != nil {
		return usageError{"wdgnn recommend train", err}
	}
	if c.epochs < 1 {
		return usageError{"wdgnn recommend train", fmt.Errorf("--epochs is %d, want at least 1", c.epochs)}
	}
	all, err := loadRatings("recommend train", c.data)
	if err != nil {
		return err
	}
	model, err := trainRecommender(ctx, all, c.setting, recommend.TrainConfig{Epochs: c.epochs}, c.Stderr, c.quiet)
	if err != nil {
		return during("recommend train", err)
	}
	if err := recommend.Save(c.out, model, version()); err != nil {
		return during("recommend train", err)
	}
	if c.json {
		return writeJSON(c.Stdout, model.Report)
	}
	w := &lines{w: c.Stdout}
	r := model.Report
	w.printf("trained %d epochs on %d ratings in %s\n", r.Epochs, r.Training, brief(time.Duration(r.Seconds*float64(time.Second))))
	w.printf("RMSE   %.4f on %d ratings of users who had no part in it; %.4f by user mean and movie offset alone\n",
		r.RMSE, r.Tested, r.MeanRMSE)
	w.printf("model  %s\n", c.out)
	return w.err
}

// trainRecommender trains and shows progress.
func trainRecommender(
	ctx context.Context, all *movies.Ratings, s recommend.Setting, c recommend.TrainConfig, stderr io.Writer, quiet bool,
) (*recommend.Model, error) {
	if c.Epochs == 0 {
		c.Epochs = 30
	}
	c.Threads = threads()
	if !quiet {
		n := all.Movies()
		if s.Movies > 0 {
			n = min(n, s.Movies)
		}
		fmt.Fprintf(stderr, "%d users, %d ratings; the %d most rated of %d movies, each of them a target\n",
			all.Users(), all.Count(), n, all.Movies())
		show := newProgress(stderr, c.Epochs, "RMSE")
		defer show.end()
		c.OnEpoch = func(e train.Epoch) error {
			show.epoch(e)
			return nil
		}
	}
	return recommend.Train(ctx, all, s, c)
}

func threads() int { return runtime.GOMAXPROCS(0) }
