package config

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// Config is one run of `wdgnn train`, which names data, a forecast or a scenario,
// and of `wdgnn online`. For the second alone, `online` is enough, or `online` with
// `data`.
type Config struct {
	// The root of every random stream: starting values, the order of samples,
	// the split, lost links. One seed gives one result.
	Seed uint64 `yaml:"seed" example:"7"`

	// Threads to compute on, -1 for one per processor. They do not change the
	// result.
	Threads int `yaml:"threads" example:"-1"`

	// The folder that the run is written to. It is made if it does not exist.
	Out Path `yaml:"out" example:"runs/first"`

	// Your own data, in files. Leave it out for a forecast or a scenario.
	Data *Data `yaml:"data,omitempty"`

	// What sensors will read, from a series of what they read.
	Forecast *Forecast `yaml:"forecast,omitempty"`

	// A built-in world instead of data: `sourceloc`, detectors are to say in
	// which community of a network a pulse started; `flocking`, robots learn
	// from an expert to fly together; `movies`, ratings of one movie are told
	// from those of others.
	Scenario string `yaml:"scenario,omitempty" default:"none" example:"sourceloc"`

	// Settings of the scenario `sourceloc`.
	Sourceloc *Sourceloc `yaml:"sourceloc,omitempty"`

	// Settings of the scenario `flocking`.
	Flocking *Flocking `yaml:"flocking,omitempty"`

	// Settings of the scenario `movies`.
	Movies Section `yaml:"movies,omitempty"`

	// The architecture, which `wdgnn train` wants. The number of inputs and outputs
	// follows from the data.
	Model Model `yaml:"model"`

	// How to train.
	Train Train `yaml:"train"`

	// A stream to keep learning from, once a model is trained.
	Online *Online `yaml:"online,omitempty"`

	dir string // where relative paths begin
}

// Path names a file or folder. A relative one begins at the folder of the
// configuration.
type Path string

// Data names files. Arrays are NumPy `.npy` files, or members of `.npz` files
// as in `all.npz:signals`; N is the number of nodes, F that of features.
type Data struct {
	// The graph: an edge list `.csv` or `.tsv` with columns
	// `src,dst[,weight][,time]`, or a SciPy sparse `.npz`. With a time column
	// the graph changes at every step, signals are trajectories, and filters
	// are delayed: one hop takes one step.
	Graph Path `yaml:"graph" default:"required" example:"graph.csv"`

	// Whether links have a direction: `src` is heard by `dst`.
	Directed bool `yaml:"directed" example:"true"`

	// The number of nodes N; 0 takes it from the signals.
	Nodes int `yaml:"nodes" example:"50"`

	// The shift operator: `adjacency`, `spectral`, `symmetric`, `laplacian`,
	// `normalized-laplacian` or `row-stochastic`.
	Shift graph.Shift `yaml:"shift" example:"symmetric"`

	// What the nodes observe: samples×N×F, or samples×N for one feature. On a
	// graph with a time column of T steps: samples×T×N×F, or T×N×F for one
	// trajectory.
	Signals Path `yaml:"signals" default:"required" example:"signals.npy"`

	// What the model is to say. For `classify` a class from 0, or -1 for none:
	// one per sample, or samples×N, or samples×R for the R nodes that are
	// read. For `regress` values: samples×N×C or samples×R×C, where C may be
	// left out if it is 1. On a graph with a time column the T steps come
	// after the samples: samples×T×N×C.
	Targets Path `yaml:"targets" default:"required" example:"targets.npy"`

	// The nodes whose outputs are read, counted from 0. Only their outputs
	// are computed and judged.
	Read []int `yaml:"read,omitempty,flow" default:"all nodes" example:"[3, 17, 29]"`

	// What is asked of the nodes: `classify` or `regress`.
	Task Task `yaml:"task" default:"required" example:"classify"`

	// The number of classes; 0 means one more than the largest label. For
	// `classify` only.
	Classes int `yaml:"classes" example:"5"`

	// The loss of `regress`: one that package loss names. `hinge` wants
	// targets of 1 and -1. For `classify` it is the cross-entropy.
	Loss string `yaml:"loss,omitempty" default:"mse" example:"smooth-l1"`

	// Which targets of `regress` are known: numbers other than 0 where they
	// are, one per row of the targets: samples×N or samples×R. The other rows
	// are not judged and may be NaN.
	Mask Path `yaml:"mask,omitempty" default:"all known" example:"known.npy"`

	// How samples are set aside for validation and test. Validation chooses
	// the parameters that are kept; the test is run once, at the end.
	Split Split `yaml:"split"`

	// Validation samples in files of their own, instead of a split.
	Valid *Files `yaml:"valid,omitempty"`

	// Test samples in files of their own, instead of a split.
	Test *Files `yaml:"test,omitempty"`
}

