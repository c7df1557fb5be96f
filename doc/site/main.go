// Command site writes the demo as a folder that any web server can hand out: the
// page, the program as WebAssembly and a model that was trained by the portable
// kernels, whose bits a browser has too.
//
//	go run ./doc/site -out site
//	go run ./doc/site -out site -model site/demo/model.safetensors
//
// The documents beside it are written by tools/pages; make site calls both.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/wdgnn/wdgnn/internal/demo"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

func main() {
	s := site{log: os.Stdout}
	flag.StringVar(&s.out, "out", "site", "folder to write; files in it are replaced")
	flag.StringVar(&s.model, "model", "", "model of an earlier site, instead of training one")
	flag.Uint64Var(&s.demo.Seed, "seed", 12, "root of every random stream; that of wdgnn demo unless told otherwise")
	flag.IntVar(&s.demo.Signals, "signals", 0, "signals to train on; 0 means as many as wdgnn demo")
	flag.IntVar(&s.demo.Epochs, "epochs", 0, "epochs of training; 0 means as many as wdgnn demo")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.write(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// kernels is the set whose bits WebAssembly has: plain Go, in which no product is
// fused with a sum.
const kernels = "portable"

// site is the folder and what goes into it.
type site struct {
	out   string
	model string // file; empty means that one is trained
	demo  demo.Demo
	log   io.Writer
}

// trained returns the model of the demo.
func (s *site) trained(ctx context.Context) (*modelfile.Model, error) {
	if s.model != "" {
		return modelfile.Load(s.model)
	}
	if err := mat.UseKernels(kernels); err != nil {
		return nil, err
	}
	d := s.demo
	d.OnEpoch = func(e train.Epoch) {
		if e.Index%10 == 0 {
			fmt.Fprintf(s.log, "epoch %d: %.1f %% of the validation signals are told right\n", e.Index, 100*(1-e.Score))
		}
	}
	fmt.Fprintf(s.log, "training with the %s kernels, for some minutes\n", kernels)
	return d.Train(ctx)
}
