package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// told is a rating as the service is told it.
type told struct {
	User   int `json:"user"`
	Movie  int `json:"movie"`
	Rating int `json:"rating"`
	time   int
}

// ratings is the rating service after the last ratings of 60 users, which it had not
// seen, and one more.
func (s *studio) ratings(ctx context.Context, data string) error {
	before := filepath.Join(s.work, "before")
	later, err := unseen(data, before, 60)
	if err != nil {
		return err
	}
	list, err := json.Marshal(later)
	if err != nil {
		return err
	}
	url, stop, err := s.start(ctx, "serve", "--data", before, "--state", filepath.Join(s.work, "state"), "--addr", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer stop()
	listed := `document.querySelectorAll("#predictions tr").length > 5`
	rated := []string{
		listed,
		fmt.Sprintf(`do (async () => { for (const one of %s) await fetch("v1/ratings", {method: "POST",
			headers: {"Content-Type": "application/json"}, body: JSON.stringify(one)}); })()`, list),
		`do (async () => { const row = [...document.querySelectorAll("#predictions tr")][1]; row.querySelector("button").click();
			document.querySelectorAll("#stars input")[1].click(); document.querySelector("#give").click(); })()`,
		`document.querySelector("#answer").textContent.includes(" gives ")`, settled,
	}
	return s.shoots(url, []picture{{"ratings", 1440, 940, "light", rated}, {"ratings-narrow", 390, 844, "dark", []string{listed, settled}}})
}

// unseen copies a folder of MovieLens 100K without the last rating that so many users gave
// to a movie which many know, and returns these ratings, the oldest first.
func unseen(from, to string, users int) ([]told, error) {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return nil, err
	}
	path := filepath.Join(to, "u.data")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	known, all, last := map[int]int{}, make([]told, len(lines)), map[int]int{}
	for k, line := range lines {
		if r := &all[k]; line != "" {
			if _, err := fmt.Sscan(line, &r.User, &r.Movie, &r.Rating, &r.time); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", path, k+1, err)
			}
			known[r.Movie]++
		}
	}
	const many = 200 // ratings
	for k, r := range all {
		if before, ok := last[r.User]; known[r.Movie] >= many && r.User <= users && (!ok || r.time > all[before].time) {
			last[r.User] = k
		}
	}
	var later []told
	for _, k := range last {
		later, lines[k] = append(later, all[k]), ""
	}
	slices.SortFunc(later, func(a, b told) int { return cmp.Or(a.time-b.time, a.User-b.User) })
	return later, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600)
}
