package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/swarm"
)

// The head of the table names what stands below it: whether there are classes is known
// with the first answer.
func TestSwarmViewHeads(t *testing.T) {
	var b bytes.Buffer
	view := newSwarmView(&b)
	view.show(&swarm.View{Hosts: 5, HostsUp: 5, Accuracy: -1})
	told := []string{"1.0 s: hosts 0-1 were cut off"}
	view.show(&swarm.View{Seconds: 1, Step: 90, Rate: 90, Hosts: 5, HostsUp: 5, Accuracy: 0.934, Events: told})
	view.show(&swarm.View{Seconds: 2, Step: 180, Rate: 90, Hosts: 5, HostsUp: 5, Accuracy: 0.95, Events: told})
	got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	want := []string{"cost", "0.0000", "cut off", "right", "93.4 %", "95.0 %"}
	if len(got) != len(want) {
		t.Fatalf("got %d lines, want %d: %q", len(got), len(want), got)
	}
	for k, line := range got {
		if !strings.Contains(line, want[k]) {
			t.Errorf("line %d is %q, want %q in it", k, line, want[k])
		}
	}
	if head, row := got[3], got[4]; len(head) != len(row) {
		t.Errorf("the head has %d characters, the row below it %d:\n%s\n%s", len(head), len(row), head, row)
	}
}
