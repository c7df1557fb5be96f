package lifecycle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wdgnn/wdgnn/internal/config"
)

// defaultForecaster is the model and the training of `wdgnn init --task forecast`.
const defaultForecaster = `
model:
  wide: {order: 2}
  deep: [{order: 2, features: 32}, {order: 2, features: 32}]
train: {epochs: %d, batch_size: 32, adam: {step_size: 0.003}, average: 0.999}
`

// trainedScores trains with the default and returns the scores of the test part.
func trainedScores(t *testing.T, dir, section string, epochs int) []HorizonResult {
	t.Helper()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte("seed: 1\nforecast: "+section+fmt.Sprintf(defaultForecaster, epochs)), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	training, err := NewTraining(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer training.Close()
	if _, err := training.Run(t.Context(), nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	scores, err := training.scoreForecasts(t.Context(), training.Data.Test, training.Data.forecast.test, training.test)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// The default forecasts the traffic of Los Angeles 15 minutes ahead within 3.25 mph,
// on the last 400 windows of the week; the last value stays within 3.54. A few epochs
// are enough for that, of 40.
func TestForecastTraffic(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: a few epochs of METR-LA take seconds; it runs without -short", t.Name())
	}
	needData(t, metrla)
	folder, err := filepath.Abs(metrla)
	if err != nil {
		t.Fatal(err)
	}
	section := fmt.Sprintf("{series: %q, graph: %q, season: 288}", folder+"/speed.csv", folder+"/adjacency.csv")
	scores := trainedScores(t, t.TempDir(), section, 4)
	model, last := scores[0].Method(MethodFrozen), scores[0].Method(MethodLast)
	if scores[0].Steps != 3 || model.Count != 400*207 || !(model.MAE <= 3.25) || !(last.MAE > 3.5) {
		t.Errorf("%s: the model errs by %+v, the last value by %+v; want at most 3.25 mph on 400 windows", scores[0].Ahead, model, last)
	}
}

// The default forecasts next week's chickenpox in Hungary with an error of .835 on
// the last fifth, in deviations of a county; a regression for each county has more.
func TestForecastChickenpox(t *testing.T) {
	const file = "../../../shared/data/chickenpox/chickenpox.json"
	needData(t, file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pox struct {
		Edges [][2]int
		FX    [][]float64
	}
	if err := json.Unmarshal(text, &pox); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	series, graph := "county 0", "src,dst\n"
	for i := range pox.FX[0][1:] {
		series += fmt.Sprintf(",county %d", i+1)
	}
	series += "\n"
	for _, row := range pox.FX {
		for i, v := range row {
			if i > 0 {
				series += ","
			}
			series += fmt.Sprint(v)
		}
		series += "\n"
	}
	linked := map[[2]int]bool{}
	for _, e := range pox.Edges {
		if a, b := min(e[0], e[1]), max(e[0], e[1]); a != b && !linked[[2]int{a, b}] {
			linked[[2]int{a, b}] = true
			graph += fmt.Sprintf("%d,%d\n", a, b)
		}
	}
	for name, text := range map[string]string{"series.csv": series, "graph.csv": graph} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := trainedScores(t, dir, "{series: series.csv, graph: graph.csv, horizons: [1], season: 52}", 40)[0]
	model, ridge := got.Method(MethodFrozen), got.Method(MethodRidge)
	if !(model.RMSE <= 0.835) || !(model.RMSE < ridge.RMSE) {
		t.Errorf("the model errs by %+v, a regression for each county by %+v; want an RMSE of .835 at most", model, ridge)
	}
}

// needData skips a test, loudly, where data are missing; not in CI, which has them.
func needData(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED %s: no data at %s", t.Name(), path)
	}
}
