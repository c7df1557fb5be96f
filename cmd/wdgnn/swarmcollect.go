package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/modelfile"
)

// SwarmCollectCommand writes what agents learned into a model file.
type SwarmCollectCommand struct {
	Stdout, Stderr io.Writer

	model, out     string
	partial, force bool
	json           bool
}

func (c *SwarmCollectCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "collect FOLDER... --out FILE",
		Short: "Write what agents learned into a model file",
		Long: `Reads the checkpoints of boxes and writes what their nodes learned into a model
file, as wdgnn online would have left it: predict, eval, inspect and online take it,
and agents that begin with it go on from there.

A folder is that of state: in a box's agent.yaml, copied from the box or where it
is, one that holds several of these, or that of wdgnn swarm up --out. Nothing in it
is changed, and boxes may go on meanwhile; but they are then at different steps,
which is an error, as is a box whose folder is not there: stop them first, or say
--partial, which takes every node from where it is and leaves those that are missing
as the model has them.

The model is the file that the boxes began with, model: in agent.yaml; that of a
folder of wdgnn swarm up --out is in there.`,
		Example: `  wdgnn swarm up --model first/run/model.safetensors --config first/config.yaml --processes 5 --out field
  wdgnn swarm collect field --out adapted.safetensors
  wdgnn online adapted.safetensors first/config.yaml             go on in one process
  wdgnn swarm collect box-1/state box-2/state box-3/state --model model.safetensors --out adapted.safetensors
  wdgnn swarm collect box-1/state --partial --model model.safetensors --out adapted.safetensors`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			switch {
			case len(args) == 0:
				return usageError{cmd.CommandPath(), errors.New("name the folders of the boxes' checkpoints, or that of wdgnn swarm up --out")}
			case c.out == "":
				return usageError{cmd.CommandPath(), errors.New("--out FILE says where the model goes, such as adapted.safetensors")}
			}
			return during("swarm collect", c.Run(args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.model, "model", "", "model file that the boxes began with; that in a folder of wdgnn swarm up --out if left out")
	f.StringVar(&c.out, "out", "", "model file to write")
	f.BoolVar(&c.partial, "partial", false, "take what is there: nodes that are missing stay as the model has them, and steps may differ")
	forced(f, &c.force)
	f.BoolVar(&c.json, "json", false, "print what was gathered as one JSON object")
	return cmd
}

// Run gathers and writes.
func (c *SwarmCollectCommand) Run(folders []string) error {
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return helpful{
				fmt.Errorf("there is no folder %s", folder),
				"the folder of state: in a box's agent.yaml, or that of wdgnn swarm up --out",
			}
		}
	}
	model, err := c.begun(folders)
	if err != nil {
		return err
	}
	if sameFile(model, c.out) {
		return helpful{fmt.Errorf("%s is the model that the boxes began with", c.out), "another --out"}
	}
	if err := kept(c.force, "another --out", c.out); err != nil {
		return err
	}
	file, err := loadModel(model)
	if err != nil {
		return err
	}
	all, err := swarm.Collect(file, folders, c.partial, version())
	switch {
	case errors.Is(err, swarm.ErrPartial):
		return helpful{err, "the folders of all boxes, after they have ended, or --partial, which takes what is there"}
	case err != nil:
		return err
	}
	if err := modelfile.Save(c.out, all.Model); err != nil {
		return err
	}
	for _, w := range all.Warnings {
		fmt.Fprintf(c.Stderr, "warning: %s\n", w)
	}
	if c.json {
		return writeJSON(c.Stdout, all)
	}
	out := lines{w: c.Stdout}
	out.printf("learned  %s\nmodel    %s\n", all, c.out)
	return out.err
}

// begun returns the model that the boxes began with.
func (c *SwarmCollectCommand) begun(folders []string) (string, error) {
	if c.model != "" {
		return c.model, nil
	}
	if path := filepath.Join(folders[0], "model.safetensors"); len(folders) == 1 {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", helpful{
		errors.New("which model did the agents begin with?"),
		"--model FILE, the one of model: in their agent.yaml",
	}
}
