package main

import (
	"context"
	"fmt"
	"os"

	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/rule"
)

// demoProcesses is how many processes the demo starts.
const demoProcesses = 5

// Agents runs the demo without a centre: nodes are agents in processes of their
// own.
func (c *DemoCommand) Agents(ctx context.Context) error {
	task := swarmTask{name: "sourceloc", seed: c.seed, preset: rule.DefaultPreset, steps: 1000, drop: 0.3}
	work, err := task.prepare(ctx, c.Stderr, "")
	if err != nil {
		return during("demo", err)
	}
	dir, remove, err := workFolder("")
	if err != nil {
		return during("demo", err)
	}
	defer remove()
	program, err := os.Executable()
	if err != nil {
		return during("demo", err)
	}
	view := newSwarmView(c.Stderr)
	fmt.Fprintf(c.Stderr, "%d processes run 50 nodes and hear each other over NATS; 30 %% of the links are lost\n", demoProcesses)
	result, err := swarm.Up(ctx, swarm.Options{
		Task: work, Run: "demo", Hosts: demoProcesses, Program: []string{program, "agent"}, Dir: dir, Verify: true, Watch: view.show,
	})
	view.end()
	if err != nil {
		return during("demo", err)
	}
	if c.json {
		return writeJSON(c.Stdout, result)
	}
	return printSwarm(c.Stdout, result)
}
