//go:build linux

// Command soak deploys boxes as users do: processes of wdgnn and wdgnn-agent with
// files, keys and folders of their own, each of which hears a feeder of its own that
// speaks by the clock and waits for nobody. Every line that was written is accounted
// for: it was answered, or a counter of its box says why not, or the process died
// with it.
package main