// Split sets samples aside.
type Split struct {
	// The share of samples to validate on, rounded down to whole samples.
	Valid float64 `yaml:"valid" example:"0.2"`

	// The share of samples to test on, rounded down to whole samples.
	Test float64 `yaml:"test" example:"0.2"`

	// Whether the last samples of the file are set aside, first those for
	// validation, then those for the test. Otherwise they are drawn at random.
	InOrder bool `yaml:"in_order" example:"true"`
}

// Files are samples for validation or test.
type Files struct {
	// Signals, shaped as those of the training data.
	Signals Path `yaml:"signals" default:"required" example:"test_signals.npy"`

	// Targets, shaped as those of the training data.
	Targets Path `yaml:"targets" default:"required" example:"test_targets.npy"`

	// Which targets are known, as for the training data.
	Mask Path `yaml:"mask,omitempty" default:"all known" example:"test_known.npy"`
}

// Sourceloc is the source localization experiment of the paper, Section 6.1.
type Sourceloc struct {
	// The network.
	sourceloc.Config `yaml:",inline"`

	// Signals to train on.
	TrainSamples int `yaml:"train_samples" example:"10000"`

	// Signals to validate on.
	ValidSamples int `yaml:"valid_samples" example:"2500"`

	// Signals to test on.
	TestSamples int `yaml:"test_samples" example:"1000"`
}

// Flocking is the control of robots of the paper, Section 6.2: a model learns to
// do what an expert does that sees everything. It has at most one layer.
type Flocking struct {
	// The robots of a flight.
	Robots int `yaml:"robots" example:"50"`

	// How far apart robots may be and still hear each other, in metres.
	CommRadiusMeters float64 `yaml:"comm_radius_meters" example:"2"`

	// The length of a flight in seconds.
	DurationSeconds float64 `yaml:"duration_seconds" example:"2"`

	// The time between two steps in seconds.
	SampleSeconds float64 `yaml:"sample_seconds" example:"0.01"`

	// The most that a component of an acceleration may be, in m/s².
	MaxAccelMPS2 float64 `yaml:"max_accel_mps2" example:"10"`

	// The bound of the features that grow without limit when two robots nearly
	// collide; 0 means none.
	NearCap float64 `yaml:"near_cap" example:"30"`

	// The shift operator: `spectral` as in the paper, or one that robots can
	// compute themselves, `row-stochastic`.
	Shift graph.Shift `yaml:"shift" example:"row-stochastic"`

	// Flights of the expert to train on.
	TrainFlights int `yaml:"train_flights" example:"400"`

	// Flights that the model flies itself after two thirds of the epochs, to learn
	// what the expert would have done there too, by DAgger; 0 means none, as in
	// the paper. The epochs afterwards are longer, and so there are fewer.
	DaggerFlights int `yaml:"dagger_flights" example:"100"`

	// Flights to validate on: a model in training flies them itself.
	ValidFlights int `yaml:"valid_flights" example:"10"`

	// Flights to test on.
	TestFlights int `yaml:"test_flights" example:"40"`
}

// Model is the architecture: a wide part, a deep part, or both, and a readout
// at every node.
type Model struct {
	// Features that both parts give, before the readout; 0 means those of the
	// last layer of the deep part.
	Features int `yaml:"features" example:"32"`

	// The wide part, a linear graph filter. Leave it out for a GNN alone.
	Wide *gnn.WideConfig `yaml:"wide,omitempty"`

	// The layers of the deep part, first to last. Leave it out for a graph
	// filter alone.
	Deep []gnn.LayerConfig `yaml:"deep,omitempty"`

	// Whether there is no readout: the outputs are the features themselves.
	NoReadout bool `yaml:"no_readout" example:"true"`

	// Whether filters and readout have no biases.
	NoBias bool `yaml:"no_bias" example:"true"`

	// Whether the gains, which weigh the wide against the deep part, keep
	// their starting values.
	FixedGains bool `yaml:"fixed_gains" example:"true"`

	// Starting values of the gains, which weigh the parts: outputs are
	// wide·A + deep·Φ + bias. For models with both parts.
	Gains *gnn.Gains `yaml:"gains,omitempty"`
}

