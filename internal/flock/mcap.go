package flock

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/foxglove/mcap/go/mcap"
)

// The topics of an MCAP file. All messages are JSON.
const (
	topicScene   = "/scene"   // foxglove.SceneUpdate: robots as arrows along their velocities, links as lines
	topicPoses   = "/poses"   // foxglove.PosesInFrame: robots in the order of their numbers
	topicMetrics = "/metrics" // wdgnn.FlightMetrics: scalars, every step
)

// The schemas describe the parts of Foxglove's messages that are written.
var (
	//go:embed schema/scene.json
	sceneSchema []byte
	//go:embed schema/poses.json
	posesSchema []byte
	//go:embed schema/metrics.json
	metricsSchema []byte
)

// worldFrame is the coordinate frame of all positions, in metres.
const worldFrame = "world"

type (
	stamp struct {
		Sec  int64 `json:"sec"`
		Nsec int64 `json:"nsec"`
	}
	vector struct {
		X number `json:"x"`
		Y number `json:"y"`
		Z number `json:"z"`
	}
	quaternion struct {
		X number `json:"x"`
		Y number `json:"y"`
		Z number `json:"z"`
		W number `json:"w"`
	}
	pose struct {
		Position    vector     `json:"position"`
		Orientation quaternion `json:"orientation"`
	}
	color struct {
		R number `json:"r"`
		G number `json:"g"`
		B number `json:"b"`
		A number `json:"a"`
	}
	arrow struct {
		Pose          pose   `json:"pose"`
		ShaftLength   number `json:"shaft_length"`
		ShaftDiameter number `json:"shaft_diameter"`
		HeadLength    number `json:"head_length"`
		HeadDiameter  number `json:"head_diameter"`
		Color         color  `json:"color"`
	}
	line struct {
		Type           int      `json:"type"`
		Pose           pose     `json:"pose"`
		Thickness      number   `json:"thickness"`
		ScaleInvariant bool     `json:"scale_invariant"`
		Points         []vector `json:"points"`
		Color          color    `json:"color"`
		Colors         []color  `json:"colors"`
		Indices        []int32  `json:"indices"`
	}
	entity struct {
		Timestamp   stamp      `json:"timestamp"`
		FrameID     string     `json:"frame_id"`
		ID          string     `json:"id"`
		Lifetime    stamp      `json:"lifetime"`
		FrameLocked bool       `json:"frame_locked"`
		Metadata    []struct{} `json:"metadata"`
		Arrows      []arrow    `json:"arrows"`
		Cubes       []struct{} `json:"cubes"`
		Spheres     []struct{} `json:"spheres"`
		Cylinders   []struct{} `json:"cylinders"`
		Lines       []line     `json:"lines"`
		Triangles   []struct{} `json:"triangles"`
		Texts       []struct{} `json:"texts"`
		Models      []struct{} `json:"models"`
	}
	sceneUpdate struct {
		Deletions []struct{} `json:"deletions"`
		Entities  []entity   `json:"entities"`
	}
	posesInFrame struct {
		Timestamp stamp  `json:"timestamp"`
		FrameID   string `json:"frame_id"`
		Poses     []pose `json:"poses"`
	}
	flightMetrics struct {
		Timestamp       stamp    `json:"timestamp"`
		Variation       float64  `json:"velocity_variation"`
		ExpertVariation float64  `json:"expert_velocity_variation"`
		FrozenVariation *float64 `json:"frozen_velocity_variation,omitempty"`
		Components      int      `json:"components"`
		Closest         float64  `json:"closest_meters"`
		Collisions      int      `json:"collisions"`
		Moved           float64  `json:"moved"`
		Disagreement    float64  `json:"disagreement"`
	}
)

// number is written with four decimals: tenths of a millimetre.
type number float64

// MarshalJSON implements [json.Marshaler].
func (n number) MarshalJSON() ([]byte, error) {
	v := math.Round(float64(n)*1e4) / 1e4
	if v == 0 {
		v = 0 // not -0
	}
	return json.Marshal(v)
}

// lineList is the type of a line primitive whose points are pairs.
const lineList = 2

var (
	blue  = color{0.15, 0.45, 0.9, 1}
	red   = color{0.85, 0.2, 0.15, 1}
	faint = color{0.5, 0.5, 0.5, 0.5}
)

