package mqtttest_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/mqtttest"
)

// asked notes how a test ends that needs something.
type asked struct {
	testing.TB
	end string
}

func (a *asked) Helper()      {}
func (a *asked) Name() string { return "TestX" }
func (a *asked) Fatalf(string, ...any) {
	a.end = "fails"
	runtime.Goexit()
}

func (a *asked) Skipf(text string, _ ...any) {
	a.end = "is skipped"
	if !strings.HasPrefix(text, "SKIPPED ") {
		a.end = "is skipped without a word"
	}
	runtime.Goexit()
}

// Where there is no mosquitto tests are skipped by name at a desk and fail in CI, whatever
// else the environment says.
func TestNeed(t *testing.T) {
	for ci, want := range map[string]string{"": "is skipped", "true": "fails"} {
		t.Setenv("CI", ci)
		t.Setenv("WDGNN_NO_MOSQUITTO", "1")
		t.Setenv("PATH", t.TempDir())
		a, done := new(asked), make(chan bool)
		go func() {
			defer close(done)
			mqtttest.Need(a)
		}()
		if <-done; a.end != want {
			t.Errorf("with CI=%q a test that needs mosquitto %q, want %q", ci, a.end, want)
		}
	}
}
