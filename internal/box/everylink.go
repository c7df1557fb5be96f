package box

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/modelfile"
)

// EveryLink reads a graph of every link that there may ever be between the nodes of a
// deployment. Where its model forecasts, sensors have names, and the file is read as
// wdgnn train and wdgnn online read links between sensors; links of all times count.
// Otherwise nodes are numbers.
func (c *Config) EveryLink(path string) (*graph.Graph, error) {
	sensors, err := c.sensorSeries()
	if err != nil {
		return nil, err
	}
	if sensors != nil {
		g, err := data.LoadSensorGraph(data.SensorGraph{Graph: path, Ever: true}, sensors)
		if err != nil {
			return nil, err
		}
		return g.At(0), nil
	}
	file, err := modelfile.LoadGraph(path, modelfile.GraphOptions{})
	if err != nil {
		return nil, err
	}
	if file.Graph == nil {
		return nil, fmt.Errorf("%s has a time column; want every link that there may ever be, without times", path)
	}
	return file.Graph, nil
}

// sensorSeries returns the sensors of a deployment by name, without readings; nil if
// its model does not forecast, or is not here.
func (c *Config) sensorSeries() (*data.Series, error) {
	if c.Model == "" {
		return nil, nil
	}
	m, err := modelfile.Load(c.abs(c.Model))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	spec, err := m.Forecast()
	if spec == nil || err != nil {
		return nil, err
	}
	names := slices.Clone(spec.Sensors)
	if c.World.Series != "" { // newcomers are named there
		s, err := data.LoadSeries(c.abs(c.World.Series), data.SeriesOptions{
			Every: spec.Interval, Origin: spec.Origin, Missing: spec.Missing, Names: spec.Sensors,
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("world: %w", err)
		}
		if err == nil {
			names = s.Names
		}
	}
	for _, peer := range c.Hosts {
		list, err := host.ParseNodes(peer.Nodes)
		if err != nil {
			return nil, err
		}
		for last := list[len(list)-1]; len(names) <= int(last); {
			names = append(names, strconv.Itoa(len(names)))
		}
	}
	for node, name := range c.Sensors {
		if int(node) < len(names) {
			names[node] = name
		}
	}
	return &data.Series{Names: names, Nodes: len(names), Known: len(spec.Sensors), Steps: 1}, nil
}
