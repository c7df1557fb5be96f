//go:build linux

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/template"
)

//go:embed page.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"kinds": byKind, "sum": sum, "share": share, "ends": ends, "moves": moves, "better": better,
}).Parse(pageText))

// write writes a page about the result.
func (r *Result) write(path string) error {
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, r); err != nil {
		return err
	}
	return os.WriteFile(path, page.Bytes(), 0o644)
}

// kindRow is what came out for one kind of fault over one bus.
type kindRow struct {
	Bus, Kind     string
	Runs, Apart   int // and how many of them were not together in time
	Median, Worst float64
	Behind        float64 // of all, the oldest that the latest answer was during the fault
	Account
}

// byKind sums runs up by bus and kind.
func byKind(list []*Run) (rows []*kindRow) {
	healed := map[*kindRow][]float64{}
	for _, r := range list {
		k := slices.IndexFunc(rows, func(o *kindRow) bool { return o.Bus == r.Bus && o.Kind == r.Kind })
		if k < 0 {
			k = len(rows)
			rows = append(rows, &kindRow{Bus: r.Bus, Kind: r.Kind})
		}
		row := rows[k]
		row.Runs++
		row.Behind = max(row.Behind, r.Behind)
		if r.Why != "" || r.Healed > healWithin.Seconds() {
			row.Apart++
		}
		row.add(r.Account)
		healed[row] = append(healed[row], r.Healed)
	}
	for row, seconds := range healed {
		slices.Sort(seconds)
		row.Median, row.Worst = seconds[len(seconds)/2], seconds[len(seconds)-1]
	}
	slices.SortStableFunc(rows, func(a, b *kindRow) int {
		return strings.Compare(a.Bus+order(a.Kind), b.Bus+order(b.Kind))
	})
	return rows
}

// order returns where a kind stands among all.
func order(name string) string {
	return string(rune('a' + slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }) + 1))
}

// sum returns all accounts together.
func sum(list []*Run) (a Account) {
	for _, r := range list {
		a.add(r.Account)
	}
	return a
}

// share returns a part as a percentage.
func share(part, all int) string {
	if all == 0 {
		return "none"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(all))
}

// endRow is what a deployment took in the first and in the last quarter of a soak, on
// average.
type endRow struct {
	Bus, Who    string
	First, Last Usage
	Checkpoint  float64 // the oldest at any time
}

// ends returns what deployments took at the beginning and at the end: the box that is
// never killed, the worst of all, and the server.
func ends(s *Soak) (rows []*endRow) {
	for _, who := range []string{"the box that is never killed", "the worst of all boxes", "the server"} {
		for _, bus := range []string{busNATS, busTCP} {
			var list []Usage
			for _, m := range s.Samples {
				switch {
				case m.Bus != bus:
				case who == "the server" && m.Server != nil:
					list = append(list, *m.Server)
				case who == "the worst of all boxes":
					list = append(list, m.Worst)
				case who == "the box that is never killed":
					list = append(list, m.Oldest)
				}
			}
			if len(list) == 0 {
				continue
			}
			quarter := (len(list) + 3) / 4
			row := &endRow{Bus: bus, Who: who, First: mean(list[:quarter]), Last: mean(list[len(list)-quarter:])}
			for _, u := range list {
				row.Checkpoint = max(row.Checkpoint, u.Checkpoint)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// mean returns the mean of what is known.
func mean(list []Usage) Usage {
	return Usage{
		ResidentMB: average(list, func(u Usage) float64 { return u.ResidentMB }),
		Files:      int(average(list, func(u Usage) float64 { return float64(u.Files) }) + 0.5),
		Goroutines: int(average(list, func(u Usage) float64 { return float64(u.Goroutines) }) + 0.5),
	}
}

func average(list []Usage, of func(Usage) float64) float64 {
	sum, n := 0.0, 0
	for _, u := range list {
		if v := of(u); v >= 0 {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// betterRow sets what answers cost beside those of the model as trained.
type betterRow struct {
	Bus             string
	Learned, Frozen float64 // mean cost of the answers, over all moments
	Worse, Samples  int     // moments at which they cost more than as trained
}

// better compares what was learned with the model as trained.
func better(s *Soak) (rows []*betterRow) {
	for _, bus := range []string{busNATS, busTCP} {
		row := &betterRow{Bus: bus}
		for _, m := range s.Samples {
			if m.Bus != bus || m.Frozen == 0 {
				continue
			}
			row.Samples++
			row.Learned += m.Learned
			row.Frozen += m.Frozen
			if m.Learned > m.Frozen {
				row.Worse++
			}
		}
		if row.Samples > 0 {
			row.Learned, row.Frozen = row.Learned/float64(row.Samples), row.Frozen/float64(row.Samples)
			rows = append(rows, row)
		}
	}
	return rows
}

// moveRow sums the moves of a fleet up, to one of the programs.
type moveRow struct {
	setting
	To            string
	Moves, Kept   int
	Median, Worst float64
	Missed        int // steps, at most
	Unknown       uint64
}

// moves sums an upgrade up.
func moves(u *Upgrade) (rows []*moveRow) {
	healed := map[*moveRow][]float64{}
	for _, m := range u.Moves {
		k := slices.IndexFunc(rows, func(o *moveRow) bool { return o.setting == m.setting && o.To == m.To })
		if k < 0 {
			k = len(rows)
			rows = append(rows, &moveRow{setting: m.setting, To: m.To})
		}
		row := rows[k]
		row.Moves++
		if m.Kept {
			row.Kept++
		}
		row.Missed, row.Unknown = max(row.Missed, m.Missed), max(row.Unknown, m.Unknown)
		healed[row] = append(healed[row], m.Healed)
	}
	for row, seconds := range healed {
		slices.Sort(seconds)
		row.Median, row.Worst = seconds[len(seconds)/2], seconds[len(seconds)-1]
	}
	return rows
}
