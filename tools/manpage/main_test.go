package main

import (
	"slices"
	"strings"
	"testing"
)

// The commands of a help are found, text that troff would take for its own is hidden.
func TestPage(t *testing.T) {
	help := "Does things.\nQuietly.\n\nAvailable Commands:\n  completion  Shells\n" +
		"  help        Help\n  serve       Serve\n  data-get    Get\n\nFlags:\n  x           y\n"
	if got, want := commands(help), []string{"serve", "data-get"}; !slices.Equal(got, want) {
		t.Errorf("got commands %q, want %q", got, want)
	}
	if got, want := first(help), "Does things. Quietly"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := literal(".so /etc/passwd\n'x \\-y"); strings.Contains(got, "\n.so") || strings.Contains(got, "\n'") {
		t.Errorf("got %q, want nothing that troff obeys", got)
	}
}
