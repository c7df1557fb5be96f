//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags, in the terms of the parts.
type options struct {
	program, agent, older []string
	runs, from, jobs      int
	span                  time.Duration
	seed                  uint64
	buses, paces          []string
	boxes                 int
	rate                  float64
	commit                string
	seconds               float64 // that faults last; 0 means as drawn
	only                  string  // kinds of faults with this in their names
	add                   []string
	dir, out, page        string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = o.run(ctx)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// parse reads the flags.
func parse(args []string) (*options, error) {
	o := new(options)
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	program := f.String("program", "", "`path` of wdgnn")
	agent := f.String("agent", "", "`path` of wdgnn-agent; left out, boxes run wdgnn agent")
	older := f.String("older", "", "`path` of an earlier wdgnn: upgrade boxes and server from it one by one, and back")
	buses := f.String("bus", "nats,tcp", "what connects boxes")
	paces := f.String("pace", lockstep+","+realTime+","+answered,
		"what a step waits for, as pace.mode of agent.yaml, or "+answered+": lockstep, and feeders wait for answers")
	hours := f.Float64("hours", 0, "how long faults follow each other")
	f.IntVar(&o.runs, "runs", 0, "how many deployments meet one fault each")
	f.IntVar(&o.from, "from", 0, "number of the first of them")
	f.IntVar(&o.jobs, "jobs", 1, "how many of them at a time")
	f.Uint64Var(&o.seed, "seed", 1, "what goes wrong, and when")
	f.IntVar(&o.boxes, "boxes", 5, "of each deployment")
	f.Float64Var(&o.rate, "rate", 10, "lines a second that a feeder says")
	f.StringVar(&o.commit, "commit", "", "what the programs were built from, for the page")
	f.Float64Var(&o.seconds, "seconds", 0, "how long each fault lasts; left out, as it is drawn")
	f.StringVar(&o.only, "only", "", "faults with this in their names alone")
	f.StringVar(&o.dir, "dir", "", "folder for boxes and their logs; left out, one that is removed")
	f.StringVar(&o.out, "out", "soak.json", "file for the result")
	add := f.String("add", "", "`files` with results, comma separated, that take the place of those of their kinds in --out")
	f.StringVar(&o.page, "page", "", "file for a page about the result")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.span = time.Duration(*hours * float64(time.Hour))
	if *add != "" {
		o.add = strings.Split(*add, ",")
	}
	o.buses, o.paces = strings.Split(*buses, ","), strings.Split(*paces, ",")
	for _, b := range o.buses {
		if b != busNATS && b != busTCP {
			return nil, fmt.Errorf("--bus %s, want nats, tcp or both", b)
		}
	}
	if o.jobs < 1 {
		return nil, fmt.Errorf("--jobs %d, want 1 or more", o.jobs)
	}
	if o.boxes < 3 || o.boxes > fieldNodes || o.rate <= 0 {
		return nil, fmt.Errorf("--boxes %d --rate %v, want 3 to %d boxes and a rate above 0", o.boxes, o.rate, fieldNodes)
	}
	for _, b := range o.buses {
		if len(kindsFor(b, true, o.only)) == 0 {
			return nil, fmt.Errorf("--only %q: there is no such fault over %s", o.only, b)
		}
	}
	if *program != "" {
		o.program, o.agent = []string{absolute(*program)}, []string{absolute(*program), "agent"}
	}
	if *agent != "" {
		o.agent = []string{absolute(*agent)}
	}
	if *older != "" {
		o.older = []string{absolute(*older)}
	}
	if o.program == nil && (o.runs > 0 || o.span > 0 || o.older != nil) {
		return nil, errors.New("--program PATH of wdgnn is missing; try go build -o bin/ ./cmd/wdgnn")
	}
	return o, nil
}

// absolute returns a path that holds in every folder.
func absolute(path string) string {
	if a, err := filepath.Abs(path); err == nil {
		return a
	}
	return path
}

// run does what the flags ask for.
func (o *options) run(ctx context.Context) error {
	r, err := load(o.out)
	if err != nil {
		return err
	}
	for _, path := range o.add {
		if err := r.add(path); err != nil {
			return err
		}
	}
	if o.runs > 0 || o.span > 0 || o.older != nil {
		if err := o.measure(ctx, r); err != nil {
			return err
		}
	}
	if o.page == "" {
		return r.verdict()
	}
	return errors.Join(r.save(o.out), r.write(o.page), r.verdict())
}

// measure deploys boxes and adds what came out to the result.
func (o *options) measure(ctx context.Context, r *Result) error {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "soak-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	f, err := newField(ctx, absolute(o.dir), o.program, o.agent)
	if err != nil {
		return err
	}
	meta := Meta{Program: version(f.agent), Commit: o.commit, Seed: o.seed, Network: "proxies", Began: time.Now().UTC().Format(time.RFC3339)}
	if n, err := newNetwork(0, 0); err == nil {
		if _, ok := n.(*spaces); ok {
			meta.Network = "namespaces"
		}
		n.close()
	}
	save := func() error { return r.save(o.out) }
	if o.older != nil {
		r.Upgrade = &Upgrade{Meta: meta, Older: version(o.older)}
		if err := upgrade(ctx, f, o, r.Upgrade, save); err != nil {
			return err
		}
	}
	if o.runs > 0 {
		r.Runs = &Runs{Meta: meta}
		err := runs(ctx, f, o, func(run *Run) error {
			r.Runs.List = append(r.Runs.List, run)
			slices.SortFunc(r.Runs.List, func(a, b *Run) int { return a.Number - b.Number })
			fmt.Println(run)
			return save()
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	if o.span > 0 && ctx.Err() == nil {
		r.Soak = &Soak{Meta: meta}
		return soak(ctx, f, o, r.Soak, save)
	}
	return nil
}

// version asks a program for its own.
func version(program []string) string {
	out, err := exec.Command(program[0], "version").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
