//go:build linux

// Command soak deploys boxes as users do and breaks them: processes of wdgnn and
// wdgnn-agent with files, keys and folders of their own, each of which hears a
// feeder of its own that speaks by the clock and waits for nobody. What goes wrong
// is drawn from a seed: boxes are killed and stand still, the server is stopped and
// started again, cables are pulled, disks fill up.
//
//	go run ./bench/soak --program bin/wdgnn --agent bin/wdgnn-agent --runs 100 --out soak.json
//	go run ./bench/soak --program bin/wdgnn --agent bin/wdgnn-agent --hours 1 --out soak.json
//	go run ./bench/soak --program bin/wdgnn --agent bin/wdgnn-agent --older old/wdgnn --out soak.json
//	go run ./bench/soak --add soak.json --out bench/soak/results.json --page bench/soak/results.md
//
// With --runs each fault has a deployment of its own, over NATS and over direct
// links in turn. With --hours there is one of each, side by side, and faults follow
// each other for so long. With --older boxes are upgraded one by one, and back. A
// result is kept as it grows, in --out beside what is there of other kinds, so that
// Ctrl-C loses nothing; --page writes a page from it.
//
// After each fault it is measured how long it takes until all boxes are together
// again, see [yard.apart], and every line that was written is accounted for: it was
// answered, or a counter of its box says why not, or the process died with it.
package main
