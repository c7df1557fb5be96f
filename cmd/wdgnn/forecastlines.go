package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
)

// mostRows is how many sensors a table on the terminal has.
const mostRows = 30

// print says for people what sensors will read.
func (c *ForecastCommand) print(run *lifecycle.OnlineRun) error {
	w := &lines{w: c.Stdout}
	for _, note := range run.Notes() {
		w.printf("%s\n", note)
	}
	if run.Past() {
		w.printf("the model was trained on these times, or has met them: these are the forecasts of the model as trained\n")
	}
	list := run.Outlooks()
	unit := ""
	if run.Unit() != "" {
		unit = ", in " + run.Unit()
	}
	w.printf("forecasts made at %s%s, with what 9 of 10 lie between\n", list[0].Forecasts[0].MadeAt, unit)
	printOutlooks(w, list)
	printTrouble(w, list)
	if c.out != "" {
		w.printf("wrote %s\n", c.out)
	}
	return w.err
}

// printOutlooks writes a row per sensor: what it reads, and what it will.
func printOutlooks(w *lines, list []lifecycle.Outlook) {
	rows := [][]string{{"sensor", "now"}}
	for _, f := range list[0].Forecasts {
		rows[0] = append(rows[0], "in "+f.Horizon)
	}
	shown := list[:min(len(list), mostRows)]
	digits := decimals(shown)
	for _, o := range shown {
		row := []string{o.Sensor, shortNumber(o.Reading, digits)}
		if o.Broken != "" {
			row[1] += " !"
		}
		for _, f := range o.Forecasts {
			text := shortNumber(f.Forecast, digits)
			if f.Low != nil && f.High != nil {
				text += fmt.Sprintf(" (%s to %s)", shortNumber(f.Low, digits), shortNumber(f.High, digits))
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	printColumns(w, rows)
	if more := len(list) - len(shown); more > 0 {
		w.printf("and %s more; --out F.csv writes all\n", count(more, "sensor"))
	}
}

// printTrouble names sensors that are not believed, or do not read.
func printTrouble(w *lines, list []lifecycle.Outlook) {
	var silent, alone []string
	unsure := 0
	for _, o := range list {
		for _, f := range o.Forecasts {
			if f.Forecast != nil && (f.Low == nil || f.High == nil) {
				unsure++
			}
		}
		switch {
		case !o.Known:
			alone = append(alone, o.Sensor)
		case o.Broken != "":
			w.printf("! %s is not believed: %s\n", o.Sensor, o.Broken)
		case o.Reading == nil:
			silent = append(silent, o.Sensor)
		}
	}
	if len(silent) > 0 {
		w.printf("without a reading now: %s; what stood before and their neighbours stand for them\n", someNames(silent))
	}
	if unsure > 0 {
		w.printf("%s without an interval: nothing is known of it yet, or the last ones missed too often\n", count(unsure, "forecast"))
	}
	if len(alone) > 0 {
		w.printf("no forecast: %s, of which training knew nothing and who are linked to no sensor that it knew; name links with --graph\n",
			someNames(alone))
	}
}

// someNames lists names, and how many more there are.
func someNames(names []string) string {
	const few = 8
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// decimals returns how many decimals numbers of such sizes want: about four digits.
func decimals(list []lifecycle.Outlook) int {
	size := 0.0
	for _, o := range list {
		for _, f := range o.Forecasts {
			if f.Forecast != nil {
				size = max(size, math.Abs(float64(*f.Forecast)))
			}
		}
	}
	return decimalsOf(size / 10)
}

// shortNumber writes a number for people.
func shortNumber(v *float32, digits int) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(float64(*v), 'f', digits, 32)
}
