// Command sbom writes what a program of a release consists of, as `go version -m`
// knows it, in the form of CycloneDX 1.5.
//
//	sbom -version 1.0.0 -time 1700000000 ./wdgnn >wdgnn-1.0.0.cdx.json
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "of the release")
	seconds := flag.Int64("time", 0, "seconds since 1970 that the list bears")
	flag.Parse()
	if err := run(os.Stdout, flag.Arg(0), *version, *seconds); err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %v\n", err)
		os.Exit(1)
	}
}

func run(w io.Writer, path, version string, seconds int64) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(list(info, filepath.Base(path), version, sha256.Sum256(program), time.Unix(seconds, 0).UTC()))
}

// The parts of CycloneDX that are written.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		URL        string     `json:"purl"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

// list returns the description of a program. It depends on the program and nothing else.
func list(info *buildinfo.BuildInfo, name, version string, sum [sha256.Size]byte, at time.Time) bom {
	root := library(&debug.Module{Path: info.Main.Path, Version: version})
	root.Type, root.Name = "application", name
	root.URL += "#cmd/" + name
	root.Ref = root.URL
	root.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum[:])}}
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "CGO_ENABLED" || s.Key == "-tags" {
			root.Properties = append(root.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	parts := []component{library(&debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	for _, m := range info.Deps {
		parts = append(parts, library(m))
	}
	slices.SortFunc(parts, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	on := dependency{Ref: root.Ref}
	for _, p := range parts {
		on.On = append(on.On, p.Ref)
	}
	return bom{
		Format: "CycloneDX", Spec: "1.5", Serial: serial(sum), Version: 1,
		Metadata:   metadata{at.Format(time.RFC3339), root},
		Components: parts, Dependencies: []dependency{on},
	}
}

// library describes a module. What replaces it is what was built.
func library(m *debug.Module) component {
	if m.Replace != nil {
		m = m.Replace
	}
	url := "pkg:golang/" + strings.ReplaceAll(m.Path, "+", "%2B") + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	c := component{Type: "library", Ref: url, Name: m.Path, Version: m.Version, URL: url}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}

// serial returns a UUID that is made of the program's hash (version 8 of RFC 9562).
func serial(sum [sha256.Size]byte) string {
	id := sum
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])
}
