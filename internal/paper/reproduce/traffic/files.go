package traffic

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"text/template"
	"time"

	"github.com/wdgnn/wdgnn/modelfile"
)

// The clock of the data set.
var begin = time.Date(2012, 3, 1, 0, 0, 0, 0, time.UTC)

const (
	interval = 5 * time.Minute
	clock    = "2006-01-02 15:04"
)

// horizons are how many steps ahead is forecast.
var horizons = []int{1, 3, 6, 12}

// ahead names a horizon.
func ahead(h int) string { return fmt.Sprintf("%d min", h*int(interval/time.Minute)) }

// writeSeries writes rows of readings as a table with times; NaN is an empty cell.
// The first row is row first of the week.
func writeSeries(path string, sensors []string, rows [][]float64, first int) error {
	return write(path, func(w *bufio.Writer) {
		w.WriteString("time")
		for _, name := range sensors {
			w.WriteString("," + name)
		}
		for t, row := range rows {
			w.WriteString("\n" + begin.Add(time.Duration(first+t)*interval).Format(clock))
			for _, v := range row {
				w.WriteByte(',')
				if v-v == 0 {
					w.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
				}
			}
		}
		w.WriteByte('\n')
	})
}

// writeLinks writes links by the names of their sensors.
func writeLinks(path string, sensors []string, links []link) error {
	return write(path, func(w *bufio.Writer) {
		w.WriteString("src,dst,weight\n")
		for _, l := range links {
			fmt.Fprintf(w, "%s,%s,%g\n", sensors[l.A], sensors[l.B], l.Weight)
		}
	})
}

func write(path string, fill func(w *bufio.Writer)) error {
	return modelfile.WriteFile(path, func(to io.Writer) error {
		w := bufio.NewWriter(to)
		fill(w)
		return w.Flush()
	})
}

// experimentConfig is the configuration of a model and of what it meets.
type experimentConfig struct {
	Seed        uint64
	Epochs      int
	Threads     int
	Series      string // of training and, unless Stream says otherwise, of the test
	Valid, Test float64
	Calendar    bool
	Preset      string // with keys behind it
	Loss        string // that is learned from; empty means that of training
	Stream      *streamConfig
}

// streamConfig names the files of a world that changes.
type streamConfig struct{ Series, Answers, Graph string }

var configText = template.Must(template.New("config.yaml").ParseFS(textFiles, "text/config.yaml"))

// writeConfig writes a configuration, which wdgnn train and wdgnn online read as well.
func writeConfig(dir, name string, c experimentConfig) (path string, err error) {
	path = filepath.Join(dir, name+".yaml")
	return path, modelfile.WriteFile(path, func(w io.Writer) error { return configText.Execute(w, c) })
}
