package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The page and its figures are what the raw results say.
func TestResultsAreCurrent(t *testing.T) {
	files, err := report("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 2 {
		t.Fatal("there are no raw results")
	}
	for name, want := range files {
		if runtime.GOARCH != "amd64" && filepath.Ext(name) == ".svg" {
			continue // the last digit of a coordinate depends on fused multiply-adds
		}
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("doc/%s is not what the raw results give; run go run ./doc/report", name)
		}
	}
}
