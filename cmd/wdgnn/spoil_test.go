package main

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// spoil does to a table of readings what happens to tables of readings.
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[0]))).ReadAll()
	ts.Check(err)
	kind, what, _ := strings.Cut(args[1], ":")
	number, _ := strconv.ParseFloat(what, 64)
	n, column := int(number), slices.Index(rows[0], what)
	body := rows[1:]
	switch kind {
	case "scale":
		eachCell(body, func(_ int, cell string) string {
			v, err := strconv.ParseFloat(cell, 64)
			ts.Check(err)
			return strconv.FormatFloat(v*number, 'f', 1, 64)
		})
	case "twice":
		rows = slices.Insert(rows, n+1, rows[n])
	case "still":
		for _, row := range body[len(body)-96:] {
			row[column] = body[0][column]
		}
	case "without":
		for i := range rows {
			rows[i] = slices.Delete(slices.Clone(rows[i]), column, column+1)
		}
	case "gaps":
		draw := rand.New(rand.NewPCG(1, 2))
		eachCell(body, func(_ int, cell string) string {
			if draw.IntN(100) < n {
				return ""
			}
			return cell
		})
	case "first":
		rows = rows[:1+n]
	case "reversed":
		for a, b := n, len(body)-1; a < b; a, b = a+1, b-1 {
			for k := 1; k < len(body[a]); k++ { // times stay
				body[a][k], body[b][k] = body[b][k], body[a][k]
			}
		}
	default:
		ts.Fatalf("no way to spoil a table is called %q", kind)
	}
	f, err := os.Create(ts.MkAbs(args[2]))
	ts.Check(err)
	defer f.Close()
	ts.Check(csv.NewWriter(f).WriteAll(rows))
}

// eachCell changes the readings that are there.
func eachCell(rows [][]string, change func(column int, cell string) string) {
	for _, row := range rows {
		for k := 1; k < len(row); k++ {
			if row[k] != "" {
				row[k] = change(k, row[k])
			}
		}
	}
}
