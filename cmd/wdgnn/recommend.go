package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
	"github.com/wdgnn/wdgnn/train"
)

// newRecommendCommand groups the commands about recommending.
func newRecommendCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recommend",
		Short: "Train the model that wdgnn serve recommends with, again with what it was told",
		Args:  onlyCommands,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand((&RecommendTrainCommand{}).command(), (&RecommendRatingsCommand{}).command())
	return cmd
}

// RecommendTrainCommand trains a recommender.
type RecommendTrainCommand struct {
	Stdout, Stderr io.Writer

	data, out      string
	ratings, items string
	scale          string
	setting        recommend.Setting
	counted        bool // --movies was given
	force          bool
	epochs         int
	quiet          bool
	json           bool
}

func (c *RecommendTrainCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train a model with every movie or item as target in turn, and test it",
		Long: `Trains one wide and deep graph neural network for all movies: every rating of
every training user is predicted from the user's other ratings. A tenth of the
users, drawn by --seed, only test: neither training nor the graph sees them.

Ratings are a folder of MovieLens (--data), or a CSV file of anything (--ratings):
lines user,item,rating[,time][,title], with or without a line that names the columns.
Ids are any text; the scale is any, from its least rating to its most.

Beside the model, its setting and its scores are written as JSON:
model.safetensors has model.json.`,
		Example: `  wdgnn recommend train --data data/ml-100k --out model.safetensors
  wdgnn recommend train --data movielens-1m --movies 0 --out all.safetensors
  wdgnn recommend train --ratings shop.csv --items titles.csv --scale 0..10
  wdgnn serve --data data/ml-100k --model model.safetensors`,
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
	f.StringVar(&c.out, "out", "model.safetensors", "file to write")
	forced(f, &c.force)
	f.IntVar(&c.setting.Movies, "movies", c.setting.Movies,
		"how many of the most rated movies or items the model knows, 0 for all, as with --ratings")
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
	if err := checkShop(c.data, c.ratings, c.items); err != nil {
		return usageError{"wdgnn recommend train", err}
	}
	if err := c.setting.Validate(); err != nil {
		return usageError{"wdgnn recommend train", err}
	}
	if c.epochs < 1 {
		return usageError{"wdgnn recommend train", fmt.Errorf("--epochs is %d, want at least 1", c.epochs)}
	}
	if err := kept(c.force, "another --out", c.out); err != nil {
		return during("recommend train", err)
	}
	shop, err := loadShop("recommend train", c.data, c.ratings, c.items)
	if err != nil {
		return err
	}
	setting, err := settingFor(c.setting, shop, c.scale, c.counted)
	if err != nil {
		return usageError{"wdgnn recommend train", err}
	}
	model, err := trainRecommender(ctx, shop, setting, recommend.TrainConfig{Epochs: c.epochs}, c.Stderr, c.quiet)
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
	w.printf("trained %s on %d ratings in %s\n",
		grid.Count(r.Epochs, "epoch"), r.Training, brief(time.Duration(r.Seconds*float64(time.Second))))
	w.printf("RMSE   %.4f on %d ratings of users who had no part in it; %.4f by user mean and %s offset alone\n",
		r.RMSE, r.Tested, r.MeanRMSE, shop.Word)
	w.printf("model  %s\n", c.out)
	return w.err
}

// trainRecommender trains and shows progress.
func trainRecommender(
	ctx context.Context, shop *dataset.Shop, s recommend.Setting, c recommend.TrainConfig, stderr io.Writer, quiet bool,
) (*recommend.Model, error) {
	if c.Epochs == 0 {
		c.Epochs = 30
	}
	c.Threads = threads()
	if !quiet {
		all := shop.Ratings
		n := all.Movies()
		if s.Movies > 0 {
			n = min(n, s.Movies)
		}
		fmt.Fprintf(stderr, "%d users, %d ratings; the %d most rated of %d %ss, each of them a target\n",
			all.Users(), all.Count(), n, all.Movies(), shop.Word)
		if shop.Replaced > 0 {
			fmt.Fprintf(stderr, "%s replaced by later ones of the same user and item\n", grid.Count(shop.Replaced, "rating"))
		}
		show := newProgress(stderr, c.Epochs, "RMSE")
		defer show.end()
		c.OnEpoch = func(e train.Epoch) error {
			show.epoch(e)
			return nil
		}
	}
	return recommend.TrainShop(ctx, shop, s, c)
}

func threads() int { return runtime.GOMAXPROCS(0) }
