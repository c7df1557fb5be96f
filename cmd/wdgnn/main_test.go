package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exec runs one command line.
func exec(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(ctx, args, &out, &err)
	return code, out.String(), err.String()
}

// expect runs one command line, compares its exit code and looks for words: in
// stdout if all is well, in stderr otherwise, which it returns.
func expect(t *testing.T, args string, code int, want string) string {
	t.Helper()
	gotCode, stdout, stderr := exec(t.Context(), strings.Fields(args)...)
	got := stderr
	if code == exitOK {
		got = stdout
	}
	if gotCode != code || !strings.Contains(got, want) {
		t.Errorf("wdgnn %s: exit code %d and %q, want %d and %q", args, gotCode, got, code, want)
	}
	return stderr
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", exitOK, "Four things to try"},
		{"-h", exitOK, "Examples:"},
		{"--version", exitOK, "wdgnn "},
		{"serve --data nosuch --addr 127.0.0.1:0", exitFailure, "ratings of your own are named by --ratings FILE.csv"},
		{"demo -h", exitOK, "--subgraphs"},
		{"dmo", exitUsage, `no command is called "dmo"; did you mean demo?`},
		{"walk", exitUsage, `no command is called "walk"` + "\n"},
		{"swarm statsu", exitUsage, "did you mean status?"},
		{"demo --speed", exitUsage, "no flag is called --speed; did you mean --seed?"},
		{"demo --sideways", exitUsage, "no flag is called --sideways\n"},
		{"demo -z", exitUsage, "no flag is called -z\n"},
		{"demo --seed minus", exitUsage, `--seed is "minus", want a whole number, 0 or more`},
		{"demo --seed -1", exitUsage, `--seed is "-1", want a whole number, 0 or more`},
		{"demo --subgraphs many", exitUsage, `--subgraphs is "many", want a whole number such as 8`},
		{"demo --subgraphs", exitUsage, "--subgraphs says nothing, want a whole number such as 8 behind it"},
		{"demo --json=perhaps", exitUsage, `--json is "perhaps", want nothing behind it, or =true or =false`},
		{"swarm up --rate fast", exitUsage, `--rate is "fast", want a number such as 0.5`},
		{"swarm up --deadline 5", exitUsage, `--deadline is "5", want a time with its unit, such as 500ms, 2s or 1m`},
		{"certify m --drop x", exitUsage, `--drop is "x", want numbers with commas between them`},
		{"certify m --graph g --signals x --lost 0", exitUsage, "--lost is 0, want 1 or 2"},
		{"certify m --graph g --signals x --noise inf", exitUsage, "--noise is +Inf, want a number, 0 or more"},
		{"certify m --graph g --signals x --within inf", exitUsage, "--within, --samples and --time are 0 or more"},
		{"certify m --graph g --signals x --on valid", exitUsage, "--on names samples of --config, which is missing"},
		{"certify m --graph g --paper --least 0.9", exitUsage, "--least is not for the paper's theorems"},
		{"certify m --graph g --perturbed h --lost 1", exitUsage, "--lost is not for the paper's theorems"},
		{"demo now", exitUsage, "takes no arguments"},
		{"demo --subgraphs 0", exitUsage, "want at least 1"},
		{"init -h", exitOK, "wdgnn init first && wdgnn train first/config.yaml"},
		{"train -h", exitOK, "--resume"},
		{"online -h", exitOK, "wdgnn online --resume first/online"},
		{"forecast -h", exitOK, "--series first/later.csv --graph first/later_sensors.csv --out f.csv"},
		{"backtest -h", exitOK, "wdgnn backtest first/config.yaml --origins 5"},
		{"predict -h", exitOK, "--nodes trained"},
		{"eval -h", exitOK, "--on valid"},
		{"inspect -h", exitOK, "jq .gains"},
		{"train", exitUsage, "wants CONFIG.yaml"},
		{"train --resume --force c.yaml", exitUsage, "choose one"},
		{"eval model", exitUsage, "wants MODEL CONFIG.yaml, got 1"},
		{"swarm up --bus tpc", exitUsage, `no bus is called "tpc"`}, // before a model is trained
		{"swarm up --processes 51", exitUsage, "there are 50 nodes"},
		{"swarm up --kill 10@1s", exitUsage, "host 10 is to be killed, there are 0 to 9"},
		{"swarm up --partition 8-12@1s-2s", exitUsage, "host 12 is to be cut off, there are 0 to 9"},
		{"swarm up --pace walk", exitUsage, `no pace is called "walk"`},
	} {
		stderr := expect(t, c.args, c.code, c.want)
		if c.code == exitUsage && !strings.Contains(stderr, "Try: wdgnn") {
			t.Errorf("wdgnn %s: %q does not say what to try", c.args, stderr)
		}
	}
}

