package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The list of this very test program has the fields that the schema of CycloneDX 1.5
// asks for, in the form it asks for: bomFormat and specVersion, a serial number, types
// and names of components, references that are unique and that exist, purls.
func TestFields(t *testing.T) {
	var out, again bytes.Buffer
	if err := run(&out, os.Args[0], "1.2.3", 1700000000); err != nil {
		t.Fatal(err)
	}
	if err := run(&again, os.Args[0], "1.2.3", 1700000000); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("a second time: %v, want the same bytes", err)
	}
	var b struct {
		Format   string `json:"bomFormat"`
		Spec     string `json:"specVersion"`
		Serial   string `json:"serialNumber"`
		Version  int    `json:"version"`
		Metadata struct {
			Timestamp string         `json:"timestamp"`
			Component map[string]any `json:"component"`
		} `json:"metadata"`
		Components   []map[string]any `json:"components"`
		Dependencies []struct {
			Ref string   `json:"ref"`
			On  []string `json:"dependsOn"`
		} `json:"dependencies"`
	}
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	serial := regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	if b.Format != "CycloneDX" || b.Spec != "1.5" || b.Version != 1 || !serial.MatchString(b.Serial) {
		t.Errorf("got %q %q, version %d, serial number %q", b.Format, b.Spec, b.Version, b.Serial)
	}
	if b.Metadata.Timestamp != "2023-11-14T22:13:20Z" || b.Metadata.Component["type"] != "application" {
		t.Errorf("got metadata %+v", b.Metadata)
	}
	refs, purl := map[string]bool{}, regexp.MustCompile(`^pkg:golang/[^@ +]+@[^@ +]*$`)
	for _, c := range append(b.Components, b.Metadata.Component) {
		ref, _ := c["bom-ref"].(string)
		url, _ := c["purl"].(string)
		if refs[ref] || ref == "" || c["name"] == "" || !purl.MatchString(strings.Split(url, "#")[0]) {
			t.Errorf("got component %+v", c)
		}
		refs[ref] = true
	}
	for _, d := range b.Dependencies {
		for _, ref := range append(d.On, d.Ref) {
			if !refs[ref] {
				t.Errorf("a dependency on %q, which is no component", ref)
			}
		}
	}
	if len(b.Components) == 0 || !strings.Contains(out.String(), `"pkg:golang/std@1.`) {
		t.Errorf("got %d components, want the standard library at least", len(b.Components))
	}
	if err := run(&out, "main.go", "", 0); err == nil {
		t.Error("a file that is no program: no error")
	}
}
