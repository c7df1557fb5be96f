package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// newBrowser starts the system's Chromium.
func newBrowser(ctx context.Context) (context.Context, func(), error) {
	options := chromedp.DefaultExecAllocatorOptions[:]
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(ctx, options...)
	browser, _ := chromedp.NewContext(allocator)
	if err := chromedp.Do(browser); err != nil {
		stop()
		return nil, nil, err
	}
	return browser, stop, nil
}

// picture is what to take.
type picture struct {
	name          string
	width, height int64
	scheme        string   // light or dark
	steps         []string // conditions to wait for, and scripts that begin with "do "
}

// shoots takes several pictures of a page.
func (s *studio) shoots(url string, pictures []picture) error {
	for _, p := range pictures {
		if err := s.shoot(url, p); err != nil {
			return err
		}
	}
	return nil
}

// shoot opens a page, follows the steps and takes the picture.
func (s *studio) shoot(url string, p picture) error {
	tab, cancel := chromedp.NewContext(s.browser)
	defer cancel()
	if err := chromedp.Do(tab, chromedp.EmulateViewport(p.width, p.height)); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(tab, 5*time.Minute)
	defer stop()
	scheme := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: p.scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, scheme); err != nil {
		return err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		return err
	}
	for _, step := range p.steps {
		script, act := strings.CutPrefix(step, "do ")
		if !act {
			script = fmt.Sprintf(`new Promise(done => {
				const look = () => {
					let v; try { v = %s; } catch {}
					if (v) done(true); else setTimeout(look, 50);
				};
				look();
			})`, step)
		}
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](script, chromedp.EvalAwaitPromise)); err != nil {
			return fmt.Errorf("%s: %s: %w", p.name, step, err)
		}
	}
	image, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	if image, err = shrink(image); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	fmt.Printf("%s.png: %d×%d, %d bytes\n", p.name, p.width, p.height, len(image))
	return os.WriteFile(filepath.Join(s.out, p.name+".png"), image, 0o644)
}
