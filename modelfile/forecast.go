package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/strictjson"
)

// normsName is the tensor that holds the norms of a forecast model's sensors, N rows
// of float64:
//
//	mean scale level near_level near keep alone rough longest low high
//	σ by horizon                         C, or none before training
//	means of extras, scales of extras    2·Extras
const (
	normsName = "online.forecast.norm"
	normFixed = 11
)

// SetForecast stores what a forecast model knows of its sensors: text in the header,
// and numbers of every sensor that keep all bits. It refuses what is not valid.
func (m *Model) SetForecast(s *forecast.Spec) error {
	if err := s.Validate(); err != nil {
		return fmt.Errorf("modelfile: sensors: %w", err)
	}
	for i := range s.Norms {
		if len(s.Norms[i].Sigma) != len(s.Norms[0].Sigma) {
			return fmt.Errorf("modelfile: sensors: %q has %d sigmas, %q has %d", s.Sensors[i], len(s.Norms[i].Sigma),
				s.Sensors[0], len(s.Norms[0].Sigma))
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("modelfile: sensors: %w", err)
	}
	x := Float64s{Rows: len(s.Norms), Cols: normFixed + len(s.Norms[0].Sigma) + 2*s.Extras}
	for i := range s.Norms {
		n := &s.Norms[i]
		x.Data = append(x.Data, n.Mean, n.Scale, n.Level, n.NearLevel, n.Near, n.Keep, n.Alone, n.Rough, float64(n.Longest), n.Low, n.High)
		x.Data = append(append(append(x.Data, n.Sigma...), n.ExtraMean...), n.ExtraScale...)
	}
	m.Meta.Forecast = string(text)
	m.setPrecise(normsName, x)
	return nil
}

func (m *Model) setPrecise(name string, x Float64s) {
	if m.Precise == nil {
		m.Precise = map[string]Float64s{}
	}
	m.Precise[name] = x
}

// Forecast returns what SetForecast stored; nil if the model does not forecast. What
// does not hold together is an error.
func (m *Model) Forecast() (*forecast.Spec, error) {
	x, found := m.Numbers(normsName)
	if m.Meta.Forecast == "" {
		if found {
			return nil, fmt.Errorf("modelfile: sensors: a tensor %s but no %q in the metadata; write the file again", normsName, keyForecast)
		}
		return nil, nil
	}
	s, err := parseForecast(m.Meta.Forecast)
	if err != nil {
		return nil, fmt.Errorf("modelfile: sensors: %s: %w", keyForecast, brief(err))
	}
	if err := readNorms(s, x); err != nil {
		return nil, fmt.Errorf("modelfile: sensors: %w", err)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("modelfile: sensors: %w", brief(err))
	}
	return s, nil
}

// parseForecast reads the text of the header. Keys that it does not know are
// refused: a model with a part left out would forecast something else.
func parseForecast(text string) (*forecast.Spec, error) {
	s := new(forecast.Spec)
	if err := strictjson.Unmarshal([]byte(text), s); err != nil {
		return nil, fmt.Errorf("%w; try a newer wdgnn", err)
	}
	return s, nil
}

// readNorms fills s.Norms from the tensor x, whose columns say whether σ is known.
func readNorms(s *forecast.Spec, x Float64s) error {
	n, c, e := len(s.Sensors), len(s.Horizons), s.Extras
	if e < 0 || e > x.Cols || x.Rows != n || x.Cols != normFixed+2*e && x.Cols != normFixed+c+2*e {
		return fmt.Errorf("tensor %s is %d×%d for %d sensors, %d horizons and %d extras", normsName, x.Rows, x.Cols, n, c, e)
	}
	c = x.Cols - normFixed - 2*e
	s.Norms = make([]forecast.Norm, n)
	for i := range s.Norms {
		row := x.Data[i*x.Cols : (i+1)*x.Cols]
		if !whole(row[8]) {
			return fmt.Errorf("tensor %s: the longest run of sensor %d is %v, want a whole number", normsName, i, row[8])
		}
		s.Norms[i] = forecast.Norm{
			Mean: row[0], Scale: row[1], Level: row[2], NearLevel: row[3], Near: row[4], Keep: row[5], Alone: row[6],
			Rough: row[7], Longest: int(row[8]), Low: row[9], High: row[10],
			Sigma: some(row[normFixed : normFixed+c]), ExtraMean: some(row[normFixed+c : normFixed+c+e]), ExtraScale: some(row[normFixed+c+e:]),
		}
	}
	return nil
}

// some returns a copy of values, nil if there are none.
func some(values []float64) []float64 { return append([]float64(nil), values...) }

// sensorsName is the tensor that holds what sensors remember, N rows of float64:
//
//	started step estimated value kept alone doubt doubted quiet rough run last at reason since
//	lags extras
const (
	sensorsName = "online.forecast.sensor"
	sensorFixed = 15
)

// SetSensors stores what the sensors of Forecast remember after a replay, so that a
// stream which follows begins where it ended. Newcomers, behind them, are left out.
func (m *Model) SetSensors(all []forecast.Memory) error {
	s, err := m.Forecast()
	if err != nil {
		return err
	}
	if s == nil {
		return errors.New("modelfile: sensors' memory needs what SetForecast stores")
	}
	if len(all) < len(s.Sensors) {
		return fmt.Errorf("modelfile: the memory of %d sensors for %d", len(all), len(s.Sensors))
	}
	x := Float64s{Rows: len(s.Sensors), Cols: sensorFixed + s.Lags + s.Extras}
	for i := range s.Sensors {
		q := &all[i]
		if q.Step > 1<<53 || len(q.Lags) != s.Lags || len(q.Extras) != s.Extras {
			return fmt.Errorf("modelfile: the memory of sensor %q is that of another model", s.Sensors[i])
		}
		x.Data = append(x.Data, bit(q.Started), float64(q.Step), bit(q.Estimated), q.Value, q.Kept, q.Alone, q.Doubt, bit(q.Doubted),
			float64(q.Quiet), q.Rough, float64(q.Run), float64(q.Last), float64(q.At), float64(q.Reason), float64(q.Since))
		for _, v := range q.Lags {
			x.Data = append(x.Data, float64(v))
		}
		for _, v := range q.Extras {
			x.Data = append(x.Data, float64(v))
		}
	}
	m.setPrecise(sensorsName, x)
	return nil
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Sensors returns what SetSensors stored, nil if there is nothing. What the numbers
// mean is for forecast.Network.Restore to check.
func (m *Model) Sensors() ([]forecast.Memory, error) {
	x, found := m.Numbers(sensorsName)
	s, err := m.Forecast()
	if !found || err != nil || s == nil {
		return nil, err
	}
	if x.Rows != len(s.Sensors) || x.Cols != sensorFixed+s.Lags+s.Extras {
		return nil, fmt.Errorf("modelfile: tensor %s is %d×%d for %d sensors with %d lags and %d extras",
			sensorsName, x.Rows, x.Cols, len(s.Sensors), s.Lags, s.Extras)
	}
	all := make([]forecast.Memory, x.Rows)
	for i := range all {
		row := x.Data[i*x.Cols : (i+1)*x.Cols]
		for _, k := range []int{0, 2, 7, 8, 10, 13} {
			if !whole(row[k]) || k != 8 && k != 10 && row[k] > math.MaxUint8 {
				return nil, fmt.Errorf("modelfile: tensor %s: number %d of sensor %q is %v", sensorsName, k, s.Sensors[i], row[k])
			}
		}
		for _, k := range []int{1, 12, 14} {
			if !(row[k] >= 0 && row[k] <= 1<<53 && row[k] == math.Trunc(row[k])) {
				return nil, fmt.Errorf("modelfile: tensor %s: step %v of sensor %q", sensorsName, row[k], s.Sensors[i])
			}
		}
		all[i] = forecast.Memory{
			Started: row[0] != 0, Step: uint64(row[1]), Estimated: row[2] != 0, Value: row[3], Kept: row[4], Alone: row[5],
			Doubt: row[6], Doubted: row[7] != 0, Quiet: int(row[8]), Rough: row[9], Run: int(row[10]), Last: float32(row[11]),
			At: uint64(row[12]), Reason: uint8(row[13]), Since: uint64(row[14]),
			Lags: singles(row[sensorFixed : sensorFixed+s.Lags]), Extras: singles(row[sensorFixed+s.Lags:]),
		}
	}
	return all, nil
}

func singles(values []float64) []float32 {
	s := make([]float32, len(values))
	for k, v := range values {
		s[k] = float32(v)
	}
	return s
}
