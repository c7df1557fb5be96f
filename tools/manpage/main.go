// Command manpage writes the manual page of a program from what it says of itself
// when asked with -h, and of its commands.
//
//	manpage -version 1.0.0 -time 1700000000 ./wdgnn >wdgnn.1
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "of the release")
	seconds := flag.Int64("time", 0, "seconds since 1970 that the page bears")
	flag.Parse()
	page, err := manual(flag.Arg(0), *version, time.Unix(*seconds, 0).UTC())
	if err != nil {
		fmt.Fprintf(os.Stderr, "manpage: %v\n", err)
		os.Exit(1)
	}
	fmt.Print(page)
}

// manual returns the page of the program at path.
func manual(path, version string, at time.Time) (string, error) {
	name := filepath.Base(path)
	help, err := ask(path)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %q %q \"User Commands\"\n", strings.ToUpper(name), at.Format(time.DateOnly), "wdgnn "+version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH DESCRIPTION\n%s", name, escape(first(help)), literal(help))
	if found := commands(help); len(found) > 0 {
		b.WriteString(".SH COMMANDS\n")
		if err := sections(&b, path, name, nil, found); err != nil {
			return "", err
		}
	}
	b.WriteString(".SH SEE ALSO\nhttps://github.com/wdgnn/wdgnn\n")
	return b.String(), nil
}

// sections writes one for each command, and for the commands that it has.
func sections(b *strings.Builder, path, name string, above, found []string) error {
	for _, c := range found {
		words := append(append([]string{}, above...), c)
		help, err := ask(path, words...)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, ".SS %s %s\n%s", name, strings.Join(words, " "), literal(help))
		if err := sections(b, path, name, words, commands(help)); err != nil {
			return err
		}
	}
	return nil
}

// ask returns what a program says of a command.
func ask(path string, command ...string) (string, error) {
	out, err := exec.Command(path, append(command, "-h")...).CombinedOutput()
	var code *exec.ExitError
	if err != nil && !errors.As(err, &code) { // package flag ends with 2 after -h
		return "", err
	}
	if len(out) == 0 {
		return "", fmt.Errorf("%s %s -h prints nothing", path, strings.Join(command, " "))
	}
	return strings.TrimRight(string(out), "\n"), nil
}

var command = regexp.MustCompile(`^  ([a-z][a-z-]*) {2,}\S`)

// commands returns those that a help lists.
func commands(help string) (names []string) {
	inside := false
	for line := range strings.Lines(help) {
		switch hit := command.FindStringSubmatch(line); {
		case strings.HasSuffix(strings.TrimSpace(line), "Commands:"):
			inside = true
		case inside && hit != nil && hit[1] != "help" && hit[1] != "completion":
			names = append(names, hit[1])
		case strings.TrimSpace(line) == "Flags:":
			inside = false
		}
	}
	return names
}

// first returns the first sentence of a help, on one line.
func first(help string) string {
	text, _, _ := strings.Cut(help, "\n\n")
	return strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
}

// literal returns text that is shown as it is.
func literal(text string) string { return ".nf\n" + escape(text) + "\n.fi\n" }

// escape hides what troff would understand.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(text)
	return strings.ReplaceAll("\n"+text, "\n.", "\n\\&.")[1:]
}
