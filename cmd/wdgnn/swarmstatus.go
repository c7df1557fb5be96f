package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/swarm"
)

// SwarmStatusCommand says how agents are doing.
type SwarmStatusCommand struct {
	Stdout, Stderr io.Writer

	nats, run, keys string
	wait            time.Duration
	json            bool
}

func (c *SwarmStatusCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status DIR | URL... | --nats URL --run NAME",
		Short: "How agents are doing",
		Long: `Asks for the latest report of every host:

  DIR             of wdgnn swarm up --dir, on this machine
  URL...          the metrics addresses of agents, http://box-3:9100
  --nats, --run   listens on the bus for --wait, with the observer's key of the
                  folder --keys`,
		Example: `  wdgnn swarm status swarm
  wdgnn swarm status http://127.0.0.1:9100 http://127.0.0.1:9101
  wdgnn swarm status --nats tls://box-1:4222 --run field --keys keys`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if (len(args) == 0) == (c.nats == "") || c.nats != "" && c.run == "" {
				return usageError{cmd.CommandPath(), fmt.Errorf("name a folder, metrics addresses, or --nats with --run")}
			}
			return during("swarm status", c.Run(cmd.Context(), args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.nats, "nats", "", "address of a NATS server of the deployment")
	f.StringVar(&c.run, "run", "", "name of the run")
	f.StringVar(&c.keys, "keys", "", "folder with the observer's key")
	f.DurationVar(&c.wait, "wait", 2500*time.Millisecond, "how long to listen on the bus; agents report every second")
	f.BoolVar(&c.json, "json", false, "print the reports as one JSON array")
	return cmd
}

// Run prints the reports.
func (c *SwarmStatusCommand) Run(ctx context.Context, args []string) error {
	reports, err := c.collect(ctx, args)
	if err != nil {
		return err
	}
	if c.json {
		return writeJSON(c.Stdout, reports)
	}
	if len(reports) == 0 {
		return helpful{fmt.Errorf("nobody reported"), "a longer --wait, and the same --run as in the agents' files"}
	}
	out := lines{w: c.Stdout}
	out.printf("%s", swarm.Table(reports, len(reports)))
	return out.err
}

// collect returns the latest report of every host.
func (c *SwarmStatusCommand) collect(ctx context.Context, args []string) ([]*host.Report, error) {
	switch {
	case c.nats != "":
		return swarm.CollectReports(ctx, swarm.ReportSource{URL: c.nats, Run: c.run, Keys: c.keys, Party: keys.Observer, Wait: c.wait})
	case len(args) == 1 && !strings.Contains(args[0], "://"):
		v, err := swarm.ReadStatus(args[0])
		if err != nil {
			return nil, helpful{err, "the folder of wdgnn swarm up --dir, while it runs or after"}
		}
		return v.Reports, nil
	}
	var reports []*host.Report
	for _, url := range args {
		r, err := fetchReport(ctx, url)
		if err != nil {
			return nil, helpful{err, "the metrics address of an agent, such as http://127.0.0.1:9100"}
		}
		reports = append(reports, r)
	}
	return reports, nil
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