// WriteMCAP writes the recording as an MCAP file. Time 0 is the start of the
// flight.
func (r *Recording) WriteMCAP(w io.Writer) error {
	out, err := mcap.NewWriter(w, &mcap.WriterOptions{Chunked: true, ChunkSize: 1 << 20, Compression: mcap.CompressionZSTD, IncludeCRC: true})
	if err != nil {
		return fmt.Errorf("flock: mcap: %w", err)
	}
	m := &messages{out: out}
	m.do(out.WriteHeader(&mcap.Header{Profile: "", Library: "wdgnn"}))
	for k, c := range []struct {
		topic, schema string
		text          []byte
	}{
		{topicScene, "foxglove.SceneUpdate", sceneSchema},
		{topicPoses, "foxglove.PosesInFrame", posesSchema},
		{topicMetrics, "wdgnn.FlightMetrics", metricsSchema},
	} {
		id := uint16(k + 1) // 0 stands for no schema
		m.do(out.WriteSchema(&mcap.Schema{ID: id, Name: c.schema, Encoding: "jsonschema", Data: c.text}))
		m.do(out.WriteChannel(&mcap.Channel{ID: id, SchemaID: id, Topic: c.topic, MessageEncoding: "json"}))
	}
	next := 0
	for step := range r.Learned.Variation {
		at := r.stamp(step)
		if next < len(r.Frames) && r.Frames[next].Step == step {
			f := &r.Frames[next]
			m.write(1, at, r.scene(f, at))
			m.write(2, at, posesInFrame{at, worldFrame, poses(f)})
			next++
		}
		m.write(3, at, r.metrics(step, at))
	}
	m.do(out.Close())
	if m.err != nil {
		return fmt.Errorf("flock: mcap: %w", m.err)
	}
	return nil
}

// messages writes until the first error, which it keeps.
type messages struct {
	out  *mcap.Writer
	sent [4]uint32 // by channel
	err  error
}

func (m *messages) do(err error) {
	if m.err == nil {
		m.err = err
	}
}

func (m *messages) write(channel uint16, at stamp, v any) {
	if m.err != nil {
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		m.err = err
		return
	}
	when := uint64(at.Sec)*1e9 + uint64(at.Nsec)
	m.do(m.out.WriteMessage(&mcap.Message{ChannelID: channel, Sequence: m.sent[channel], LogTime: when, PublishTime: when, Data: text}))
	m.sent[channel]++
}

// stamp returns the time of a step.
func (r *Recording) stamp(step int) stamp {
	ns := int64(math.Round(float64(step) * r.World.SampleSeconds * 1e9))
	return stamp{ns / 1e9, ns % 1e9}
}

func (r *Recording) metrics(step int, at stamp) flightMetrics {
	f := r.Learned
	m := flightMetrics{
		Timestamp: at, Variation: f.Variation[step], ExpertVariation: r.Expert.Variation[step],
		Components: f.Components[step], Closest: f.Closest[step], Collisions: f.Collisions[step],
		Moved: r.Moved[step], Disagreement: r.Disagreement[step],
	}
	if r.Frozen != nil {
		m.FrozenVariation = &r.Frozen.Variation[step]
	}
	return m
}

// scene returns the robots and their links. An entity replaces the one with the
// same name.
func (r *Recording) scene(f *frame, at stamp) sceneUpdate {
	robots, links := r.entity("robots", at), r.entity("links", at)
	for i, p := range poses(f) {
		v := f.Velocity[i]
		a := arrow{
			Pose: p, ShaftLength: number(0.1 * math.Hypot(v[0], v[1])), ShaftDiameter: 0.05,
			HeadLength: 0.15, HeadDiameter: 0.15, Color: blue,
		}
		if r.idle(i, f.Step) || r.silent(i, f.Step) {
			a.Color = red
		}
		robots.Arrows = append(robots.Arrows, a)
	}
	if len(f.Links) > 0 {
		l := line{
			Type: lineList, Pose: pose{Orientation: quaternion{W: 1}}, Thickness: 1, ScaleInvariant: true,
			Color: faint, Colors: []color{}, Indices: make([]int32, 0, 2*len(f.Links)),
		}
		for _, p := range f.Position {
			l.Points = append(l.Points, vector{X: number(p[0]), Y: number(p[1])})
		}
		for _, pair := range f.Links {
			l.Indices = append(l.Indices, pair[0], pair[1])
		}
		links.Lines = append(links.Lines, l)
	}
	return sceneUpdate{[]struct{}{}, []entity{robots, links}}
}

func (r *Recording) entity(id string, at stamp) entity {
	none := []struct{}{}
	return entity{
		Timestamp: at, FrameID: worldFrame, ID: id, Metadata: none, Arrows: []arrow{}, Cubes: none, Spheres: none,
		Cylinders: none, Lines: []line{}, Triangles: none, Texts: none, Models: none,
	}
}

// poses returns where robots are, turned the way they fly.
func poses(f *frame) []pose {
	list := make([]pose, len(f.Position))
	for i, p := range f.Position {
		sin, cos := math.Sincos(math.Atan2(f.Velocity[i][1], f.Velocity[i][0]) / 2)
		list[i] = pose{vector{X: number(p[0]), Y: number(p[1])}, quaternion{Z: number(sin), W: number(cos)}}
	}
	return list
}
