package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce"
)

// pageAddress is where pages are unless a flag says otherwise.
const pageAddress = "127.0.0.1:8089"

// pageArguments joins an address that stands behind --page with it, as that was the way to
// say where a page is before there was --addr.
func pageArguments(args []string) []string {
	var joined []string
	for i := 0; i < len(args); i++ {
		if i+1 < len(args) && args[i] == "--page" {
			if _, port, err := net.SplitHostPort(args[i+1]); err == nil && port != "" {
				joined = append(joined, args[i]+"="+args[i+1])
				i++
				continue
			}
		}
		joined = append(joined, args[i])
	}
	return joined
}

// page is the live page of a command.
type page struct {
	wanted    bool
	address   string
	tokenFile string
	control   bool
	results   string
	shown     *live.Results
}

// flags adds what every command with a page has.
func (p *page) flags(f *pflag.FlagSet) {
	p.access(f)
	f.StringVar(&p.results, "results", defaultResults, "folder of wdgnn reproduce, whose tables the page shows too")
}

// pageFlag adds --page and --addr. Of the commands that have them, a page is not all
// that they do.
func (p *page) pageFlag(cmd *cobra.Command, what string) {
	p.address = pageAddress
	f := cmd.Flags()
	f.Var((*pageValue)(p), "page", what)
	f.Lookup("page").NoOptDefVal = "true"
	f.StringVar(&p.address, "addr", pageAddress, "with --page: `address` of it, such as 127.0.0.1:9000; port 0 is any that is free")
}

// pageValue is --page, which stands alone, or with an address as before there was --addr.
type pageValue page

func (v *pageValue) String() string { return "" }
func (v *pageValue) Type() string   { return "bool" }

func (v *pageValue) Set(text string) error {
	if wanted, err := strconv.ParseBool(text); err == nil {
		v.wanted = wanted
		return nil
	}
	if err := checkAddress("--page", text); err != nil {
		return err
	}
	v.wanted, v.address = true, text
	return nil
}

// checkAddress refuses what is no place to listen at.
func checkAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "" {
		return fmt.Errorf("%s is %q, want an address and a port such as 127.0.0.1:9000", flag, address)
	}
	return nil
}

// settle refuses flags of a page where none is wanted, and before any work addresses where
// there cannot be one.
func (p *page) settle(cmd *cobra.Command, more ...string) error {
	if p.wanted {
		return p.try(cmd)
	}
	for _, name := range append([]string{"addr", "token-file", "allow-control"}, more...) {
		if cmd.Flags().Changed(name) {
			return usageError{cmd.CommandPath(), fmt.Errorf("--%s is about a page: add --page", name)}
		}
	}
	return nil
}

// try opens the address of the page and closes it again.
func (p *page) try(cmd *cobra.Command) error {
	token, err := readToken(p.tokenFile)
	if err != nil {
		return during(cmd.Name(), err)
	}
	l, err := listen(cmd.Context(), p.address, token)
	if err != nil {
		return during(cmd.Name(), err)
	}
	return l.Close()
}

// access adds the flags that say who may look at a page, and who may touch it.
func (p *page) access(f *pflag.FlagSet) {
	f.StringVar(&p.tokenFile, "token-file", "",
		"file with the token that the page asks for; an address that other machines can reach needs one")
	f.BoolVar(&p.control, "allow-control", false, "let other machines control the run, not only look at it")
}

const defaultResults = "reproduce"

// listen opens an address for a server that asks for the token, if there is
// one.
func listen(ctx context.Context, address, token string) (net.Listener, error) {
	l, err := liveweb.Listen(ctx, address, token != "")
	if errors.Is(err, liveweb.ErrNeedsToken) {
		return nil, helpful{
			err,
			"--addr 127.0.0.1:0, or a token: head -c 24 /dev/urandom | base64 > token && chmod 600 token, and --token-file token",
		}
	}
	if err != nil {
		return nil, helpful{err, "another --addr; port 0 is any that is free"}
	}
	return l, nil
}

// start opens the address and begins to serve until ctx ends. It prints where
// the page is. The caller receives the outcome from the channel.
func (p *page) start(ctx context.Context, out io.Writer, c liveweb.LiveConfig) (<-chan error, error) {
	token, err := readToken(p.tokenFile)
	if err != nil {
		return nil, err
	}
	l, err := listen(ctx, p.address, token)
	if err != nil {
		return nil, err
	}
	if c.Results, err = p.open(); err != nil {
		l.Close()
		return nil, err
	}
	c.Token = token
	address, _ := l.Addr().(*net.TCPAddr)
	c.Control = c.Control && (p.control || address != nil && address.IP.IsLoopback())
	where := "http://" + l.Addr().String() + "/"
	if token != "" {
		where += "#token=…, with the token of " + p.tokenFile
	}
	fmt.Fprintf(out, "The page is at %s\n", where)
	ended := make(chan error, 1)
	go func() {
		ended <- liveweb.NewLive(c).Serve(ctx, l)
		if c.Results != nil {
			c.Results.Close()
		}
	}()
	return ended, nil
}

// open opens the folder of results. The usual one need not be there, nor hold any.
func (p *page) open() (*live.Results, error) {
	if p.shown != nil {
		return p.shown, nil
	}
	if p.results == "" {
		return nil, nil
	}
	if p.results == defaultResults {
		return tablesIn(p.results), nil
	}
	return openTables(p.results)
}

// openTables opens a folder of results, which have the titles of their experiments.
func openTables(dir string) (*live.Results, error) {
	r, err := live.OpenResults(dir)
	if err != nil {
		return nil, err
	}
	r.Titles = map[string]string{}
	for _, e := range reproduce.Experiments() {
		r.Titles[e.Name] = e.Title
	}
	return r, nil
}

// tablesIn returns the results in a folder, nil if there are none.
func tablesIn(dir string) *live.Results {
	r, err := openTables(dir)
	if err != nil {
		return nil
	}
	if list, err := r.List(); err != nil || len(list) == 0 {
		r.Close()
		return nil
	}
	return r
}
