package forecast_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
)

// Whatever comes as readings, answers and neighbours' words, inputs are numbers of a
// sensible size, and what is remembered can be stored and goes on.
func FuzzRead(f *testing.F) {
	word := func(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }
	for _, v := range []float32{0, 50, nan, float32(math.Inf(1)), -math.MaxFloat32, math.SmallestNonzeroFloat32} {
		f.Add(append(append(word(50), word(v)...), word(v)...), byte(7))
	}
	f.Fuzz(func(t *testing.T, words []byte, leap byte) {
		s := spec()
		sensor, row := forecast.NewSensor(s, &s.Norms[0]), make([]float32, s.Inputs())
		step := uint64(0)
		for k := 0; len(words) >= 4; k++ {
			v := math.Float32frombits(binary.LittleEndian.Uint32(words))
			words = words[4:]
			near := v
			if v-v != 0 {
				near = 0
			}
			sensor.Read(row, step, []float32{v}, -v, k%3 == 0, near, k%2 == 0)
			for _, x := range row {
				if !(math.Abs(float64(x)) <= 15) { // two spans of 60 outside 20 to 80, in units of 10
					t.Fatalf("step %d: inputs %v", step, row)
				}
			}
			text, err := json.Marshal(sensor.Memory())
			if err != nil {
				t.Fatal(err)
			}
			var m forecast.Memory
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			if err := sensor.Restore(m); err != nil {
				t.Fatal(err)
			}
			step += 1 + uint64(leap)*uint64(k%5)
		}
	})
}
