package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/serve"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/transport"
)

// attached says that a deployment is to be looked at.
func (c *ViewCommand) attached() bool {
	return c.where.keys != "" || c.where.config != "" || c.where.nats != ""
}

// attachWait is how long hosts are listened for before the page is shown.
const attachWait = 2500 * time.Millisecond

// Attach shows a deployment while it runs, until ctx ends.
func (c *ViewCommand) Attach(ctx context.Context) error {
	bus, urls, expected, err := c.where.source()
	switch {
	case err != nil:
		return err
	case urls != nil:
		return helpful{errors.New("view: boxes with direct links have no bus to listen on"), "wdgnn swarm status --config " + c.where.config}
	case bus.Run == "" || bus.URL == "":
		return usageError{"wdgnn view", errors.New("--nats needs --run, or --keys that know it")}
	}
	bus.Wait = attachWait
	heard, err := swarm.Listen(ctx, bus)
	if err != nil {
		return keys.Explain(err)
	}
	found := swarm.Standings(bus.Run, expected, heard)
	if len(found) == 0 {
		return helpful{errors.New("view: nobody reported"), "the same --run as in the agents' files, or the whole folder of wdgnn swarm keys"}
	}
	links, err := swarm.HeardHosts(bus.Keys)
	if err != nil {
		fmt.Fprintf(c.Stderr, "who hears whom is not drawn: %v\n", err)
	}
	a := swarm.Attach(bus.Run, found, links)
	hub, err := live.NewHub(a.Scene())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served, err := c.page.start(ctx, c.Stdout, serve.LiveConfig{Hub: hub})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- <-served
		cancel() // nobody can look any more
	}()
	err = swarm.Follow(ctx, bus, func(heard map[transport.HostID]swarm.Sighting) error {
		f, words := a.Take(heard)
		for _, w := range words {
			hub.Mark(w.Time, w.Mark, "%s", w.Text)
		}
		return hub.Publish(f)
	})
	hub.Close()
	cancel()
	return errors.Join(err, <-ended)
}
