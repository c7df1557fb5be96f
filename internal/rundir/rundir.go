// Package rundir knows what a run leaves on disk:
//
//	config.yaml          the configuration, with paths as seen from here
//	metrics.jsonl        one line per epoch, or per step of an online run
//	checkpoint.json      where to resume training
//	model.safetensors    the best parameters so far
//	adapted.safetensors  of an online run: the model so far, and where to resume
//	predictions.npy      of an online run: the outputs so far
//	sets.npy             of an online run: the classes that each answer leaves possible
//	intervals.npy        of an online run: between which numbers each answer says that the truth is
//	compared.npy         of forecasts: what else could have been said
//	truth.npy            of forecasts: what came true
//	result.json          what came out; written last, so its presence means that the run has ended
//
// Files other than metrics.jsonl are replaced whole or not at all.
package rundir

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/wdgnn/wdgnn/internal/jsonfile"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Names of the files.
const (
	ConfigName      = "config.yaml"
	MetricsName     = "metrics.jsonl"
	CheckpointName  = "checkpoint.json"
	ModelName       = "model.safetensors"
	AdaptedName     = "adapted.safetensors"
	PredictionsName = "predictions.npy"
	SetsName        = "sets.npy"
	IntervalsName   = "intervals.npy"
	ComparedName    = "compared.npy"
	TruthName       = "truth.npy"
	ResultName      = "result.json"
)

// ErrInUse is what Create returns for a folder that holds a run.
var ErrInUse = errors.New("holds a run already")

// errTraining is what CreateOnline returns for a folder that holds a training
// run.
var errTraining = errors.New("holds a run of another kind")

// Dir is the folder of one run. It is not safe for concurrent use.
type Dir struct {
	path    string
	metrics *os.File
}

// Create prepares a folder for a new run. A folder that holds one is an error,
// unless replace is set: then the old run's files are removed.
func Create(path string, replace bool) (*Dir, error) {
	return create(path, replace, ModelName, CheckpointName)
}

// CreateOnline is Create for an online run. A training run in the folder is an
// error even if replace is set.
func CreateOnline(path string, replace bool) (*Dir, error) {
	for _, name := range []string{ModelName, CheckpointName} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return nil, fmt.Errorf("run folder %s: %w, a training run (%s)", path, errTraining, name)
		}
	}
	return create(path, replace, AdaptedName, PredictionsName, SetsName, IntervalsName, ComparedName, TruthName)
}

// create prepares a folder for a run that leaves the given files.
func create(path string, replace bool, files ...string) (*Dir, error) {
	d := &Dir{path: path}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	for _, name := range slices.Concat([]string{ResultName}, files, []string{MetricsName}) { // the claim of completion first
		switch _, err := os.Stat(d.Path(name)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("run folder: %w", err)
		case !replace:
			return nil, fmt.Errorf("run folder %s: %w (%s)", path, ErrInUse, name)
		default:
			if err := os.Remove(d.Path(name)); err != nil {
				return nil, fmt.Errorf("run folder: %w", err)
			}
		}
	}
	return d, d.openMetrics()
}

// Open continues with the folder of an earlier run. It is an error if there is
// no checkpoint.
func Open(path string) (*Dir, error) { return reopen(path, CheckpointName) }

// OpenOnline continues with the folder of an earlier online run. It is an error
// if there is no adapted model.
func OpenOnline(path string) (*Dir, error) { return reopen(path, AdaptedName) }

// reopen continues with a folder that holds the file of the given name.
func reopen(path, needed string) (*Dir, error) {
	d := &Dir{path: path}
	if _, err := os.Stat(d.Path(needed)); err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return d, d.openMetrics()
}

func (d *Dir) openMetrics() error {
	f, err := os.OpenFile(d.Path(MetricsName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	d.metrics = f
	return nil
}

// Path returns where the file of the given name is.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Close ends writing metrics.
func (d *Dir) Close() error { return d.metrics.Close() }

// Write replaces a file.
func (d *Dir) Write(name string, text []byte) error {
	return modelfile.WriteFile(d.Path(name), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// WriteJSON replaces a file by v.
func (d *Dir) WriteJSON(name string, v any) error {
	return jsonfile.Write(d.Path(name), v, "  ")
}

// WriteCompact replaces a file by v on one line.
func (d *Dir) WriteCompact(name string, v any) error {
	return jsonfile.Write(d.Path(name), v, "")
}

// ReadJSON reads a file into v.
func (d *Dir) ReadJSON(name string, v any) error {
	return jsonfile.Read(d.Path(name), v)
}

// Append adds one line to the metrics.
func (d *Dir) Append(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	if _, err := d.metrics.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

// Finished says whether the run has ended and left a result.
func (d *Dir) Finished() bool {
	_, err := os.Stat(d.Path(ResultName))
	return err == nil
}

// Trim drops the lines of the metrics from the first that keep refuses. After
// a crash there may be lines of epochs that the checkpoint does not know, and
// half a line.
func (d *Dir) Trim(keep func(line []byte) bool) error {
	text, err := os.ReadFile(d.Path(MetricsName))
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	good := 0
	for s := bufio.NewReader(bytes.NewReader(text)); ; {
		line, err := s.ReadBytes('\n')
		if err != nil || !keep(line) {
			break
		}
		good += len(line)
	}
	if good == len(text) {
		return nil
	}
	if err := os.Truncate(d.Path(MetricsName), int64(good)); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}
