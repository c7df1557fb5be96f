package live

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// metricsName is what wdgnn train and wdgnn online leave: one object per line.
const metricsName = "metrics.jsonl"

// openMetrics makes a recording of the numbers in metrics.jsonl: every name is
// a curve, every line a frame.
func openMetrics(dir string) (*Recording, error) {
	f, err := os.Open(filepath.Join(dir, metricsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("live: %s has neither %s nor %s: %w", dir, EventsName, metricsName, ErrNoRun)
	}
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	defer f.Close()
	rows, skipped, err := readMetrics(f)
	if err != nil {
		return nil, fmt.Errorf("live: %s: %w", f.Name(), err)
	}
	r := &Recording{Times: Numbers{}, Words: []Words{}, Skipped: skipped}
	r.Scene = Scene{Title: filepath.Base(filepath.Clean(dir)), Task: "run", Time: "line", Layout: LayoutNone}
	names := r.curves(rows)
	if len(names) == 0 {
		return nil, fmt.Errorf("live: %s: %w", f.Name(), ErrNoRun)
	}
	return r, r.fill(rows, names)
}

// clocks are names of what counts time, in the order of preference.
var clocks = []string{"epoch", "step", "time", "signal"}

// telling are names that people look for first.
var telling = []string{"loss", "cost", "score", "accuracy", "disagreement"}

// rank is the place of a name among those that tell most.
func rank(name string) int {
	for k, word := range telling {
		if strings.Contains(name, word) {
			return k
		}
	}
	return len(telling)
}

// curves makes the scene's curves and returns their names in the rows.
func (r *Recording) curves(rows []map[string]float64) (names []string) {
	seen := map[string]bool{}
	for _, row := range rows {
		for name := range row {
			seen[name] = true
		}
	}
	for _, clock := range clocks {
		if seen[clock] {
			r.Scene.Time = clock
			break
		}
	}
	for name := range seen {
		if name != r.Scene.Time && len(name) <= maxText {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	names = names[:min(len(names), maxItems)]
	for _, name := range names {
		title := strings.ReplaceAll(name, "_", " ")
		r.Scene.Curves = append(r.Scene.Curves, Curve{Name: title, Chart: title, Learner: -1})
	}
	return names
}

// fill makes one frame per row.
func (r *Recording) fill(rows []map[string]float64, names []string) error {
	var past history
	var all bytes.Buffer
	for k, row := range rows {
		f := &Frame{Time: float64(k + 1)}
		if t, ok := row[r.Scene.Time]; ok {
			f.Time = t
		}
		for _, name := range names {
			v, ok := row[name]
			if !ok {
				v = nan
			}
			f.Curves = append(f.Curves, v)
		}
		past.add(f)
		text, err := json.Marshal(map[string]*Frame{kindFrame: f})
		if err != nil {
			return fmt.Errorf("live: %w", err)
		}
		r.Times, r.at = append(r.Times, f.Time), append(r.at, span{int64(all.Len()), len(text)})
		all.Write(text)
	}
	r.file = bytes.NewReader(all.Bytes())
	if p := past.copy(); p != nil {
		r.History = *p
	}
	return nil
}

// readMetrics returns the numbers of every line.
func readMetrics(f io.Reader) (rows []map[string]float64, skipped int, err error) {
	in := bufio.NewReader(f)
	for len(rows) < maxFrames {
		text, _, err := readLine(in, 1<<20)
		if len(bytes.TrimSpace(text)) > 0 {
			var values map[string]any
			if json.Unmarshal(text, &values) != nil {
				skipped++
			} else {
				rows = append(rows, numbers(values))
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return rows, skipped, nil
}

func numbers(values map[string]any) map[string]float64 {
	row := map[string]float64{}
	for name, v := range values {
		if x, ok := v.(float64); ok {
			row[name] = x
		}
	}
	return row
}
