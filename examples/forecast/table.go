package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// table is a series of readings: step after step, a reading per sensor, NaN if there
// is none.
type table struct {
	sensors  []string
	begin    time.Time
	interval time.Duration
	steps    int
	readings []float32 // steps × sensors
}

// part returns the readings of steps from … to-1, a row each per sensor.
func (s *table) part(from, to int) mat.Dense {
	n := len(s.sensors)
	return mat.NewDense((to-from)*n, 1, s.readings[from*n:to*n])
}

// readSeries reads a table with a time column and a column per sensor. Its times are
// those of an even grid, of which some may be missing; wdgnn reads others, too.
func readSeries(path string) (*table, error) {
	lines, err := readTable(path)
	if err != nil {
		return nil, err
	}
	if len(lines) < 3 || len(lines[0]) < 2 {
		return nil, fmt.Errorf("%s: %d lines, want a header and readings", path, len(lines))
	}
	s := &table{sensors: lines[0][1:]}
	for k, line := range lines[1:] {
		if err := s.add(line); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, 2+k, err)
		}
	}
	return s, nil
}

// add takes in a line; the first two say what the grid is.
func (s *table) add(line []string) error {
	at, err := time.Parse("2006-01-02 15:04", line[0])
	if err != nil {
		return err
	}
	switch s.steps {
	case 0:
		s.begin = at
	case 1:
		s.interval = at.Sub(s.begin)
	}
	for ; s.steps > 0 && s.begin.Add(time.Duration(s.steps)*s.interval).Before(at); s.steps++ {
		for range s.sensors { // nothing was read then
			s.readings = append(s.readings, float32(math.NaN()))
		}
	}
	s.steps++
	for _, cell := range line[1:] {
		v := math.NaN()
		if cell != "" {
			if v, err = strconv.ParseFloat(cell, 32); err != nil {
				return err
			}
		}
		s.readings = append(s.readings, float32(v))
	}
	return nil
}

// follow appends a table that goes on where s ends. Sensors that s does not have are
// left out here; with wdgnn they join.
func (s *table) follow(later *table) error {
	end := s.begin.Add(time.Duration(s.steps) * s.interval)
	if !later.begin.Equal(end) || later.interval != s.interval {
		return fmt.Errorf("a series that begins at %v with steps of %v, want %v and %v", later.begin, later.interval, end, s.interval)
	}
	for t := range later.steps {
		row := later.part(t, t+1)
		for _, name := range s.sensors {
			i := slices.Index(later.sensors, name)
			if i < 0 {
				return fmt.Errorf("sensor %s is gone", name)
			}
			s.readings = append(s.readings, row.At(i, 0))
		}
	}
	s.steps += later.steps
	return nil
}

// readLinks reads which sensors hear each other, src,dst by name.
func readLinks(path string, sensors []string) (*graph.Graph, error) {
	number := map[string]int{}
	for i, name := range sensors {
		number[name] = i
	}
	lines, err := readTable(path)
	if err != nil {
		return nil, err
	}
	var edges []graph.Edge
	for k, line := range lines[1:] {
		a, known := number[line[0]]
		b, both := number[line[1]]
		if !known || !both {
			return nil, fmt.Errorf("%s: line %d: no sensor %q, or no %q", path, 2+k, line[0], line[1])
		}
		edges = append(edges, graph.Edge{From: a, To: b, Weight: 1})
	}
	return graph.FromEdges(len(sensors), edges, false)
}

func readTable(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s is empty", path)
	}
	return lines, nil
}
