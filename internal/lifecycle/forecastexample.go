package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/random"
)

// ForecastExample is a small series to begin with: the speed of traffic, in km/h
// every 15 min, at 24 places on three roads into a town. There is a rush in the
// morning and one in the evening, on some roads more than on others, stronger and
// later on some days than on others, and hardly any at weekends. Queues grow from
// the town outwards, so what a sensor reads its neighbour away from the town will
// read soon after. Some readings are missing.
//
// Later goes on where Readings end, for a week in which the morning rush moves, a
// sensor breaks and is repaired, and one joins that was not there before.
//
// The numbers are the same on every machine.
type ForecastExample struct {
	Readings     string // a table, time and a column per sensor
	Sensors      string // src,dst by name
	Later        string // as Readings, with one sensor more
	LaterSensors string // src,dst,time
}

const (
	roadPlaces    = 8              // on each road, the last in the town
	roadDaySteps  = 96             // of 15 min
	roadDays      = 21             // to train on
	roadLaterDays = 7              // after them
	roadJam       = 8.0            // km/h
	roadJoins     = roadDaySteps   // step of the later week at which the newcomer joins
	roadMoves     = 3              // day of the later week from which the morning rush is late
	roadStuck     = 2*96 + 40      // step at which the broken sensor stands still
	roadWild      = roadStuck + 64 // then it says anything
	roadRepaired  = 5*96 + 32      // and is right again
)

var (
	roadNames = []string{"north", "east", "west"}
	roadStart = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) // a Monday

	// How much traffic goes into the town on each road in the morning, and out in
	// the evening.
	roadMorning = []float64{1, 0.8, 0.35}
	roadEvening = []float64{0.3, 0.7, 1}

	roadWeekday = []float64{1, 0.95, 1, 1, 0.85, 0.2, 0.12} // from Monday on
)

const (
	newcomerName = "bypass" // from the middle of the first road to the middle of the second
	brokenName   = "east-3"
)

// NewForecastExample draws the series.
func NewForecastExample() *ForecastExample {
	w := newRoads()
	e := &ForecastExample{Sensors: "src,dst\n" + w.links("", false)}
	rng := random.Stream(exampleSeed, "forecast example gaps")
	steps := roadDays * roadDaySteps
	speeds := w.run(steps + roadLaterDays*roadDaySteps)
	known := len(w.names) - 1
	e.Readings = w.table(speeds[:steps], 0, known, rng)
	later := speeds[steps:]
	breaks(later, slices.Index(w.names, brokenName), random.Stream(exampleSeed, "forecast example broken"))
	for _, row := range later[:roadJoins] {
		row[known] = nothing
	}
	e.Later = w.table(later, steps, known+1, rng)
	e.LaterSensors = "src,dst,time\n" + w.links(","+stepTime(steps), false) + w.links(","+stepTime(steps+roadJoins), true)
	return e
}

// nothing stands for a reading that there is not.
const nothing = -1.0

// breaks makes sensor i stand still, then say anything, until it is repaired.
func breaks(speeds [][]float64, i int, rng *rand.Rand) {
	for t := roadStuck; t < roadRepaired; t++ {
		speeds[t][i] = speeds[roadStuck][i]
		if t >= roadWild {
			speeds[t][i] = float64(rng.IntN(1400)) / 10
		}
	}
}

func stepTime(t int) string {
	return roadStart.Add(time.Duration(t) * 15 * time.Minute).Format("2006-01-02 15:04")
}

// roads is a town with roads into it. Place p of road r is sensor r·roadPlaces+p;
// the newcomer is the last.
type roads struct {
	names []string
	ahead [][]int // the next places on the way into the town
	free  []float64
	rng   *rand.Rand
}

func newRoads() *roads {
	w := &roads{rng: random.Stream(exampleSeed, "forecast example")}
	for r, name := range roadNames {
		for p := range roadPlaces {
			w.names = append(w.names, fmt.Sprintf("%s-%d", name, p+1))
			next := []int{r*roadPlaces + p + 1}
			if p == roadPlaces-1 { // in the town, the other roads
				next = nil
				for other := range roadNames {
					if other != r {
						next = append(next, other*roadPlaces+p)
					}
				}
			}
			w.ahead = append(w.ahead, next)
			w.free = append(w.free, 105-5*float64(p)+float64(w.rng.IntN(9)))
		}
	}
	w.names = append(w.names, newcomerName)
	w.ahead = append(w.ahead, []int{3, roadPlaces + 3})
	w.free = append(w.free, 90)
	return w
}

