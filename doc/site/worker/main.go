//go:build js

// Command worker is the live demo as WebAssembly. It runs in a Web Worker, so that
// the page stays free to draw, and posts what a server would send: the scene, words
// and frames as JSON.
//
// static/worker.js loads it and gives it the object wdgnn:
//
//	wdgnn.model            the file of the model, a Uint8Array
//	wdgnn.send(kind, text) hands a message to the page
//	wdgnn.ready(f, g)      is told two functions: f(text) takes a command and returns
//	                       why it is refused, or ""; g() says that a frame was drawn
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall/js"

	"github.com/wdgnn/wdgnn/internal/demo"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/modelfile"
)

// framesHeld is how many frames wait for a page that is slow.
const framesHeld = 2

func main() {
	page := js.Global().Get("wdgnn")
	if err := run(context.Background(), page); err != nil {
		page.Call("send", "error", err.Error())
	}
}

// run shows the demo until ctx ends.
func run(ctx context.Context, page js.Value) error {
	model, err := read(page.Get("model"))
	if err != nil {
		return fmt.Errorf("the model: %w", err)
	}
	d, err := demo.Demo{Seed: model.Meta.Seed, Model: model}.Live()
	if err != nil {
		return err
	}
	sub, err := d.Hub().Subscribe(framesHeld)
	if err != nil {
		return err
	}
	drawn := make(chan struct{}, 1)
	command := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if err := obey(d.Hub(), args[0].String()); err != nil {
			return err.Error()
		}
		return ""
	})
	next := js.FuncOf(func(js.Value, []js.Value) any {
		select {
		case drawn <- struct{}{}:
		default:
		}
		return nil
	})
	page.Call("ready", command, next)
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx, nil) }()
	return errors.Join(post(ctx, page, sub, drawn), <-ran)
}

// read decodes the file of a model.
func read(bytesOf js.Value) (*modelfile.Model, error) {
	file := make([]byte, bytesOf.Length())
	js.CopyBytesToGo(file, bytesOf)
	return modelfile.Decode(bytes.NewReader(file), int64(len(file)))
}

// obey hands a command to the demo.
func obey(h *live.Hub, text string) error {
	var c live.Command
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	return h.Command(c)
}

// post hands messages to the page until the hub is closed. It waits for every frame
// to be drawn: a page that is slow loses frames, and memory does not grow.
func post(ctx context.Context, page js.Value, sub *live.Subscription, drawn <-chan struct{}) error {
	lost := int64(0)
	for {
		m, err := sub.Next(ctx)
		if errors.Is(err, live.ErrClosed) {
			page.Call("send", "end", "true")
			return nil
		}
		if err != nil {
			return err
		}
		page.Call("send", m.Kind, string(m.Text))
		if now := sub.Lost(); now != lost {
			lost = now
			page.Call("send", "lost", fmt.Sprint(lost))
		}
		if m.Kind != "frame" {
			continue
		}
		select {
		case <-drawn:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
