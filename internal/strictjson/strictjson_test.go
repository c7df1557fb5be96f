package strictjson_test

import (
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/strictjson"
)

// One value of known keys is read; whatever stands behind it is an error, a
// bracket that closes nothing included.
func TestUnmarshal(t *testing.T) {
	for text, wrong := range map[string]string{
		`{"a":1}`: "", " {\"a\":1}\n\t ": "",
		`{"b":1}`: "unknown field", `{"a":1`: "unexpected EOF", ``: "EOF",
		`{"a":1}}`: "more text", `{"a":1}]`: "more text", `{"a":1} {"a":2}`: "more text", `{"a":1}}garbage`: "more text",
	} {
		var v struct{ A int }
		err := strictjson.Unmarshal([]byte(text), &v)
		if wrong == "" && (err != nil || v.A != 1) || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%q: got %v and %v, want 1 or an error with %q", text, v, err, wrong)
		}
	}
}
