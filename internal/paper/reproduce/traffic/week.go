package traffic

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/wdgnn/wdgnn/internal/shop/dataset"
)

// Files of the data set.
const (
	speedFile     = "speed.csv"
	adjacencyFile = "adjacency.csv"
	streamFile    = "metrla_stream.json" // optional: see stream
)

// week is what the folder of the data set holds.
type week struct {
	Sensors []string    `json:"sensors"`
	Speeds  [][]float64 `json:"speeds"` // T×N, mph
	Links   []link      `json:"links"`
	Stream  *stream     `json:"stream,omitempty"` // as the folder has it
}

// link joins two sensors, in both directions.
type link struct {
	A, B   int
	Weight float64
}

// least is how many steps a series has at least: training needs two days, and there
// are three origins.
const least = 900

// readWeek reads the folder of the data set.
func readWeek(folder string) (*week, error) {
	if folder == "" {
		folder = filepath.Join("data", "metr-la")
	}
	w, err := openWeek(folder)
	if err != nil {
		return nil, &dataset.Problem{
			Err: fmt.Errorf("the week of METR-LA: %w", err),
			Try: "--data DIR with " + speedFile + " (a first line of sensor ids, then a line of speeds in mph every 5 minutes) and " +
				adjacencyFile + " (weights, sensors×sensors) of METR-LA, the week of 1 to 7 March 2012 that is passed around " +
				"with T-GCN; it is not ours to ship",
		}
	}
	return w, nil
}

func openWeek(folder string) (*week, error) {
	w := new(week)
	err := readLines(filepath.Join(folder, speedFile), func(line int, cells []string) error {
		if line == 1 {
			w.Sensors = cells
			return nil
		}
		row, err := numbers(cells)
		w.Speeds = append(w.Speeds, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(w.Speeds) < least || len(w.Sensors) < 2 {
		return nil, fmt.Errorf("%s: %d lines of %d sensors, want at least %d of 2", speedFile, len(w.Speeds), len(w.Sensors), least)
	}
	if err := w.readLinks(filepath.Join(folder, adjacencyFile)); err != nil {
		return nil, err
	}
	w.Stream, err = readStream(filepath.Join(folder, streamFile), w)
	return w, err
}

// readLinks reads a matrix of weights; what a sensor gives itself counts nothing.
func (w *week) readLinks(path string) error {
	rows := 0
	err := readLines(path, func(line int, cells []string) error {
		row, err := numbers(cells)
		if err == nil && len(row) != len(w.Sensors) {
			err = fmt.Errorf("%d weights, want %d", len(row), len(w.Sensors))
		}
		if err != nil {
			return err
		}
		for j := range min(line-1, len(row)) {
			if row[j] > 0 {
				w.Links = append(w.Links, link{j, line - 1, row[j]})
			}
		}
		rows = line
		return nil
	})
	if err == nil && rows != len(w.Sensors) {
		err = fmt.Errorf("%s: %d lines, want %d", filepath.Base(path), rows, len(w.Sensors))
	}
	return err
}

// readLines calls take with every line of a table, counted from 1.
func readLines(path string, take func(line int, cells []string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	table := csv.NewReader(f)
	for line := 1; ; line++ {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = take(line, cells)
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", filepath.Base(path), line, err)
		}
	}
}

func numbers(cells []string) ([]float64, error) {
	row := make([]float64, len(cells))
	for k, cell := range cells {
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil || v-v != 0 {
			return nil, fmt.Errorf("%q is no number", cell)
		}
		row[k] = v
	}
	return row, nil
}