// A shell completes what commands and flags take, and flags go by their old names
// too, which -h does not show.
func TestCompletion(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"reproduce tab", "table1"},
		{"swarm up --bus ", "nats"},
		{"swarm up --pace ", "real-time"},
		{"swarm up --preset ", "own"},
		{"swarm up --task ", "flocking"},
		{"init --task ", "forecast"},
		{"bench --tasks ", "gemm_2500_192_32"},
		{"certify --norm ", "linf"},
		{"flock --online ", "distributed"},
		{"online --preset ", "neighbours"},
		{"eval --on ", "valid"},
		{"demo --kernels ", "portable"},
		{"swarm bench --only ", "sourceloc-mem"},
	} {
		code, stdout, stderr := exec(t.Context(), append([]string{"__complete"}, strings.Split(c.line, " ")...)...)
		if code != exitOK || !strings.Contains("\n"+stdout, "\n"+c.want+"\n") {
			t.Errorf("wdgnn %s: got %q and %q, want %s", c.line, stdout, stderr, c.want)
		}
	}
	for _, c := range []struct{ command, old, today string }{
		{"swarm up", "dir", "out"},
		{"data get", "data", "out"},
		{"swarm keys join", "address", "addr"},
		{"flock", "train-epochs", "epochs"},
	} {
		cmd, _, err := newRoot().Find(strings.Split(c.command, " "))
		if err != nil {
			t.Fatal(err)
		}
		if f := cmd.Flags().Lookup(c.old); f == nil || f.Name != c.today {
			t.Errorf("wdgnn %s --%s is not --%s", c.command, c.old, c.today)
		}
		if help := cmd.UsageString(); strings.Contains(help, "--"+c.old+" ") || !strings.Contains(help, "--"+c.today+" ") {
			t.Errorf("wdgnn %s -h: %q", c.command, help)
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, _, stderr := exec(ctx, "demo")
	if code != exitInterrupted || !strings.Contains(stderr, "wdgnn: interrupted") {
		t.Errorf("exit code %d and %q, want %d and word of the interruption", code, stderr, exitInterrupted)
	}
}

// An interrupted run fails, keeps what it has and says how to go on; before the first
// epoch there is nothing to keep, and the same command begins anew.
func TestInterruptTrain(t *testing.T) {
	files := []string{"model.safetensors", "checkpoint.json"}
	for _, c := range []struct {
		name, task, when, want string
		left                   []string // files
	}{
		{"at once", "classify", "nodes", "wdgnn: interrupted\n", nil},
		{"in an epoch", "classify", "epoch   1/", "wdgnn: interrupted\nTry: wdgnn train ", files},
		{"after the last", "forecast", "epoch 1/1 ", " --resume, with --epochs 1 to end there\n", files},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			if code, _, stderr := exec(t.Context(), "init", "--task", c.task, dir); code != exitOK {
				t.Fatal(stderr)
			}
			args := []string{"train", filepath.Join(dir, "config.yaml")}
			if c.task == "forecast" {
				args = append(args, "--epochs", "1")
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stderr := &trigger{text: c.when, call: cancel}
			if code := run(ctx, args, io.Discard, stderr); code != exitInterrupted || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("exit code %d and %q, want %d and %q", code, stderr, exitInterrupted, c.want)
			}
			for _, name := range c.left {
				if _, err := os.Stat(filepath.Join(dir, "run", name)); err != nil {
					t.Error(err)
				}
			}
			if len(c.left) > 0 {
				args = append(args, "--resume")
			}
			if code, _, stderr := exec(t.Context(), append(args, "--epochs", "1")...); code != exitOK {
				t.Errorf("then %q: %s", args, stderr)
			}
		})
	}
}
