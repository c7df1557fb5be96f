//go:build linux

// Command soak deploys boxes as users do and breaks them: processes of wdgnn and
// wdgnn-agent with files, keys and folders of their own, each of which hears a
// feeder of its own that speaks by the clock and waits for nobody. What goes wrong
// is drawn from a seed: boxes are killed and stand still, the server is stopped and
// started again, cables are pulled, disks fill up.
//
//	go run ./bench/soak --program bin/wdgnn --agent bin/wdgnn-agent --runs 100 --out soak.json
//
// Each fault has a deployment of its own, over NATS and over direct links in turn.
// A result is kept as it grows, so that Ctrl-C loses nothing.
//
// After each fault it is measured how long it takes until all boxes are together
// again, see [yard.apart], and every line that was written is accounted for: it was
// answered, or a counter of its box says why not, or the process died with it.
package main
