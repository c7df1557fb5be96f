package transport_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// Validate names every complaint at once.
func TestFaultsValidate(t *testing.T) {
	bad := transport.Faults{
		Loss: -0.1, Duplicate: 1.5, Reorder: math.NaN(), Delay: -1, Jitter: 1 << 62,
		Partitions: []transport.Partition{{From: -1}, {Hosts: []transport.HostID{1}, From: time.Second, To: time.Second}},
	}
	err := bad.Validate()
	if err == nil {
		t.Fatal("got no error, want one")
	}
	for _, want := range []string{
		"loss", "duplicate", "reorder", "delay", "jitter", "partition 0", "no hosts", "begins", "partition 1", "heals",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want it to name %q", err, want)
		}
	}
	if err := (transport.Faults{Loss: 1, Duplicate: 1, Reorder: 1}).Validate(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

func TestFaultsJSON(t *testing.T) {
	want := transport.Faults{
		Seed: 1 << 60, Loss: 0.25, Duplicate: 0.5, Reorder: 0.125, Delay: time.Second, Jitter: time.Millisecond,
		Partitions: []transport.Partition{{Hosts: []transport.HostID{3}, From: 1, To: 2}},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got transport.Faults
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestParsePartition(t *testing.T) {
	for text, want := range map[string]string{
		"0-24@10s-20s":      "0-24@10s-20s",
		"3,7@5s":            "3,7@5s",
		"9,1-3,2,4@0s-1m":   "1-4,9@0s-1m0s",
		"4294967295@1.5s":   "4294967295@1.5s",
		"":                  "",
		"3":                 "",
		"3@":                "",
		"@5s":               "",
		"3,@5s":             "",
		"-3@5s":             "",
		"7-3@5s":            "",
		"3@5":               "",
		"3@-5s":             "",
		"3@5s-":             "",
		"3@5s-0s":           "",
		"3@5s-5s":           "",
		"3@5s-4s":           "",
		"4294967296@5s":     "",
		"0-4294967295@5s":   "",
		"0-65535,65536@5s":  "",
		"0-65535,0-1000@5s": "",
	} {
		p, err := transport.ParsePartition(text)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "try ") {
				t.Errorf("%q: got %v, %v, want an error with a hint", text, p, err)
			}
			continue
		}
		if err != nil || p.String() != want {
			t.Errorf("%q: got %q, %v, want %q", text, p, err, want)
			continue
		}
		if again, err := transport.ParsePartition(p.String()); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%q again: got %v, %v, want %v", text, again, err, p)
		}
	}
	p, err := transport.ParsePartition("5-6,1@10s-20s")
	want := transport.Partition{Hosts: []transport.HostID{1, 5, 6}, From: 10 * time.Second, To: 20 * time.Second}
	if err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("got %+v, %v, want %+v", p, err, want)
	}
}

func ExampleParsePartition() {
	p, err := transport.ParsePartition("0-2,7@10s-20s")
	fmt.Println(p.Hosts, p.From, p.To, err)
	// Output: [0 1 2 7] 10s 20s <nil>
}
