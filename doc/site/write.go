package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/internal/livepage"
	"github.com/wdgnn/wdgnn/modelfile"
)

//go:embed static
var static embed.FS

// policy is what a browser may load for the page: files of the site and nothing
// else, WebAssembly among them.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; " +
	"img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'"

// write puts everything into the folder:
//
//	index.html, page.json, page/   the live page, told to run the demo itself
//	demo/                          the worker, the program and its model
func (s *site) write(ctx context.Context) error {
	files := map[string][]byte{}
	if err := errors.Join(addPage(files), addStatic(files), addProgram(ctx, files)); err != nil {
		return err
	}
	model, err := s.trained(ctx)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := modelfile.Encode(&file, model); err != nil {
		return err
	}
	files["demo/model.safetensors"] = file.Bytes()
	total := 0
	for name, text := range files {
		to := filepath.Join(s.out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
		total += compressed(text)
	}
	_, err = fmt.Fprintf(s.log, "%s: the demo has %.1f MB compressed; hand the folder out with any web server, such as\n"+
		"  python3 -m http.server -d %s\n", s.out, float64(total)/1e6, s.out)
	return err
}

// addPage adds the live page with what a static one needs beside.
func addPage(files map[string][]byte) error {
	page := livepage.Files()
	err := fs.WalkDir(page, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files["page/"+name], err = fs.ReadFile(page, name)
		return err
	})
	if err != nil {
		return err
	}
	index := string(files["page/index.html"])
	delete(files, "page/index.html")
	for _, part := range []struct{ before, text string }{
		{`<meta name="viewport"`, `<meta http-equiv="Content-Security-Policy" content="` + policy + "\">\n"},
		{`<script type="module"`, "<link rel=\"modulepreload\" href=\"page/local.js\">\n<script src=\"demo/disk.js\" defer></script>\n"},
		{`<p id="status"`, "<a href=\"doc/index.html\">Documents</a>\n  "},
	} {
		if strings.Count(index, part.before) != 1 {
			return fmt.Errorf("index.html: got %d times %q, want it once", strings.Count(index, part.before), part.before)
		}
		index = strings.Replace(index, part.before, part.text+part.before, 1)
	}
	files["index.html"] = []byte(index)
	files["page.json"] = []byte(`{"mode":"browser","control":true,"tables":false}` + "\n")
	return nil
}

// addStatic adds the scripts around the program.
func addStatic(files map[string][]byte) error {
	return fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files["demo/"+path.Base(name)], err = fs.ReadFile(static, name)
		return err
	})
}

// addProgram compiles the demo, and adds the script of the Go distribution that
// runs it.
func addProgram(ctx context.Context, files map[string][]byte) error {
	root, err := goCommand(ctx, "env", "GOROOT")
	if err != nil {
		return err
	}
	script := filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js")
	if files["demo/wasm_exec.js"], err = os.ReadFile(script); err != nil {
		return fmt.Errorf("the Go distribution has no %w", err)
	}
	work, err := os.MkdirTemp("", "wdgnn-site")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	program := filepath.Join(work, "demo.wasm")
	if _, err := goCommand(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program,
		"github.com/wdgnn/wdgnn/doc/site/worker"); err != nil {
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	files["demo/demo.wasm.gz"] = zip(text)
	return nil
}

// goCommand runs the go command for WebAssembly and returns what it prints.
func goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	var problem strings.Builder
	cmd.Stderr = &problem
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, problem.String())
	}
	return string(text), nil
}

// zip compresses as well as it can; the same text gives the same bytes.
func zip(text []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // the level is one, and memory takes everything
	}
	return b.Bytes()
}

// compressed returns how many bytes travel where a server compresses.
func compressed(text []byte) int { return min(len(zip(text)), len(text)) }
