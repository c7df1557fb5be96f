package flock

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// What the MCAP file holds is the flight: every step of the metrics, a scene
// and poses for every frame, each valid JSON of a schema that is in the file.
func TestMCAP(t *testing.T) {
	p := somePlan()
	p.World.Faults.Stops = []flocking.Stop{{Robot: 1, Step: 4}}
	r := fly(t, p)
	var b bytes.Buffer
	if err := r.Recording.WriteMCAP(&b); err != nil {
		t.Fatal(err)
	}
	reader, err := mcap.NewReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	info, err := reader.Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.Statistics.MessageCount != 3*30 || info.Statistics.MessageEndTime != 290_000_000 {
		t.Errorf("got %d messages until %d ns, want 90 until 0.29 s", info.Statistics.MessageCount, info.Statistics.MessageEndTime)
	}
	it, err := reader.Messages()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	err = mcap.Range(it, func(schema *mcap.Schema, channel *mcap.Channel, m *mcap.Message) error {
		if schema.Encoding != "jsonschema" || channel.MessageEncoding != "json" || !json.Valid(schema.Data) {
			t.Fatalf("%s: schema encoding %s, messages %s", channel.Topic, schema.Encoding, channel.MessageEncoding)
		}
		step := seen[channel.Topic]
		seen[channel.Topic]++
		if m.LogTime != uint64(step)*10_000_000 {
			t.Fatalf("%s %d is at %d ns", channel.Topic, step, m.LogTime)
		}
		conform(t, channel.Topic, schema.Data, m.Data)
		frame := r.Recording.Frames[step]
		switch channel.Topic {
		case topicScene:
			var s sceneUpdate
			if err := json.Unmarshal(m.Data, &s); err != nil {
				return err
			}
			arrows, ends := len(s.Entities[0].Arrows), len(s.Entities[1].Lines[0].Indices)
			if arrows != 12 || ends != 2*len(frame.Links) {
				t.Errorf("step %d: got %d arrows and %d ends of links, want 12 and %d", step, arrows, ends, 2*len(frame.Links))
			}
			if marked := s.Entities[0].Arrows[1].Color == red; marked != (step >= 4) {
				t.Errorf("step %d: robot 1 marked as stopped: %v", step, marked)
			}
		case topicPoses:
			var got posesInFrame
			if err := json.Unmarshal(m.Data, &got); err != nil {
				return err
			}
			for i, pose := range got.Poses {
				if math.Abs(float64(pose.Position.X)-frame.Position[i][0]) > 1e-4 {
					t.Errorf("step %d: robot %d is at x = %v, want %v", step, i, pose.Position.X, frame.Position[i][0])
				}
				angle := 2 * math.Atan2(float64(pose.Orientation.Z), float64(pose.Orientation.W))
				if v := frame.Velocity[i]; math.Abs(math.Sin(angle-math.Atan2(v[1], v[0]))) > 1e-3 {
					t.Errorf("step %d: robot %d looks %v, flies %v", step, i, angle, v)
				}
			}
		case topicMetrics:
			var got flightMetrics
			if err := json.Unmarshal(m.Data, &got); err != nil {
				return err
			}
			if got.Variation != r.Recording.Learned.Variation[step] || got.ExpertVariation != r.Recording.Expert.Variation[step] {
				t.Errorf("step %d: got %+v", step, got)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range []string{topicScene, topicPoses, topicMetrics} {
		if seen[topic] != 30 {
			t.Errorf("%s: got %d messages, want 30", topic, seen[topic])
		}
	}
}

// conform fails unless every property of a message is in its schema.
func conform(t *testing.T, topic string, schema, message []byte) {
	t.Helper()
	type node struct {
		Properties map[string]json.RawMessage
		Items      json.RawMessage
	}
	var walk func(path string, s json.RawMessage, v any)
	walk = func(path string, s json.RawMessage, v any) {
		var n node
		if err := json.Unmarshal(s, &n); err != nil {
			t.Fatal(err)
		}
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				if n.Properties[key] == nil {
					t.Fatalf("%s%s.%s is not in the schema", topic, path, key)
				}
				walk(path+"."+key, n.Properties[key], value)
			}
		case []any:
			for _, value := range v {
				walk(path+"[]", n.Items, value)
			}
		}
	}
	var v any
	if err := json.Unmarshal(message, &v); err != nil {
		t.Fatal(err)
	}
	walk("", schema, v)
}
