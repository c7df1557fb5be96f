package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
	"github.com/wdgnn/wdgnn/modelfile"
)

// RecommendRatingsCommand writes what a service was told as a file of ratings.
type RecommendRatingsCommand struct {
	Stdout io.Writer

	model, data, state string
	ratings, items     string
	out                string
	force              bool
}

func (c *RecommendRatingsCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ratings",
		Short: "Write all ratings that a service has as CSV, to train again with",
		Long: `Writes every rating that wdgnn serve has, those of its data and those that it was
told since, as a file for wdgnn recommend train --ratings: user,item,rating,title.
Users who were deleted are not in it, new items are.

The service must be stopped. A model that is trained with the file begins with a
--state of its own.`,
		Example: `  wdgnn recommend ratings --ratings shop.csv --model shop.safetensors --state shop-state --out today.csv
  wdgnn recommend train --ratings today.csv --scale 0..10 --out today.safetensors
  wdgnn serve --ratings today.csv --model today.safetensors --state today-state`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout = cmd.OutOrStdout()
			return c.Run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.data, "data", "", "folder of ratings that the service has")
	f.StringVar(&c.ratings, "ratings", "", "CSV file of ratings that the service has, in place of --data")
	f.StringVar(&c.items, "items", "", "CSV file of titles for --ratings: item,title")
	f.StringVar(&c.model, "model", "", "model that the service has (default model.safetensors in --state)")
	f.StringVar(&c.state, "state", "wdgnn-state", "folder of the service")
	f.StringVar(&c.out, "out", "ratings.csv", "file to write")
	forced(f, &c.force)
	return cmd
}

// Run writes the file.
func (c *RecommendRatingsCommand) Run(ctx context.Context) error {
	const name = "recommend ratings"
	if err := checkShop(c.data, c.ratings, c.items); err != nil {
		return usageError{"wdgnn " + name, err}
	}
	if err := kept(c.force, "another --out", c.out); err != nil {
		return during(name, err)
	}
	all, err := c.all(ctx, name)
	if err != nil {
		return err
	}
	if err := modelfile.WriteFile(c.out, func(w io.Writer) error { return writeSaid(w, all) }); err != nil {
		return helpful{during(name, err), tryFolder}
	}
	_, err = fmt.Fprintf(c.Stdout, "wrote %s, %s\n", c.out, grid.Count(len(all), "rating"))
	return err
}

// all returns what the service has.
func (c *RecommendRatingsCommand) all(ctx context.Context, name string) ([]recommend.Said, error) {
	shop, err := loadShop(name, c.data, c.ratings, c.items)
	if err != nil {
		return nil, err
	}
	if c.model == "" {
		c.model = filepath.Join(c.state, "model.safetensors")
	}
	model, err := recommend.Load(c.model)
	if err != nil {
		return nil, helpful{during(name, err), "--model, the model that the service has"}
	}
	if _, err := os.Stat(c.state); err != nil {
		return nil, helpful{during(name, err), "--state, the folder of the service"}
	}
	disk, err := journal.OpenDir(c.state)
	if err != nil {
		return nil, helpful{during(name, err), "stopping the service, which has the folder"}
	}
	defer disk.Close()
	service, err := recommend.OpenShop(model, shop, disk, recommend.Config{Rule: recommend.Paper(usualStep), Threads: threads()})
	if err != nil {
		return nil, helpful{during(name, err), "the files that the service has: --ratings or --data, --model and --state"}
	}
	all, err := service.All(ctx)
	return all, during(name, errors.Join(err, service.Close()))
}

// writeSaid writes ratings as recommend train reads them.
func writeSaid(w io.Writer, all []recommend.Said) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"user", "item", "rating", "title"}); err != nil {
		return err
	}
	for _, r := range all {
		if err := out.Write([]string{r.User, r.Item, strconv.FormatFloat(r.Rating, 'g', -1, 64), r.Title}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
