package main

import (
	"net"
	"slices"
	"strings"
	"testing"
)

// An address behind --page is its value, with = or without; what is no address stays.
func TestPageArguments(t *testing.T) {
	for args, want := range map[string]string{
		"demo --page":                          "demo --page",
		"demo --page 127.0.0.1:9000":           "demo --page=127.0.0.1:9000",
		"demo --page :0 --seed 7":              "demo --page=:0 --seed 7",
		"demo --page=127.0.0.1:9000":           "demo --page=127.0.0.1:9000",
		"online --page m config.yaml":          "online --page m config.yaml",
		"demo --page --record box-1:9000":      "demo --page --record box-1:9000",
		"online --page [::1]:80 m config.yaml": "online --page=[::1]:80 m config.yaml",
	} {
		if got := pageArguments(strings.Fields(args)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: got %q, want %s", args, got, want)
		}
	}
}

// Where a page is, --addr says, as of every command that listens; --page with an address
// still does. Flags about a page that nobody asked for, and places where none can be, are
// refused before any work.
func TestPageFlags(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"demo --addr :9000", exitUsage, "--addr is about a page: add --page"},
		{"demo --record run", exitUsage, "--record is about a page: add --page"},
		{"online m c.yaml --speed 20", exitUsage, "--speed is about a page: add --page"},
		{"train c.yaml --page --addr 9000", exitUsage, `--addr is "9000", want an address and a port such as 127.0.0.1:9000`},
		{"swarm up --page --addr 127.0.0.1:99999", exitUsage, `--addr is "127.0.0.1:99999", want an address`},
		{"demo --page=9000", exitUsage, `--page is "9000", want nothing behind it`},
		{"swarm up --page --addr " + taken.Addr().String(), exitFailure, "Try: another --addr"},
		{"train c.yaml --page=0.0.0.0:0", exitFailure, "needs a token\nTry: --addr 127.0.0.1:0, or a token"},
	} {
		expect(t, c.args, c.code, c.want)
	}
	for _, args := range []string{"--page --addr 127.0.0.1:9000", "--page=127.0.0.1:9000", "--addr 127.0.0.1:9000 --page"} {
		c := &TrainCommand{}
		if err := c.command().ParseFlags(strings.Fields(args)); err != nil || !c.page.wanted || c.page.address != "127.0.0.1:9000" {
			t.Errorf("%s: got %v at %q and %v, want a page at 127.0.0.1:9000", args, c.page.wanted, c.page.address, err)
		}
	}
}