// Train says how to train.
type Train struct {
	// Passes over the training samples. A finished run can be continued with
	// more.
	Epochs int `yaml:"epochs" example:"100"`

	// Samples per step.
	BatchSize int `yaml:"batch_size" example:"50"`

	// The optimiser Adam, the default.
	Adam *optim.AdamConfig `yaml:"adam,omitempty"`

	// Stochastic gradient descent instead of Adam.
	SGD *optim.SGDConfig `yaml:"sgd,omitempty"`

	// Gradients longer than this are shortened to it; 0 never.
	ClipNorm float64 `yaml:"clip_norm" example:"1"`

	// The weight λ of (λ/2)‖θ‖², added to the loss.
	Ridge float64 `yaml:"ridge" example:"1e-4"`

	// A penalty on filters that bend sharply, which makes the model stable to
	// changes of the graph; `wdgnn certify` says by how much. It is (s/2) Σ C²,
	// added to the loss, where C is the integral Lipschitz constant of a pair of
	// features: the largest slope λ a'(λ), up or down, of its frequency response a.
	Lipschitz *gnn.Lipschitz `yaml:"lipschitz,omitempty"`

	// What validation compares: `loss`, or what the task has beside it:
	// `accuracy` for `classify`, for the scenario `flocking` the `cost` of
	// flights, the velocity variation summed up over time, and for `movies` the
	// `rmse` of the ratings.
	Select string `yaml:"select,omitempty" default:"what the task has; loss for regress" example:"loss"`

	// Steps between validations; 0 means once per epoch.
	ValidateEvery int `yaml:"validate_every" example:"100"`

	// Validations without a better score after which training ends; 0 never.
	Patience int `yaml:"patience" example:"10"`

	// How often training may begin anew because every unit of the deep part
	// died in the first epochs; 0 means 3, -1 never.
	Restarts int `yaml:"restarts" example:"5"`

	// In which coordinates of its inputs the model is trained. Small signals beside
	// large biases leave most units of a deep part dead; scaled inputs do not.
	Inputs *train.Inputs `yaml:"inputs,omitempty"`

	// Links that are missing in training, others for every batch, with a
	// probability from `from` to `to`: the model learns to live with lost links.
	// Validation then compares the mean of two scores: with all links, and with
	// links that are missing likewise, other ones for every 64 samples.
	Outage *train.Outage `yaml:"outage,omitempty"`

	// The decay a of a running mean of the parameters over steps, below 1. What is
	// validated and kept are then the means, which steps of a few samples shake
	// less; 0 keeps the parameters themselves.
	Average float64 `yaml:"average,omitempty" default:"0" example:"0.999"`

	// One probability that a link is missing instead of `outage`, drawn anew for
	// every batch; validation has all links.
	OutageProb float64 `yaml:"outage_prob" example:"0.1"`

	// About how many rows, nodes times samples, run through the model at once;
	// 0 means 1024. Losses and steps are means over the rows of a whole batch
	// that are judged, whatever this is.
	PassRows int `yaml:"pass_rows" example:"4096"`
}

// Task is what is asked of the nodes.
type Task string

// The tasks.
const (
	Classify Task = "classify"
	Regress  Task = "regress"
)

// defaults returns what a configuration holds before it is read.
func defaults() Config {
	return Config{
		Threads: 1,
		Out:     "run",
		Train:   Train{Epochs: 40, BatchSize: 32},
	}
}

// Abs returns where p leads: as it is if it is absolute, otherwise from the
// folder of the configuration.
func (c *Config) Abs(p Path) string {
	if filepath.IsAbs(string(p)) {
		return string(p)
	}
	return filepath.Join(c.dir, filepath.FromSlash(string(p)))
}

// Fingerprint identifies what a training run computes, given its data. Threads, the
// number of epochs and all paths are left out: a run may be continued with
// others.
func (c *Config) Fingerprint() string {
	same := *c
	same.Threads, same.Out, same.Train.Epochs, same.Online = 0, "", 0, nil
	if c.Movies != nil {
		same.Movies = c.Movies.Unplaced()
	}
	if c.Data != nil {
		d := *c.Data
		d.Graph, d.Signals, d.Targets, d.Mask = "", "", "", ""
		for _, files := range []**Files{&d.Valid, &d.Test} {
			if *files != nil {
				*files = &Files{}
			}
		}
		same.Data = &d
	}
	if c.Forecast != nil {
		f := *c.Forecast
		f.Series, f.Answers, f.Graph, f.Coordinates, f.Mask = "", "", "", "", ""
		same.Forecast = &f
	}
	text, err := yaml.Marshal(&same)
	if err != nil {
		panic("config: Fingerprint: " + err.Error()) // a Config holds nothing that YAML cannot
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
