package box

import (
	"time"

	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// Config is the configuration file of one box, agent.yaml. Paths are as seen
// from the folder of the file.
type Config struct {
	// The name of the run: letters, digits, - and _. All boxes of a deployment
	// share it.
	Run string `yaml:"run"`

	// The number of this host, one of Hosts.
	Host transport.HostID `yaml:"host"`

	// All hosts of the deployment by number, this one among them.
	Hosts map[transport.HostID]Peer `yaml:"hosts"`

	// The model file, and what else the nodes share.
	Model string `yaml:"model"`

	// Scale is λmax of the graph, for models whose shift is divided by it; a
	// number, or "estimate", which lets the nodes find it out together.
	Scale string `yaml:"scale,omitempty"`

	// Diameter bounds the number of hops between any two nodes, for a scale
	// that is estimated; 0 means the number of all nodes less one.
	Diameter int `yaml:"diameter,omitempty"`

	// Learn says how nodes learn, with the keys of `online` in config.yaml.
	// Nothing means that nodes predict only.
	Learn *rule.Settings `yaml:"learn,omitempty"`

	// Cost is what targets of the world mean.
	Cost host.Cost `yaml:"cost,omitempty"`

	// Strict drops a neighbour of whom one message did not come for the rest of
	// the step; otherwise it is left out of that hop only. See agent.Plan.
	Strict bool `yaml:"strict,omitempty"`

	// MaxNorm and ClipNorm guard against absurd messages; see agent.Plan. A
	// MaxNorm of 0 means four times the longest rows in training, by layer and
	// hop, as the model file knows them; less than 0 means none.
	MaxNorm  float64 `yaml:"max_norm,omitempty"`
	ClipNorm float64 `yaml:"clip_norm,omitempty"`

	// Links are the neighbours of the box's nodes at the start, lists of
	// nodes or [node, weight].
	Links map[uint32][]host.Link `yaml:"links,omitempty"`

	// Hear names hosts that are listened to all the time.
	Hear []transport.HostID `yaml:"hear,omitempty,flow"`

	Bus   Bus   `yaml:"bus"`
	World World `yaml:"world"`
	Pace  Pace  `yaml:"pace"`

	// State is the folder of checkpoints, written every CheckpointEvery.
	State           string        `yaml:"state,omitempty"`
	CheckpointEvery time.Duration `yaml:"checkpoint_every,omitempty"`

	// Metrics is the address that /metrics, /status and /healthz are served
	// at; empty means nowhere.
	Metrics string `yaml:"metrics,omitempty"`

	// Faults disturb what arrives, for trials. If they are given, even without
	// any, the world may also say how many frames are lost, and reset nodes.
	Faults *transport.Faults `yaml:"faults,omitempty"`

	dir string // of the file
}

// Peer is one host of a deployment.
type Peer struct {
	Nodes   string `yaml:"nodes"`             // such as 0-9,12
	Address string `yaml:"address,omitempty"` // host:port, for direct links
}

// Bus says what carries frames.
type Bus struct {
	Kind   string `yaml:"kind"`             // nats, tcp, or none if all nodes are here
	URL    string `yaml:"url,omitempty"`    // of the NATS server or cluster, comma separated
	Listen string `yaml:"listen,omitempty"` // of this host for tcp; empty means its address in Hosts
	Keys   string `yaml:"keys,omitempty"`   // folder written by wdgnn swarm keys; empty means an open server on loopback
	Plain  bool   `yaml:"plain,omitempty"`  // keys without encryption, for a NATS server on loopback
}

// World says what the nodes observe.
type World struct {
	// Kind is lines (JSON, from stdin or File; answers go to stdout or
	// Answers), stream (arrays, as `wdgnn online` reads them) or subject (JSON
	// over the NATS bus).
	Kind string `yaml:"kind"`

	File    string `yaml:"file,omitempty"`    // of lines; empty means stdin
	Answers string `yaml:"answers,omitempty"` // file for answers; empty means stdout

	Signals string `yaml:"signals,omitempty"` // T×N×F or T×N, all nodes of the network
	Targets string `yaml:"targets,omitempty"` // T, T×N or T×N×C
	Graph   string `yaml:"graph,omitempty"`   // edges, with a time column if they change
}

// Pace is host.Pace with the period of worlds that have no clock.
type Pace struct {
	Mode     host.Pacing   `yaml:"mode,omitempty"`
	Deadline time.Duration `yaml:"deadline,omitempty"`
	Retry    time.Duration `yaml:"retry,omitempty"`
	Suspect  int           `yaml:"suspect,omitempty"`
	Linger   time.Duration `yaml:"linger,omitempty"`

	// First is the deadline of the first step after a start, when other boxes
	// may still be starting.
	First time.Duration `yaml:"first,omitempty"`

	// Period is the time between two steps of a stream or a file of lines; 0
	// means as fast as the neighbours. Start is when step 0 is: steps whose
	// time is over are left out, so that a box which is started late, or
	// again, is where the others are. Several boxes must share one, and have
	// clocks that agree. A single box without it begins when it is started,
	// and goes on where it was when it is started again.
	Period time.Duration `yaml:"period,omitempty"`
	Start  time.Time     `yaml:"start,omitempty"`
}
