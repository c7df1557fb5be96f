package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/internal/grid"
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
	w.printf("forecasts made at %s%s%s\n", list[0].Forecasts[0].MadeAt, unit, covered(run.Coverage()))
	printOutlooks(w, list)
	printPast(w, run.News)
	printTrouble(w, list)
	verdicts := run.Verdicts()
	if len(verdicts.List) == 0 {
		w.printf("none of the forecasts came true within the series, so nothing says how good they are\n")
	}
	printVerdicts(w, run.Unit(), verdicts)
	if c.out != "" {
		w.printf("wrote %s\n", c.out)
	}
	return w.err
}

// covered says what intervals are, of which a share is to hold the truth.
func covered(share float64) string {
	switch share {
	case 0:
		return ""
	case 0.9:
		return ", with what 9 of 10 lie between"
	}
	return fmt.Sprintf(", with what %.4g %% lie between", 100*share)
}

// printOutlooks writes a row per sensor: what it reads, and what it will.
func printOutlooks(w *lines, list []lifecycle.Outlook) {
	rows := [][]string{{"sensor", "now"}}
	for _, f := range list[0].Forecasts {
		rows[0] = append(rows[0], "in "+f.Horizon)
	}
	shown := list[:min(len(list), mostRows)]
	digits, to := decimals(shown), " to "
	if wide := columns(w.w); wide > 0 && wide < 100 {
		to = "–"
	}
	for _, o := range shown {
		row := []string{o.Sensor, shortNumber(o.Reading, digits)}
		if o.Broken != "" {
			row[1] += " !"
		}
		for _, f := range o.Forecasts {
			row = append(row, withInterval(f, digits, to))
		}
		rows = append(rows, row)
	}
	printColumns(w, rows)
	if more := len(list) - len(shown); more > 0 {
		w.printf("and %s more; --out F.csv writes all\n", grid.Count(more, "sensor"))
	}
}

// withInterval writes a forecast and from what to what it lies.
func withInterval(f lifecycle.Forecast, digits int, to string) string {
	text := shortNumber(f.Forecast, digits)
	switch {
	case f.Forecast == nil:
		return text
	case f.Low == nil || f.High == nil:
		return text + " (unknown)"
	}
	return text + fmt.Sprintf(" (%s%s%s)", shortNumber(f.Low, digits), to, shortNumber(f.High, digits))
}

// printPast says which sensors were not believed for a while.
func printPast(w *lines, news []lifecycle.SensorNews) {
	open, said := map[string]lifecycle.SensorNews{}, 0
	for _, n := range news {
		was, broken := open[n.Sensor]
		switch {
		case n.What == lifecycle.NewsBroken:
			open[n.Sensor] = n
		case n.What == lifecycle.NewsBack && broken:
			delete(open, n.Sensor)
			if said++; said <= mostPast {
				w.printf("%s was not believed from %s to %s: %s\n", n.Sensor, was.When(), n.When(), was.Why)
			}
		case n.What == lifecycle.NewsJoined:
			w.printf("%s joined at %s, with what its neighbours know\n", n.Sensor, n.When())
		}
	}
	if said > mostPast {
		w.printf("and %d more times that a sensor was not believed; --json lists them\n", said-mostPast)
	}
}

// mostPast is how many spells of sensors that were not believed are said.
const mostPast = 10

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
		w.printf("%s with an interval that is unknown: too few came true so far, or too many of the last missed\n",
			grid.Count(unsure, "forecast"))
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
