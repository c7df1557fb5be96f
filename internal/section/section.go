// Package section puts what a command writes into a page that people write: between
// two comments that name it and the command,
//
//	<!-- speed: written by go run ./bench/report -->
//	…
//	<!-- end of speed -->
package section

import (
	"fmt"
	"strings"
)

// Replace returns a page with text in its section of the given name, which command
// writes. It is an error if the page has no such section.
func Replace(page, name, command, text string) (string, error) {
	first := fmt.Sprintf("<!-- %s: written by %s -->\n", name, command)
	last := fmt.Sprintf("<!-- end of %s -->\n", name)
	head, rest, found := strings.Cut(page, first)
	_, tail, ended := strings.Cut(rest, last)
	if !found || !ended {
		return "", fmt.Errorf("the page has no section %s: want a line %q and below it %q",
			name, strings.TrimSpace(first), strings.TrimSpace(last))
	}
	return head + first + "\n" + strings.TrimSpace(text) + "\n\n" + last + tail, nil
}
