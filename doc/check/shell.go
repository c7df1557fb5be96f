package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// shell runs the commands of one page, one after the other.
type shell struct {
	dir   string
	env   []string
	limit time.Duration // for one command

	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string // that it prints
	others []*service
}

// marker ends what a command prints, with its exit code behind.
const marker = "doc-check-exit "

// start starts the shell in a folder, with the programs of bin in its path.
func start(dir, bin string, limit time.Duration) (*shell, error) {
	s := &shell{dir: dir, limit: limit, lines: make(chan string, 1024)}
	s.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir, "LC_ALL=C.UTF-8", "TERM=dumb",
		"WDGNN_BIN="+bin) // pip install ./python takes the programs from there
	s.cmd = s.command("bash")
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.in, s.cmd.Stdout, s.cmd.Stderr = in, write, write
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	write.Close()
	go func() {
		defer close(s.lines)
		scanner := bufio.NewScanner(read)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			s.lines <- scanner.Text()
		}
		io.Copy(io.Discard, read) // a line that is too long must not stop the shell
	}()
	return s, nil
}

// command returns a process in the folder of the shell.
func (s *shell) command(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.dir, s.env
	group(cmd)
	return cmd
}

// do runs a command and returns what it prints. A command that does not end is
// killed with the shell, which then does nothing more.
func (s *shell) do(ctx context.Context, command string) (got []string, err error) {
	// The command does not read what comes after it.
	if _, err := fmt.Fprintf(s.in, "{ %s\n} </dev/null\nprintf '\\n%s%%d\\n' $?\n", command, marker); err != nil {
		return nil, fmt.Errorf("the shell is gone: %w", err)
	}
	limit := time.NewTimer(s.limit)
	defer limit.Stop()
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return got, errors.New("the shell is gone")
			}
			code, isEnd := strings.CutPrefix(line, marker)
			if !isEnd {
				got = append(got, line)
				continue
			}
			if n := len(got); n > 0 && got[n-1] == "" { // the line that the marker begins
				got = got[:n-1]
			}
			if n, _ := strconv.Atoi(code); n != 0 {
				return got, fmt.Errorf("exit code %s", code)
			}
			return got, nil
		case <-limit.C:
			end(s.cmd)
			return got, fmt.Errorf("it did not end within %v", s.limit)
		case <-ctx.Done():
			return got, ctx.Err()
		}
	}
}

// service is a command that runs on.
type service struct {
	cmd *exec.Cmd

	mu     sync.Mutex
	output bytes.Buffer
}

func (p *service) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(text)
}

func (p *service) printed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Split(strings.TrimRight(p.output.String(), "\n"), "\n")
}

// serve starts a command that runs on, and waits until it has printed what is
// wanted of it, or has ended, or its time is over.
func (s *shell) serve(ctx context.Context, command string, enough func(got []string) bool) []string {
	p := &service{cmd: s.command("bash", "-c", "exec "+command)}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		return []string{err.Error()}
	}
	s.others = append(s.others, p)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.cmd.Wait() // how it ends is in what it prints
	}()
	limit := time.NewTimer(s.limit)
	defer limit.Stop()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for !enough(p.printed()) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return p.printed()
		case <-ended:
			return p.printed()
		case <-limit.C:
			return p.printed()
		}
	}
	return p.printed()
}

// close ends the shell and whatever runs on.
func (s *shell) close() {
	for _, p := range s.others {
		end(p.cmd)
	}
	end(s.cmd)
	s.cmd.Wait()
}
