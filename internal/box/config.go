package box

import (
	"cmp"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// Config is the configuration file of one box, agent.yaml. Paths are as seen
// from the folder of the file. The table of doc/runtime.md is written from the
// comments of the fields:
//
//	go generate ./internal/box
type Config struct {
	// Name of the deployment: letters, digits, `-` and `_`; the same on all
	// boxes.
	Run string `yaml:"run"`

	// Number of this box, one of `hosts`.
	Host transport.HostID `yaml:"host"`

	// All boxes by number, this one among them: `nodes` such as `0-9,12`,
	// `address` for tcp, and `metrics`, where each serves them, for `wdgnn swarm
	// status --config`; left out, at the port of `metrics` below.
	Hosts map[transport.HostID]Peer `yaml:"hosts"`

	// A model file of `wdgnn train`, the same on all boxes; with one that `wdgnn
	// online` or `wdgnn swarm collect` left, nodes begin with what they learned.
	Model string `yaml:"model"`

	// Names of sensors that were not in training, by node, for models that forecast:
	// `{24: bypass}`. A series names them itself.
	Sensors map[uint32]string `yaml:"sensors,omitempty,flow"`

	// λmax of the graph, for models with a spectral shift, where it is another than that
	// of training, which the model file has.
	Scale float64 `yaml:"scale,omitempty"`

	// How nodes learn: `preset` (`auto`, `neighbours`, `own`, `paper`, `season`) and
	// keys that override it, `links`, `rule`, `newton`, `season`, `step_size`, `ridge`,
	// `clip_norm`, `retrain`, `limit`, `gate`, `delay` and `coverage`, all of them as under
	// [`online`](config.md#online) of config.yaml. Left out or empty, nodes predict only;
	// empty, nodes that forecast learn by `season`.
	Learn *rule.Settings `yaml:"learn,omitempty"`

	// What targets are: one that package loss names; by the model's task if
	// left out.
	Cost host.Cost `yaml:"cost,omitempty"`

	// Whether a neighbour of whom one message was lost is dropped to the end of
	// the step, not for that hop only.
	Strict bool `yaml:"strict,omitempty"`

	// The longest row or vector that is accepted; 0, the default, for four times
	// the longest in training, by layer and hop, as the model file knows them,
	// less than 0 for none.
	MaxNorm float64 `yaml:"max_norm,omitempty"`

	// The length that parameters of neighbours are shortened to; 0 for none.
	ClipNorm float64 `yaml:"clip_norm,omitempty"`

	// Neighbours of the box's nodes at the start, until the world says otherwise,
	// with weights other than 1: `{3: [4, [9, 0.5]]}`.
	Links map[uint32][]host.Link `yaml:"links,omitempty"`

	// Boxes that are listened to all the time; others are when a node has a
	// neighbour there.
	Hear []transport.HostID `yaml:"hear,omitempty,flow"`

	Bus   Bus   `yaml:"bus"`
	World World `yaml:"world"`
	Pace  Pace  `yaml:"pace"`

	// Folder of checkpoints, one per box, made for its owner alone (0700, files 0600); left out, a restart begins anew.
	State string `yaml:"state,omitempty"`

	// The time between two checkpoints: 1s.
	CheckpointEvery time.Duration `yaml:"checkpoint_every,omitempty"`

	// Address of `/metrics`, `/status` and `/healthz`; left out, what `hosts` says
	// of this box, and if that is nothing they are served nowhere.
	Metrics string `yaml:"metrics,omitempty"`

	// For trials: `seed`, `loss`, `duplicate`, `reorder`, `delay`, `jitter`,
	// `partitions` disturb what arrives; with this section, even an empty one,
	// the world may also say `loss` and `reset`.
	Faults *transport.Faults `yaml:"faults,omitempty"`

	dir         string               // of the file
	rules       map[string]rule.Rule // that Learn may name
	jumps       *jumps               // of the clock; nil outside a box
	certificate *certificate         // nil outside a box, and without keys
	tick        time.Duration        // between two steps of a world by MQTT, of the model; 0 if that knows none
}

// Peer is one host of a deployment.
type Peer struct {
	Nodes   string `yaml:"nodes"`             // such as 0-9,12
	Address string `yaml:"address,omitempty"` // host:port, for direct links
	Metrics string `yaml:"metrics,omitempty"` // host:port of its /metrics and /status
}

// serves returns where this box serves metrics, "" for nowhere.
func (c *Config) serves() string { return cmp.Or(c.Metrics, c.Hosts[c.Host].Metrics) }

// Bus says what carries frames.
type Bus struct {
	// `nats`, `tcp`, or `none` if all nodes are here.
	Kind string `yaml:"kind"`

	// Of the NATS servers, comma separated.
	URL string `yaml:"url,omitempty"`

	// For tcp: where to listen, if not at the box's own address.
	Listen string `yaml:"listen,omitempty"`

	// The folder of `wdgnn swarm keys`, or the box's own part of it; without,
	// only for loopback and trials.
	Keys string `yaml:"keys,omitempty"`

	// Keys without encryption, for a NATS server on loopback.
	Plain bool `yaml:"plain,omitempty"`
}

// World says what the nodes observe.
type World struct {
	// `lines` of JSON, a `stream` of arrays, or of a series of readings, as
	// `wdgnn online` reads them, `subject`, JSON over the NATS bus, or `mqtt`, what
	// sensors [say to a broker](mqtt.md).
	Kind string `yaml:"kind"`

	// For lines: a file to read instead of stdin.
	File string `yaml:"file,omitempty"`

	// For lines and streams: a file for answers instead of stdout, appended to; for mqtt: a
	// file for them beside what is published.
	Answers string `yaml:"answers,omitempty"`

	// Of a stream: T×N×F or T×N, all nodes of the network.
	Signals string `yaml:"signals,omitempty"`

	// Of a stream: T, T×R, T×N or ×C.
	Targets string `yaml:"targets,omitempty"`

	// Of a stream: edges, with a time column if they change; of a series by name
	// or number, those of the model file if left out.
	Graph string `yaml:"graph,omitempty"`

	// Of a stream for a model that forecasts, in place of signals and targets: a
	// series of readings, as `forecast.series` of config.yaml.
	Series string `yaml:"series,omitempty"`

	// Of a series: what the readings should have been, in the same form, where
	// that is told apart; the readings if left out.
	Truths string `yaml:"truths,omitempty"`

	// Of a series: whether readings are taken that are far outside what training saw.
	AnyUnits bool `yaml:"any_units,omitempty"`

	Broker Broker `yaml:"broker,omitempty"`

	// Of mqtt: the topic of a sensor's readings, such as `sensors/{name}/temperature`.
	Topic string `yaml:"topic,omitempty"`

	// Of mqtt: JSON pointers to the numbers of a reading, such as `[/temperature]`; left
	// out, a payload is a plain number.
	Values []string `yaml:"values,omitempty,flow"`

	// Of mqtt: a JSON pointer to the time of a reading, text or seconds or milliseconds
	// since 1970; left out, it is of when it came.
	Time string `yaml:"time,omitempty"`

	// Of mqtt: names in topics that are others than those of sensors: `{esp-07: north-1}`.
	Names map[string]string `yaml:"names,omitempty,flow"`

	// Of mqtt: how long a reading stands in where none comes, for sensors that speak only
	// when something changes; left out, a step without a reading is a gap.
	Hold time.Duration `yaml:"hold,omitempty"`

	// Of mqtt: how long a step waits for readings after its time, if some are missing:
	// half a step.
	Wait time.Duration `yaml:"wait,omitempty"`

	// Of mqtt: where answers go, `answers`: then to `answers/<run>/<sensor>/<horizon>`;
	// `off` for nowhere.
	Publish string `yaml:"publish,omitempty"`

	// Of mqtt: the prefix under which Home Assistant looks for sensors, `homeassistant`
	// by default there; left out, it is not told.
	Discovery string `yaml:"discovery,omitempty"`
}

// Broker is an MQTT broker, and who a box is to it.
type Broker struct {
	// Of mqtt: where the broker is, such as `mqtts://10.77.0.1:8883`, or `mqtt://` without
	// encryption.
	URL string `yaml:"url,omitempty"`

	// Who this box is to the broker.
	User string `yaml:"user,omitempty"`

	// A file with the password, read anew for every connection.
	PasswordFile string `yaml:"password_file,omitempty"`

	// The authority of the broker's certificate; that of the system if left out.
	CA string `yaml:"ca,omitempty"`

	// A certificate, for brokers that ask for one.
	Cert string `yaml:"cert,omitempty"`

	// Its key.
	Key string `yaml:"key,omitempty"`

	// The name of the session: `wdgnn-<run>-<host>`.
	Client string `yaml:"client,omitempty"`

	// 1 (default): the broker keeps what comes while the box is away, and both send again
	// what was not acknowledged; 0: neither.
	QoS *int `yaml:"qos,omitempty"`
}

// Pace is host.Pace with the period of worlds that have no clock.
type Pace struct {
	// `lockstep` (default) or `real-time` (default with a period), see
	// [pacing](runtime.md#pacing).
	Mode host.Pacing `yaml:"mode,omitempty"`

	// How long a step waits for silent neighbours: 1s, or 0.8 of the period.
	Deadline time.Duration `yaml:"deadline,omitempty"`

	// When silent neighbours are asked again: after three times what an exchange
	// usually takes, then twice that, at most a fifth of the deadline; those of whom
	// frames were lost lately after as long as they take to answer; less than 0 for
	// never.
	Retry time.Duration `yaml:"retry,omitempty"`

	// Silent steps in a row until a neighbour is not waited for: 3.
	Suspect int `yaml:"suspect,omitempty"`

	// How long a box stays after the end of its world: the deadline for streams
	// and files.
	Linger time.Duration `yaml:"linger,omitempty"`

	// The deadline of the first step after a start, when other boxes may still be
	// starting.
	First time.Duration `yaml:"first,omitempty"`

	// The time between two steps of a stream or a file of lines; 0 means as fast
	// as the neighbours.
	Period time.Duration `yaml:"period,omitempty"`

	// When step 0 is, with a period: steps whose time is over are left out, so
	// that a box which is started late, or again, is where the others are. Several
	// boxes must share one, and have clocks that agree. A single box without it
	// begins when it is started, and goes on where it was when it is started again.
	Start time.Time `yaml:"start,omitempty"`
}
