package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/transport"
)

const (
	lossyBoxes   = 5
	lossyPercent = 5  // of the packets
	lossyShare   = 20 // of the rate without, in %
)

var namespaces = Measurement{
	Name:  "namespaces",
	Title: "five boxes in network namespaces over direct links that lose packets; needs root",
	About: sourceAbout + fmt.Sprintf("; %d processes of 10 nodes, each in a network namespace of its own, over direct links with TLS "+
		"through a bridge; then the same while each drops %d %% of the packets that come in (nft)", lossyBoxes, lossyPercent),
	Wanted: fmt.Sprintf("%d %% of the rate without loss", lossyShare),
	Named:  true,
	run: func(ctx context.Context, b *Bench) error {
		y, err := newYard(lossyBoxes)
		if err != nil {
			return err
		}
		defer y.remove()
		o := swarm.Options{Hosts: lossyBoxes, Bus: box.BusTCP, Program: b.program(), Places: y.places()}
		before, err := b.source(ctx, o)
		if err != nil {
			return err
		}
		before.Measurement, before.Case = "namespaces", fmt.Sprintf("%d boxes, nothing lost", lossyBoxes)
		b.Found(before)
		if err := y.lose(lossyPercent); err != nil {
			return err
		}
		f, err := b.source(ctx, o)
		if err != nil {
			return err
		}
		f.Measurement, f.Case = "namespaces", fmt.Sprintf("%d %% of the packets lost", lossyPercent)
		f.goal(Goal{Name: "rate", Value: 100 * f.Rate / before.Rate, Unit: "% of that without loss", Wanted: lossyShare})
		b.Found(f)
		return nil
	},
}

// yard is network namespaces that stand for machines, joined by a bridge in one more.
type yard struct {
	name     string
	machines int
}

// newYard makes the namespaces.
func newYard(machines int) (*yard, error) {
	y := &yard{fmt.Sprintf("wdgnn-bench-%d", os.Getpid()), machines}
	var missing []error
	for _, program := range []string{"ip", "nft"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, err)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("network namespaces need the programs ip and nft (packages iproute2 and nftables): %w", errors.Join(missing...))
	}
	if err := y.ip("netns", "add", y.bridge()); err != nil {
		return nil, fmt.Errorf("there are no network namespaces here, which need root: %w", err)
	}
	if err := y.join(); err != nil {
		y.remove()
		return nil, err
	}
	return y, nil
}

func (y *yard) bridge() string       { return y.name + "-switch" }
func (y *yard) machine(k int) string { return fmt.Sprintf("%s-%d", y.name, k) }
func (y *yard) address(k int) string { return fmt.Sprintf("10.78.0.%d", k+1) }

// join plugs machines into the bridge.
func (y *yard) join() error {
	errs := []error{
		y.ip("-n", y.bridge(), "link", "add", "bridge", "type", "bridge"),
		y.ip("-n", y.bridge(), "link", "set", "bridge", "up"),
	}
	for k := range y.machines {
		m, port := y.machine(k), fmt.Sprintf("port%d", k)
		errs = append(errs,
			y.ip("netns", "add", m),
			y.ip("link", "add", "eth0", "netns", m, "type", "veth", "peer", "name", port, "netns", y.bridge()),
			y.ip("-n", y.bridge(), "link", "set", port, "master", "bridge", "up"),
			y.ip("-n", m, "addr", "add", y.address(k)+"/24", "dev", "eth0"),
			y.ip("-n", m, "link", "set", "eth0", "up"),
			y.ip("-n", m, "link", "set", "lo", "up"))
	}
	return errors.Join(errs...)
}

// lose has every machine drop a share of the packets that come in, in %.
func (y *yard) lose(percent int) error {
	var errs []error
	for k := range y.machines {
		for _, rule := range []string{
			"add table inet loss",
			"add chain inet loss in { type filter hook prerouting priority 0; }",
			fmt.Sprintf("add rule inet loss in iifname eth0 ip protocol tcp numgen random mod 100 < %d drop", percent),
		} {
			errs = append(errs, y.ip("netns", "exec", y.machine(k), "nft", rule))
		}
	}
	return errors.Join(errs...)
}

// places says where the boxes are.
func (y *yard) places() map[transport.HostID]swarm.Place {
	places := map[transport.HostID]swarm.Place{}
	for k := range y.machines {
		places[transport.HostID(k)] = swarm.Place{
			Address: y.address(k) + ":7411", Enter: []string{"ip", "netns", "exec", y.machine(k)},
		}
	}
	return places
}

// remove takes the namespaces away, with all that is in them.
func (y *yard) remove() {
	for k := range y.machines {
		_ = y.ip("netns", "del", y.machine(k)) // some may not have been made
	}
	_ = y.ip("netns", "del", y.bridge())
}

func (y *yard) ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
