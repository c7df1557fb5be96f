//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Result is what was measured, of each kind the latest.
type Result struct {
	Runs    *Runs    `json:"runs,omitempty"`
	Soak    *Soak    `json:"soak,omitempty"`
	Upgrade *Upgrade `json:"upgrade,omitempty"`
}

// Meta says what was measured, when and how.
type Meta struct {
	Program string `json:"program"`
	Commit  string `json:"commit,omitempty"` // that it was built from
	Began   string `json:"began"`
	Seed    uint64 `json:"seed"`
	Network string `json:"network"` // namespaces or proxies
}

// load reads a result, an empty one if there is none.
func load(path string) (*Result, error) {
	r := new(Result)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// add takes what another file holds in the place of what is there.
func (r *Result) add(path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	other, err := load(path)
	if err != nil {
		return err
	}
	r.Runs, r.Soak, r.Upgrade = cmp.Or(other.Runs, r.Runs), cmp.Or(other.Soak, r.Soak), cmp.Or(other.Upgrade, r.Upgrade)
	return nil
}

// save writes the result, whole or not at all.
func (r *Result) save(path string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", inLines(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// inLines breaks JSON so that every entry of a list of the result has a line.
func inLines(text []byte) (lines []byte) {
	depth, quoted, escaped := 0, false, false
	for _, c := range text {
		lines = append(lines, c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth <= 3:
			lines = append(lines, '\n')
		}
	}
	return append(lines, '\n')
}

// String returns the run as a line.
func (r *Run) String() string {
	text := fmt.Sprintf("%3d %-4s %-9s %-19s %4.1f s  together after %5.2f s  %d lines, %d missing: %d counted, %d died, %d unexplained",
		r.Number, r.Bus, r.Pace, r.Kind, r.Seconds, r.Healed, r.Lines, r.Missing, r.Counted, r.Died, r.Unexplained)
	if r.Quarantines > 0 {
		text += fmt.Sprintf("; honest boxes were in quarantine %d times", r.Quarantines)
	}
	if r.Why != "" {
		text += "; apart: " + r.Why
	}
	if r.Failed != "" {
		text += "; failed: " + r.Failed
	}
	return text
}

// verdict returns what did not hold.
func (r *Result) verdict() error {
	var errs []error
	if r.Runs != nil {
		for _, run := range r.Runs.List {
			if !run.ok() {
				errs = append(errs, fmt.Errorf("run %v", run))
			}
		}
	}
	if s := r.Soak; s != nil {
		for _, run := range s.Faults {
			if !run.ok() {
				errs = append(errs, fmt.Errorf("soak: %v", run))
			}
		}
		for bus, a := range s.Accounts {
			if !a.ok() {
				errs = append(errs, fmt.Errorf("soak over %s: %+v", bus, a))
			}
		}
		if s.Failed != "" {
			errs = append(errs, fmt.Errorf("soak: %s", s.Failed))
		}
	}
	if u := r.Upgrade; u != nil {
		for _, b := range u.Books {
			if b.Failed != "" || !b.Account.ok() {
				errs = append(errs, fmt.Errorf("upgrade over %s, %s: %+v %s", b.Bus, b.Pace, b.Account, b.Failed))
			}
		}
		for _, m := range u.Moves {
			if m.Why != "" || !m.Kept || m.Healed > healWithin.Seconds() {
				errs = append(errs, fmt.Errorf("upgrade over %s, %s: box %d to the %s: kept %t, together after %.1f s %s",
					m.Bus, m.Pace, m.Box, m.To, m.Kept, m.Healed, m.Why))
			}
		}
	}
	return errors.Join(errs...)
}
