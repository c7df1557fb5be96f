package box_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
)

// line returns what the world says at a step of the fixture, to the given nodes.
func (f *fixture) line(step int, own ...int) string {
	l := host.Line{Time: uint64(step)}
	for _, i := range own {
		n := host.NodeLine{Node: agent.NodeID(i), Row: f.signals[(step*nodes+i)*features : (step*nodes+i+1)*features]}
		if label := f.labels[step*nodes+i]; label >= 0 {
			n.Target = []float32{float32(label)}
		}
		list := []host.Link{}
		col, _ := f.graphs[step].Adjacency().Row(i)
		for _, j := range col {
			list = append(list, host.Link{Node: agent.NodeID(j), Weight: 1})
		}
		n.Links = &list
		l.Nodes = append(l.Nodes, n)
	}
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func everybody() (list []int) {
	for i := range nodes {
		list = append(list, i)
	}
	return list
}

// spoken is one line that a box writes.
type spoken struct {
	host.Answer
	Report *host.Report `json:"report"`
}

// console is a box that runs with pipes for stdin and stdout.
type console struct {
	t    *testing.T
	in   *io.PipeWriter
	out  chan spoken
	done chan error
	stop context.CancelFunc
}

func open(t *testing.T, c *box.Config) *console {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	k := &console{t: t, in: inW, out: make(chan spoken, 1000), done: make(chan error, 1), stop: stop}
	go func() {
		k.done <- box.Run(ctx, c, box.Streams{In: inR, Out: outW})
		outW.Close()
	}()
	go func() {
		defer close(k.out)
		for s := bufio.NewScanner(outR); s.Scan(); {
			var line spoken
			if err := json.Unmarshal(s.Bytes(), &line); err != nil {
				t.Errorf("line %q: %v", s.Bytes(), err)
			}
			k.out <- line
		}
	}()
	t.Cleanup(func() { stop(); inW.Close(); outR.Close() })
	return k
}

// say tells the box lines of its world.
func (k *console) say(lines ...string) {
	k.t.Helper()
	for _, l := range lines {
		_, err := io.WriteString(k.in, l+"\n")
		check(k.t, err)
	}
}

// hear returns the first line that is wanted.
func (k *console) hear(want func(*spoken) bool) *spoken {
	k.t.Helper()
	end := time.After(patience)
	for {
		select {
		case s, ok := <-k.out:
			if !ok {
				k.t.Fatal("the box ended, want another line")
			}
			if want(&s) {
				return &s
			}
		case <-end:
			k.t.Fatal("nothing of that kind was said")
		}
	}
}

// end returns how the box ended.
func (k *console) end() error {
	k.t.Helper()
	select {
	case err := <-k.done:
		return err
	case <-time.After(patience):
		k.t.Fatal("the box did not end")
		return nil
	}
}