// links lists who is next to whom, and what ends a line; those of the newcomer
// only if it is there.
func (w *roads) links(end string, newcomer bool) string {
	var b strings.Builder
	for i, next := range w.ahead {
		for _, j := range next {
			again := i < len(w.names)-1 && j < i // in the town, listed from the other side
			if !again && (newcomer || i < len(w.names)-1) {
				fmt.Fprintf(&b, "%s,%s%s\n", w.names[i], w.names[j], end)
			}
		}
	}
	return b.String()
}

// roadDay is what makes one day differ from another.
type roadDay struct{ strength, morning, evening float64 } // of both rushes; hours

func (w *roads) day(d int) roadDay {
	x := roadDay{
		strength: roadWeekday[d%7] * (1 + float64(0.22*w.rng.NormFloat64())),
		morning:  7.5 + float64(0.45*w.rng.NormFloat64()),
		evening:  17 + float64(0.45*w.rng.NormFloat64()),
	}
	if d >= roadDays+roadMoves {
		x.morning += 1.5
	}
	return x
}

// rush is a hill of height 1 around hour 0.
func rush(hours float64) float64 {
	h := hours * hours
	return 1 / (1 + float64(h*h))
}

// run returns the speed at every place for the given number of steps.
func (w *roads) run(steps int) [][]float64 {
	n := len(w.names)
	density, next, accident := make([]float64, n), make([]float64, n), make([]float64, n)
	speeds := make([][]float64, steps)
	var today roadDay
	for t := range speeds {
		if t%roadDaySteps == 0 {
			today = w.day(t / roadDaySteps)
		}
		speeds[t] = make([]float64, n)
		for i := range n {
			if accident[i] *= 0.75; w.rng.Float64() < 0.002 {
				accident[i] = 0.15 + float64(0.25*w.rng.Float64())
			}
			next[i] = w.flow(density, i, today.demand(i, float64(t%roadDaySteps)/4), accident[i])
			speeds[t][i] = w.speed(i, next[i])
		}
		density, next = next, density
	}
	return speeds
}

// demand is how much traffic wants to pass place i at an hour: more nearer to the
// town.
func (d roadDay) demand(i int, hour float64) float64 {
	r := min(i/roadPlaces, len(roadNames)-1)
	rushes := float64(roadMorning[r]*rush(hour-d.morning)) + float64(roadEvening[r]*rush(hour-d.evening))
	return d.strength * rushes * (0.4 + float64(0.6*float64(i%roadPlaces)/(roadPlaces-1)))
}

// flow is the density of traffic at place i after one step,
//
//	c_i ← .5 c_i + .36 (mean of the next places on the way into the town) + .2 demand + accident + noise
func (w *roads) flow(density []float64, i int, demand, accident float64) float64 {
	front := 0.0
	for _, j := range w.ahead[i] {
		front += density[j] / float64(len(w.ahead[i]))
	}
	noise := 0.01 + float64(0.012*w.rng.NormFloat64())
	return max(0, float64(0.5*density[i])+float64(0.36*front)+float64(0.2*demand)+accident+noise)
}

// speed falls with density from that of a free road to that of a jam, by
// c²/(c² + .3), and is read with noise.
func (w *roads) speed(i int, density float64) float64 {
	c := density * density
	jam := c / (c + 0.3)
	return max(0, w.free[i]-float64((w.free[i]-roadJam)*jam)+float64(1.2*w.rng.NormFloat64()))
}

// table writes the first n sensors, from a step of the first series on. One
// reading in a hundred is missing, now and then a sensor is silent for hours, and
// once the whole network for one.
func (w *roads) table(speeds [][]float64, from, n int, rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString("time," + strings.Join(w.names[:n], ",") + "\n")
	silent := make([]int, n) // steps still to come
	for t, row := range speeds {
		quiet := t >= 500 && t < 504
		if quiet && from == 0 {
			continue // no line at all
		}
		b.WriteString(stepTime(from + t))
		for i := range n {
			b.WriteByte(',')
			if silent[i]--; rng.Float64() < 0.0006 {
				silent[i] = 8 + rng.IntN(16)
			}
			if row[i] != nothing && silent[i] <= 0 && rng.Float64() > 0.01 {
				b.WriteString(strconv.FormatFloat(float64(int(float64(row[i]*10)+0.5))/10, 'f', -1, 64))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
