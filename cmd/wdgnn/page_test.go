package main

import (
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
