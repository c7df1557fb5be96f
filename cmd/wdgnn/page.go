package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"

	"github.com/spf13/pflag"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/serve"
)

// pageAddress is where pages are unless a flag says otherwise.
const pageAddress = "127.0.0.1:8089"

// pageArguments joins an address that stands behind --page with it. The flag means a page
// alone too, so that it would take its value after = only, and few people know that.
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
	flag      string // that names the address
	address   string // empty means no page
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

// access adds the flags that say who may look at a page, and who may touch it.
func (p *page) access(f *pflag.FlagSet) {
	f.StringVar(&p.tokenFile, "token-file", "",
		"file with the token that the page asks for; an address that other machines can reach needs one")
	f.BoolVar(&p.control, "allow-control", false, "let other machines control the run, not only look at it")
}

const defaultResults = "reproduce"

// listen opens an address for a server that asks for the token, if there is
// one.
func listen(ctx context.Context, flag, address, token string) (net.Listener, error) {
	l, err := serve.Listen(ctx, address, token != "")
	if errors.Is(err, serve.ErrNeedsToken) {
		return nil, helpful{
			err,
			flag + "=127.0.0.1:0, or a token: head -c 24 /dev/urandom | base64 > token && chmod 600 token, and --token-file token",
		}
	}
	if err != nil {
		return nil, helpful{err, "another " + flag + "; port 0 is any that is free"}
	}
	return l, nil
}

// start opens the address and begins to serve until ctx ends. It prints where
// the page is. The caller receives the outcome from the channel.
func (p *page) start(ctx context.Context, out io.Writer, c serve.LiveConfig) (<-chan error, error) {
	token, err := readToken(p.tokenFile)
	if err != nil {
		return nil, err
	}
	l, err := listen(ctx, p.flag, p.address, token)
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
		ended <- serve.NewLive(c).Serve(ctx, l)
		if c.Results != nil {
			c.Results.Close()
		}
	}()
	return ended, nil
}

// open opens the folder of results. The usual one need not be there.
func (p *page) open() (*live.Results, error) {
	if p.shown != nil {
		return p.shown, nil
	}
	if p.results == "" {
		return nil, nil
	}
	r, err := live.OpenResults(p.results)
	if p.results == defaultResults && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return r, err
}
