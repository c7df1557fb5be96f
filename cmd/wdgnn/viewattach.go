package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/transport"
)

// attached says that a deployment is to be looked at.
func (c *ViewCommand) attached() bool {
	return c.urls != nil || c.where.keys != "" || c.where.config != "" || c.where.nats != ""
}

// attachWait is how long hosts are listened for before the page is shown.
const attachWait = 2500 * time.Millisecond

// reporting calls on with what hosts say, until stop.
type reporting = func(ctx context.Context, on func(*host.Report)) (stop func(), err error)

// find returns how the hosts of the deployment are, and where they go on to say so: on
// a bus, or for direct links at their metrics addresses.
func (c *ViewCommand) find(ctx context.Context) ([]swarm.Standing, reporting, error) {
	c.where.Stderr = c.Stderr
	if c.urls != nil {
		found, err := c.where.ask(ctx, c.urls, nil)
		return found, asked(c.urls), err
	}
	bus, urls, expected, err := c.where.source()
	switch {
	case err != nil:
		return nil, nil, err
	case urls != nil:
		found, err := c.where.ask(ctx, urls, expected)
		return found, asked(urls), err
	case bus.Run == "" || bus.URL == "":
		return nil, nil, usageError{"wdgnn view", errors.New("--nats needs --run, or --keys that know it")}
	}
	bus.Wait = attachWait
	heard, err := swarm.Listen(ctx, bus)
	return swarm.Standings(bus.Run, expected, heard), bus.Reports, keys.Explain(err)
}

// asked asks agents at their metrics addresses once a second.
func asked(urls []string) reporting {
	return func(ctx context.Context, on func(*host.Report)) (func(), error) {
		ctx, cancel := context.WithCancel(ctx)
		var asking sync.WaitGroup
		for _, url := range urls {
			asking.Go(func() {
				for ctx.Err() == nil {
					if r, err := fetchReport(ctx, url); err == nil {
						on(r)
					}
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
					}
				}
			})
		}
		return func() { cancel(); asking.Wait() }, nil
	}
}

// Attach shows a deployment while it runs, until ctx ends.
func (c *ViewCommand) Attach(ctx context.Context) error {
	found, reports, err := c.find(ctx)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return helpful{errors.New("view: nobody reported"), "the same --run as in the agents' files, or the whole folder of wdgnn swarm keys"}
	}
	a := swarm.Attach(cmp.Or(c.where.run, found[0].Run), found, c.links())
	hub, err := live.NewHub(a.Scene())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served, err := c.page.start(ctx, c.Stdout, liveweb.LiveConfig{Hub: hub})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- <-served
		cancel() // nobody can look any more
	}()
	err = swarm.Follow(ctx, reports, func(heard map[transport.HostID]swarm.Sighting) error {
		if a.Grow(heard, c.links) {
			if err := hub.Show(a.Scene()); err != nil {
				return err
			}
		}
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

// links returns who hears whom by the keys as they are now; none where they do not say.
func (c *ViewCommand) links() [][2]transport.HostID {
	if c.where.keys == "" {
		fmt.Fprintln(c.Stderr, "who hears whom is not drawn: the folder of wdgnn swarm keys says it, --keys")
		return nil
	}
	links, err := swarm.HeardHosts(c.where.keys)
	if err != nil {
		fmt.Fprintf(c.Stderr, "who hears whom is not drawn: %v\n", err)
	}
	return links
}
