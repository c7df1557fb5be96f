package flocking_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

func TestDefaultIsThePapers(t *testing.T) {
	c := flocking.Default()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if got := c.Steps(); got != 200 {
		t.Errorf("got %d steps, want 200", got)
	}
}

// All complaints come at once.
func TestValidate(t *testing.T) {
	wantError(t, flocking.Config{}.Validate(),
		"robots is 0, want 1 to", "comm_radius_meters is 0, want a positive number",
		"sample_seconds is 0", "duration_seconds is 0", "max_accel_mps2 is 0")
	for _, c := range []struct {
		change func(*flocking.Config)
		want   string
	}{
		{func(c *flocking.Config) { c.Robots = -3 }, "robots is -3"},
		{func(c *flocking.Config) { c.CommRadiusMeters = -2 }, "comm_radius_meters is -2, want a positive number"},
		{func(c *flocking.Config) { c.CommRadiusMeters = math.NaN() }, "comm_radius_meters is NaN"},
		{func(c *flocking.Config) { c.SampleSeconds = math.Inf(1) }, "sample_seconds is +Inf"},
		{func(c *flocking.Config) { c.DurationSeconds = 0.001 }, "duration_seconds is 0.001, want 1 to"},
		{func(c *flocking.Config) { c.DurationSeconds = 1e9 }, "duration_seconds is 1e+09, want 1 to"},
		{func(c *flocking.Config) { c.MaxSpeedMPS = -1 }, "max_speed_mps is -1, want a number from 0"},
		{func(c *flocking.Config) { c.CommonSpeedMPS = -1 }, "common_speed_mps is -1"},
		{func(c *flocking.Config) { c.RepulsionRadiusMeters = -1 }, "repulsion_radius_meters is -1"},
		{func(c *flocking.Config) { c.CollisionMeters = -1 }, "collision_meters is -1"},
		{func(c *flocking.Config) { c.NearCap = -1 }, "near_cap is -1"},
		{func(c *flocking.Config) { c.SpacingMeters = -1 }, "spacing_meters is -1"},
		{func(c *flocking.Config) { c.MinDistanceMeters = 3 }, "min_distance_meters is 3, want at most the spacing of the rings, 2.5"},
		{func(c *flocking.Config) { c.Faults.MessageLoss = 1 }, "faults: message_loss is 1, want 0 ≤ p < 1"},
		{func(c *flocking.Config) { c.Faults.DelaySteps = -1 }, "faults: delay_steps is -1"},
		{func(c *flocking.Config) { c.Faults.Stops = []flocking.Stop{{Robot: 50}} }, "faults: stop 0 is of robot 50, want 0 to 49"},
		{func(c *flocking.Config) { c.Faults.Stops = []flocking.Stop{{Step: -1}} }, "faults: stop 0 is at step -1"},
		{func(c *flocking.Config) { c.Faults.Stops = []flocking.Stop{{Part: "wheel"}} }, `faults: stop 0 is of the "wheel", want "robot"`},
	} {
		config := flocking.Default()
		c.change(&config)
		wantError(t, config.Validate(), c.want)
		_, err := flocking.New(config, random.Stream(1, "swarm"))
		wantError(t, err, c.want)
		_, err = flocking.Start(config, nil, nil, nil)
		wantError(t, err, c.want)
	}
}

func TestConfigRoundTrips(t *testing.T) {
	want := flocking.Default()
	want.Faults = flocking.Faults{
		Stops:       []flocking.Stop{{Robot: 3, Step: 40, Part: flocking.PartRadio}},
		MessageLoss: 0.1, DelaySteps: 2,
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got flocking.Config
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
}
