//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	program := flag.String("program", "", "`path` of wdgnn")
	bus := flag.String("bus", busNATS, "what connects boxes")
	dir := flag.String("dir", "yard", "folder for boxes and their logs")
	span := flag.Duration("for", time.Minute, "how long boxes run")
	flag.Parse()
	a, err := deployed(ctx, *program, *dir, setting{*bus, lockstep, 5, 10}, *span)
	fmt.Printf("%+v\n", a)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// deployed runs boxes for a while and accounts for their lines.
func deployed(ctx context.Context, program, dir string, s setting, span time.Duration) (a Account, err error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	f, err := newField(ctx, dir, []string{program}, []string{program, "agent"})
	if err != nil {
		return a, err
	}
	var n network = newProxies()
	if spaces, err := newSpaces(0, s.Boxes+1); err == nil {
		n = spaces
	}
	defer n.close()
	y, err := newYard(ctx, f, s, dir, n)
	if err != nil {
		return a, err
	}
	if err = y.start(ctx, 1); err == nil {
		<-ctx.Done()
	}
	a, ended := y.stop()
	return a, errors.Join(err, ended, y.clear())
}
