// Command answers trains four models as users do, asks certify which of their answers
// hold, and keeps what it said in doc/results/answers.json:
//
//	go run ./doc/answers --program bin/wdgnn --data data/metr-la
//
// Without a program it writes the table of doc/certify.md from what was kept.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	program := flag.String("program", "", "the program to ask; empty writes the table from what was kept")
	data := flag.String("data", "data/metr-la", "folder with speed.csv and adjacency.csv of METR-LA")
	dir := flag.String("doc", "doc", "folder of the pages")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *program, *data, *dir); err != nil {
		fmt.Fprintf(os.Stderr, "answers: %v\n", err)
		os.Exit(1)
	}
}

// run asks, if there is a program, and writes the table.
func run(ctx context.Context, program, data, dir string) error {
	raw := filepath.Join(dir, "results", "answers.json")
	if program != "" {
		err := ask(ctx, program, data, func(kept *Kept) error {
			text, err := json.MarshalIndent(kept, "", " ")
			if err != nil {
				return err
			}
			return os.WriteFile(raw, append(text, '\n'), 0o644)
		})
		if err != nil {
			return err
		}
	}
	page := filepath.Join(dir, "certify.md")
	before, after, err := current(raw, page)
	if err != nil || before == after {
		return err
	}
	return os.WriteFile(page, []byte(after), 0o644)
}

// Kept is what certify said of the models.
type Kept struct {
	Machine string  `json:"machine"`
	Models  []Model `json:"models"`
}

// Model is one of them.
type Model struct {
	Name     string   `json:"name"`
	Holds    string   `json:"holds"`    // when an answer does
	Commands []string `json:"commands"` // that train it
	Asked    []Asked  `json:"asked"`
}

// Asked is a call of certify.
type Asked struct {
	Command string  `json:"command"`
	Seconds float64 `json:"processor_seconds"`
	Page    Page    `json:"page"`
}

// ask runs all commands in a folder of its own, and keeps what was said after every model.
func ask(ctx context.Context, program, data string, keep func(*Kept) error) error {
	work, err := os.MkdirTemp("", "answers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	shell := &shell{ctx: ctx, work: work}
	for name, path := range map[string]string{"wdgnn": program, "metr-la": data} {
		whole, err := filepath.Abs(path)
		if err == nil {
			err = os.Symlink(whole, filepath.Join(work, name))
		}
		if err != nil {
			return err
		}
	}
	kept := &Kept{Machine: fmt.Sprintf("%d cores", runtime.NumCPU())}
	for _, p := range plans {
		m := Model{Name: p.name, Holds: p.holds, Commands: p.commands}
		for _, c := range p.commands {
			if _, _, err := shell.run(c); err != nil {
				return err
			}
		}
		for _, flags := range p.ask {
			a := Asked{Command: "wdgnn certify " + p.model + " " + flags}
			text, seconds, err := shell.run(a.Command + " --json")
			if err == nil {
				err = json.Unmarshal(text, &a.Page)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", a.Command, err)
			}
			a.Seconds = seconds.Seconds()
			fmt.Fprintf(os.Stderr, "%-8s %8.1f s  %s\n", p.name, a.Seconds, flags)
			m.Asked = append(m.Asked, a)
		}
		kept.Models = append(kept.Models, m)
		if err := keep(kept); err != nil {
			return err
		}
	}
	return nil
}

// shell runs commands as a user types them.
type shell struct {
	ctx  context.Context
	work string
}

// run returns what a command printed, and the time of processors that it took.
func (s *shell) run(line string) ([]byte, time.Duration, error) {
	cmd := exec.CommandContext(s.ctx, "bash", "-euc", line)
	cmd.Dir = s.work
	cmd.Env = append(os.Environ(), "PATH="+s.work+string(os.PathListSeparator)+os.Getenv("PATH"))
	var failed strings.Builder
	cmd.Stderr = &failed
	text, err := cmd.Output()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w: %s", line, err, failed.String())
	}
	return text, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
