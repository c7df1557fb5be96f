package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// checker checks pages.
type checker struct {
	out          io.Writer
	bin, scratch string
	data         string
	limit        time.Duration
	write        bool

	ran, wrong, changed int
	skipped             []string // which and why
}

// check checks one page.
func (c *checker) check(ctx context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	steps, err := parse(lines)
	if err != nil {
		return fmt.Errorf("%s:%w", path, err)
	}
	if len(steps) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp(c.scratch, "page-")
	if err != nil {
		return err
	}
	s, err := start(dir, c.bin, c.limit)
	if err != nil {
		return err
	}
	defer s.close()
	changed := map[int][]string{} // what to write, by step
	for k, x := range steps {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case x.file != "":
			if err := os.WriteFile(filepath.Join(dir, x.file), []byte(x.content), 0o644); err != nil {
				return err
			}
			continue
		case x.skip == "" && x.needs != "":
			x.skip = c.provide(dir, x.needs)
		case x.checkout != "":
			for name := range strings.FieldsSeq(x.checkout) {
				if err := link(name, filepath.Join(dir, name)); err != nil {
					return fmt.Errorf("%s:%d: %w", path, x.line, err)
				}
			}
		}
		if x.skip != "" {
			c.skipped = append(c.skipped, fmt.Sprintf("%s:%d  %s: %s", path, x.line, firstLine(x.command), x.skip))
			continue
		}
		if got, ok := c.do(ctx, s, path, x); !ok && got != nil && c.write && len(x.want) > 0 {
			changed[k] = rewrite(x.want, got, x.loose)
			c.changed++
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return os.WriteFile(path, []byte(strings.Join(replaced(lines, steps, changed), "\n")), 0o644)
}

// provide puts what commands need where they look for it, a list with commas, and says why
// not if it is not there: a copy of a folder of examples, or a data set. Of a program it
// says whether it is there.
func (c *checker) provide(dir, names string) (why string) {
	for name := range strings.SplitSeq(names, ",") {
		var err error
		switch name = strings.TrimSpace(name); {
		case name == "mosquitto":
			_, err = exec.LookPath(name)
		case strings.HasPrefix(name, "examples/"):
			err = provideExample(dir, name)
		default:
			err = c.provideData(dir, name)
		}
		if err != nil {
			return err.Error()
		}
	}
	return ""
}

// provideExample copies a folder of examples, once.
func provideExample(dir, name string) error {
	to := filepath.Join(dir, filepath.Base(name))
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	if err := os.CopyFS(to, os.DirFS(name)); err != nil {
		return err
	}
	scripts, err := filepath.Glob(filepath.Join(to, "*.sh")) // a copy may not be executable
	for _, script := range scripts {
		err = errors.Join(err, os.Chmod(script, 0o755))
	}
	return err
}

// provideData links to a data set, once.
func (c *checker) provideData(dir, name string) error {
	from := filepath.Join(c.data, name)
	if _, err := os.Stat(from); err != nil {
		return fmt.Errorf("there is no %s in %s", name, c.data)
	}
	return link(from, filepath.Join(dir, "data", name))
}

// link makes a file or folder seen in another place, unless something is there.
func link(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	from, err := filepath.Abs(from)
	if err == nil {
		_, err = os.Stat(from)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.Symlink(from, to)
	}
	return err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// do runs a command and says whether it printed what is written. It returns what
// was printed, nil if that is worth nothing.
func (c *checker) do(ctx context.Context, s *shell, path string, x step) (got []string, ok bool) {
	command := strings.ReplaceAll(x.command, "go run ./cmd/wdgnn", "wdgnn")
	began := time.Now()
	var err error
	if service, cut := strings.CutSuffix(command, "&"); cut || x.serves {
		got = s.serve(ctx, service, func(got []string) bool {
			_, ok := match(x.want, got, x.loose)
			return ok
		})
	} else {
		got, err = s.do(ctx, command)
	}
	c.ran++
	missing, ok := match(x.want, got, x.loose)
	if len(x.want) == 0 {
		ok = true // nothing is said about what it prints
	}
	state := "ok  "
	if !ok || err != nil {
		state = "FAIL"
		c.wrong++
	}
	fmt.Fprintf(c.out, "%s %6.1f s  %s:%d  %s\n", state, time.Since(began).Seconds(), path, x.line, firstLine(x.command))
	switch {
	case err != nil:
		fmt.Fprintf(c.out, "     %v; it printed\n%s", err, quoted("   > ", got))
		return nil, false
	case !ok:
		fmt.Fprintf(c.out, "     what is written (-) is not what it printed (>)\n%s%s", quoted("   - ", missing.lines), quoted("   > ", got))
	}
	return got, ok
}

// quoted puts something before each line. Of many lines the middle is left out.
func quoted(before string, lines []string) string {
	const most = 60
	var b strings.Builder
	for k, line := range lines {
		if len(lines) > most && k == most/2 {
			fmt.Fprintf(&b, "%s(%d lines)\n", before, len(lines)-most)
		}
		if len(lines) <= most || k < most/2 || k >= len(lines)-most/2 {
			b.WriteString(before + line + "\n")
		}
	}
	return b.String()
}

// replaced returns the lines of a page with other words below some commands.
func replaced(lines []string, steps []step, changed map[int][]string) (out []string) {
	at := 0
	for k, x := range steps {
		text, is := changed[k]
		if !is {
			continue
		}
		out = append(out, lines[at:x.at]...)
		for _, line := range text {
			out = append(out, strings.TrimRight(x.indent+line, " "))
		}
		at = x.at + len(x.want)
	}
	return append(out, lines[at:]...)
}

// report says what was done and what was not.
func (c *checker) report() {
	fmt.Fprintf(c.out, "\n%d commands ran, %d are skipped:\n", c.ran, len(c.skipped))
	for _, s := range c.skipped {
		fmt.Fprintf(c.out, "  %s\n", s)
	}
	if c.wrong > 0 {
		fmt.Fprintf(c.out, "%d commands do not do what is written", c.wrong)
		if c.write {
			fmt.Fprintf(c.out, "; it was changed for %d of them", c.changed)
		}
		fmt.Fprintln(c.out)
	}
}
