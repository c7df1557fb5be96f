package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// step is something that a page asks for: a command, or a file.
type step struct {
	line int // of the page, from 1

	content string // of the file, if it is one

	command string
	want    []string // what is written below it
	at      int      // index of the line of the page where want begins
	indent  string   // before each of its lines

	mode
}

// mode is what comments before a block say.
type mode struct {
	skip   string // why the commands are not run
	loose  bool
	serves bool
	needs  string // data set
	file   string // name of the file that the block is

	checkout string // folders of the checkout that commands see
}

var directive = regexp.MustCompile(`^\s*<!-- doc-check: ([a-z]+),? ?(.*?) -->\s*$`)

// obey adds what a comment says.
func (m *mode) obey(word, rest string) error {
	switch {
	case (word == "skip" || word == "loose") && rest == "":
		return fmt.Errorf("%q wants a reason: <!-- doc-check: %s, REASON -->", word, word)
	case word == "skip":
		m.skip = rest
	case word == "loose":
		m.loose = true
	case word == "serves":
		m.serves = true
	case word == "needs" && rest != "":
		m.needs = rest
	case word == "file" && rest != "":
		m.file = rest
	case word == "checkout" && rest != "":
		m.checkout = rest
	default:
		return fmt.Errorf("no such comment for doc-check: %q; there are skip, loose, serves, needs, file and checkout", word+" "+rest)
	}
	return nil
}

// likely is a line that looks like a command.
var likely = regexp.MustCompile(`^(wdgnn|wdgnn-agent|go (run|test|build|install)|make|curl|nats-server|python3|\.ci/run) `)

// parse returns what a page asks for, in order.
func parse(lines []string) (steps []step, err error) {
	var m mode
	for i := 0; i < len(lines); i++ {
		if d := directive.FindStringSubmatch(lines[i]); d != nil {
			if err := m.obey(d[1], d[2]); err != nil {
				return nil, fmt.Errorf("%d: %w", i+1, err)
			}
			continue
		}
		from, to, next, indent := block(lines, i)
		if next == i {
			if m != (mode{}) && strings.TrimSpace(lines[i]) != "" {
				return nil, fmt.Errorf("%d: a comment for doc-check without a block of code after it", i+1)
			}
			continue
		}
		found, err := sessions(lines, from, to, indent, m)
		if err != nil {
			return nil, err
		}
		steps, m, i = append(steps, found...), mode{}, next-1
	}
	return steps, nil
}

func fence(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "```") }

// block returns where the block of code that begins at line i has its lines and
// where the page goes on, i if none does, and what is before each of its lines.
func block(lines []string, i int) (from, to, next int, indent string) {
	line := lines[i]
	indent = line[:len(line)-len(strings.TrimLeft(line, " "))]
	if fence(line) {
		for to = i + 1; to < len(lines) && !fence(lines[to]); to++ {
		}
		return i + 1, to, to + 1, indent
	}
	if len(indent) < 4 || len(indent) == len(line) || i > 0 && strings.TrimSpace(lines[i-1]) != "" && !directive.MatchString(lines[i-1]) {
		return i, i, i, "" // a paragraph, or one that goes on
	}
	for k := i; k < len(lines) && (strings.HasPrefix(lines[k], indent) || strings.TrimSpace(lines[k]) == ""); k++ {
		if strings.TrimSpace(lines[k]) != "" {
			to = k + 1
		}
	}
	return i, to, to, indent
}

// sessions returns the commands of a block of code, or the file that it is.
func sessions(lines []string, from, to int, indent string, m mode) (steps []step, err error) {
	text := make([]string, to-from)
	for k := range text {
		text[k] = strings.TrimPrefix(lines[from+k], indent)
	}
	if m.file != "" {
		return []step{{line: from + 1, content: strings.Join(text, "\n") + "\n", mode: m}}, nil
	}
	bare := !slices.ContainsFunc(text, func(line string) bool { return strings.HasPrefix(line, "$ ") })
	isCommand := func(line string) bool { return strings.HasPrefix(line, "$ ") || bare && likely.MatchString(line) }
	for k := 0; k < len(text); {
		if !isCommand(text[k]) {
			k++
			continue
		}
		if bare && m.skip == "" {
			return nil, fmt.Errorf("%d: %q looks like a command; write \"$ \" before it, or <!-- doc-check: skip, REASON --> before the block",
				from+k+1, text[k])
		}
		command := strings.TrimPrefix(text[k], "$ ")
		s := step{line: from + k + 1, indent: indent, mode: m}
		for k++; strings.HasSuffix(command, `\`) && k < len(text); k++ {
			command += "\n" + text[k]
		}
		s.command, s.at = command, from+k
		for ; k < len(text) && !isCommand(text[k]); k++ {
			s.want = append(s.want, text[k])
		}
		for len(s.want) > 0 && s.want[len(s.want)-1] == "" { // before the next command
			s.want = s.want[:len(s.want)-1]
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 && m != (mode{}) {
		return nil, fmt.Errorf("%d: a comment for doc-check before a block without commands", from)
	}
	return steps, nil
}
