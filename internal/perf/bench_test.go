package perf

import (
	"fmt"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
)

// BenchmarkTasks runs every task on one thread and on two. Nothing may be
// allocated per run unless the task says why.
func BenchmarkTasks(b *testing.B) {
	for _, task := range Tasks() {
		if task.Missing != "" {
			continue
		}
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", task.Name, threads), func(b *testing.B) {
				e := mat.NewEngine(threads)
				defer e.Close()
				run, extra, err := task.New(Env{Engine: e})
				if err != nil {
					b.Fatal(err)
				}
				run()
				b.ReportAllocs()
				for b.Loop() {
					run()
				}
				if flops, ok := extra["flops"].(float64); ok {
					b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				}
			})
		}
	}
}
