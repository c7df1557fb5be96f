package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/transport"
)

// SwarmStatusCommand says how agents are doing.
type SwarmStatusCommand struct {
	Stdout, Stderr io.Writer

	nats, run, keys, config string
	wait                    time.Duration
	json                    bool

	silent int // agents that did not answer, of whom only the address is known
}

func (c *SwarmStatusCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status DIR | URL... | --keys DIR | --config FILE | --nats URL --run NAME",
		Short: "How agents are doing",
		Long: `Asks for the latest report of every host and says who is behind, silent, refused,
gated, whose sensors are broken, how old checkpoints are and how long
certificates are valid. Hosts that should be there and say nothing are named.

  DIR             of wdgnn swarm up --out, on this machine
  URL...          the metrics addresses of agents, http://box-3:9100 or box-3:9100
  --keys          folder of wdgnn swarm keys: listens on the bus for --wait, with
                  the observer's key, at port 4222 of the servers that the keys
                  are for, or at --nats
  --config        configuration of any host: its bus, or for direct links the
                  metrics of every host as it names them, else at the port of
                  its own
  --nats, --run   a server without keys

The exit code is 0 if all hosts are well, and 1 if something is wrong.`,
		Example: `  wdgnn swarm status swarm
  wdgnn swarm status http://127.0.0.1:9100 http://127.0.0.1:9101
  wdgnn swarm status --keys keys
  wdgnn swarm status --nats tls://box-1:4222 --run field --keys observer`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			known := c.keys != "" || c.config != "" || c.nats != "" && c.run != "" // where to listen
			if (len(args) == 0) != known || len(args) > 0 && c.nats != "" {
				return usageError{cmd.CommandPath(), fmt.Errorf("name a folder, metrics addresses, --keys, --config, or --nats with --run")}
			}
			return during("swarm status", c.Run(cmd.Context(), args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.nats, "nats", "", "address of a NATS server of the deployment")
	f.StringVar(&c.run, "run", "", "name of the run; nothing means that of the keys")
	f.StringVar(&c.keys, "keys", "", "folder of wdgnn swarm keys, or the observer's part of it")
	f.StringVar(&c.config, "config", "", "configuration of any host: run, hosts, bus")
	f.DurationVar(&c.wait, "wait", 2500*time.Millisecond, "how long to listen on the bus; agents report every second")
	f.BoolVar(&c.json, "json", false, "print the reports, and what is wrong, as one JSON array")
	return cmd
}

// Run prints how hosts are, and fails if one is not well.
func (c *SwarmStatusCommand) Run(ctx context.Context, args []string) error {
	list, err := c.collect(ctx, args)
	if err != nil {
		return err
	}
	if len(list) == 0 && !c.json {
		return helpful{fmt.Errorf("nobody reported"), "a longer --wait, and the same --run as in the agents' files"}
	}
	if c.json {
		err = writeJSON(c.Stdout, list)
	} else {
		err = c.print(list)
	}
	if n := swarm.Wrong(list) + c.silent; err == nil && n > 0 {
		err = fmt.Errorf("not well: %d of %s", n, grid.Count(len(list)+c.silent, "host"))
	}
	return err
}

// print prints how hosts are, close together where a terminal is narrow.
func (c *SwarmStatusCommand) print(list []swarm.Standing) error {
	header, rows, notes := swarm.StandingTable(list)
	gap, wide := 2, columns(c.Stdout)
	if wide > 0 && wide < 90 {
		gap = 1
	}
	table, _ := grid.Lines(header, rows, gap, wide)
	out := lines{w: c.Stdout}
	for _, line := range append(table, notes...) {
		out.printf("%s\n", line)
	}
	return out.err
}

// collect returns how every host is that spoke or should have.
func (c *SwarmStatusCommand) collect(ctx context.Context, args []string) ([]swarm.Standing, error) {
	for k, arg := range args { // the scheme may be left out
		if _, port, err := net.SplitHostPort(arg); err == nil && port != "" && !strings.Contains(arg, "/") {
			args[k] = "http://" + arg
		}
	}
	if len(args) == 1 && !strings.Contains(args[0], "://") {
		v, err := swarm.ReadStatus(args[0])
		result := filepath.Join(args[0], swarmResult)
		_, unfinished := os.Stat(result)
		if errors.Is(err, fs.ErrNotExist) && unfinished == nil {
			return nil, helpful{fmt.Errorf("the swarm in %s ended before its hosts reported", args[0]), result + ", which says how it went"}
		}
		if err != nil {
			return nil, helpful{err, "the folder of wdgnn swarm up --out, while it runs or after"}
		}
		heard := map[transport.HostID]swarm.Sighting{}
		for _, r := range v.Reports {
			r.Final = r.Final || unfinished == nil // what is behind when all has ended stays so
			heard[r.Host] = swarm.Sighting{First: r, Last: r}
		}
		return swarm.Standings(c.run, nil, heard), nil
	}
	if len(args) > 0 {
		return c.ask(ctx, args, nil)
	}
	bus, urls, expected, err := c.source()
	switch {
	case err != nil:
		return nil, err
	case urls != nil:
		return c.ask(ctx, urls, expected)
	}
	heard, err := swarm.Listen(ctx, bus)
	if err != nil {
		return nil, keys.Explain(err)
	}
	return swarm.Standings(c.run, expected, heard), nil
}

// source returns where hosts report: on a bus, or for direct links at metrics
// addresses; and who should.
func (c *SwarmStatusCommand) source() (bus swarm.ReportSource, urls []string, expected []transport.HostID, err error) {
	if c.config != "" {
		config, err := readBox(c.config, box.Read)
		if err != nil {
			return bus, nil, nil, err
		}
		expected = slices.Sorted(maps.Keys(config.Hosts))
		c.run = cmp.Or(c.run, config.Run)
		if config.Bus.Kind != box.BusNATS {
			urls, err := metricsOf(config)
			return bus, urls, expected, err
		}
		c.nats = cmp.Or(c.nats, config.Bus.URL)
	}
	if c.keys != "" {
		run, hosts, err := swarm.ExpectedHosts(c.keys)
		switch {
		case err == nil:
			c.run = cmp.Or(c.run, run)
			if expected == nil {
				expected = hosts
			}
			c.nats = cmp.Or(c.nats, keys.ServerURL(c.keys))
		case c.run == "" || c.nats == "":
			return bus, nil, nil, helpful{err, "the whole folder of wdgnn swarm keys, or --nats and --run beside the observer's part of it"}
		}
	}
	return swarm.ReportSource{URL: c.nats, Run: c.run, Keys: c.keys, Party: keys.Observer, Wait: c.wait}, nil, expected, nil
}

// metricsOf returns where the agents of a deployment with direct links serve metrics:
// where the configuration says so of each, otherwise at the port of the one whose file
// it is.
func metricsOf(config *box.Config) ([]string, error) {
	var urls []string
	whose := map[string]transport.HostID{}
	for _, id := range slices.Sorted(maps.Keys(config.Hosts)) {
		at, err := metricsAt(config.Hosts[id], config.Metrics)
		if err != nil {
			return nil, fmt.Errorf("host %d: %w", id, err)
		}
		if other, taken := whose[at]; taken {
			return nil, helpful{
				fmt.Errorf("hosts %d and %d would both serve metrics at %s", other, id, at),
				`say where each does, hosts: {0: {…, metrics: "127.0.0.1:9100"}, 1: …}, or name the addresses`,
			}
		}
		whose[at] = id
		urls = append(urls, "http://"+at)
	}
	return urls, nil
}

// metricsAt returns where one agent serves metrics. A place such as 0.0.0.0 is that of
// its links.
func metricsAt(p box.Peer, usual string) (string, error) {
	place, port, err := net.SplitHostPort(p.Metrics)
	if p.Metrics == "" {
		if _, port, err = net.SplitHostPort(usual); err != nil {
			return "", errors.New("the configuration has no metrics address, and without a server nobody else knows; name those of the agents")
		}
	}
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(place); place == "" || ip != nil && ip.IsUnspecified() {
		if place, _, err = net.SplitHostPort(p.Address); err != nil {
			return "", err
		}
	}
	return net.JoinHostPort(place, port), nil
}

// askAgain is the time between two questions to an agent, which tell how fast it is.
const askAgain = 1200 * time.Millisecond

// ask asks agents by their metrics addresses. Who does not answer is among those who
// were expected, or named by its address.
func (c *SwarmStatusCommand) ask(ctx context.Context, urls []string, expected []transport.HostID) ([]swarm.Standing, error) {
	heard := map[transport.HostID]swarm.Sighting{}
	var silent []error
	began := time.Now()
	for round := range 2 {
		silent = nil
		reports := make([]*host.Report, len(urls))
		errs := make([]error, len(urls))
		var asking sync.WaitGroup
		for k, url := range urls {
			asking.Go(func() { reports[k], errs[k] = fetchReport(ctx, url) })
		}
		asking.Wait()
		for k, r := range reports {
			if errs[k] != nil {
				silent = append(silent, errs[k])
				continue
			}
			s := heard[r.Host]
			if s.First == nil {
				s.First = r
			}
			s.Last, s.Between = r, time.Since(began)
			heard[r.Host] = s
		}
		urls = withJoined(urls, heard)
		if round == 0 && len(heard) > 1 {
			select {
			case <-time.After(askAgain):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		} else {
			break
		}
	}
	list := swarm.Standings(c.run, expected, heard)
	if expected == nil && len(silent) > 0 {
		if len(heard) == 0 {
			return nil, helpful{errors.Join(silent...), "the metrics address of an agent, such as http://127.0.0.1:9100"}
		}
		for _, err := range silent {
			fmt.Fprintf(c.Stderr, "wdgnn: %v\n", err)
		}
		c.silent = len(silent)
	}
	return list, nil
}

// withJoined returns metrics addresses with those of hosts that joined, by what the
// others say of where they are: at the port at which the first serves metrics. The
// address of a host that spoke stays where it is.
func withJoined(urls []string, heard map[transport.HostID]swarm.Sighting) []string {
	first, err := url.Parse(urls[0])
	if err != nil {
		return urls
	}
	more := slices.Clone(urls)
	for _, id := range slices.Sorted(maps.Keys(heard)) {
		for _, j := range heard[id].Last.Joined {
			name, _, err := net.SplitHostPort(j.Address)
			if _, spoke := heard[j.Host]; spoke || err != nil || first.Port() == "" {
				continue
			}
			if at := "http://" + net.JoinHostPort(name, first.Port()); !slices.Contains(more, at) {
				more = append(more, at)
			}
		}
	}
	return more
}

// fetchReport asks one agent.
func fetchReport(ctx context.Context, url string) (*host.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/status", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	var r host.Report
	if err := json.NewDecoder(io.LimitReader(response.Body, 64<<20)).Decode(&r); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return &r, nil
}
