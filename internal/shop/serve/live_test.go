package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
)

// ringScene is a ring of n nodes with a little of everything.
func ringScene(n int) live.Scene {
	s := live.Scene{
		Title: "A ring", About: "For tests.", Task: "test", Time: "s", Layout: live.LayoutForce,
		Learners:   []string{"frozen", "online"},
		Marks:      []live.Mark{{Node: 0, Kind: "source"}, {Node: 1, Kind: "detector"}},
		Quantities: []live.Quantity{{Name: "local loss", Learner: -1, High: 1}, {Name: "step lag", Learner: -1}},
		Curves: []live.Curve{
			{Name: "frozen", Chart: "accuracy", Learner: 0, Unit: "%"},
			{Name: "online", Chart: "accuracy", Learner: 1, Unit: "%"},
		},
		Counters: []live.Counter{{Name: "messages", Unit: "per s"}, {Name: "late"}},
		Controls: []live.Control{
			{Name: live.ControlPause, Label: "Pause", Kind: live.KindSwitch},
			{Name: live.ControlDrop, Label: "Links lost", Kind: live.KindRange, High: 0.5, Step: 0.05},
			{Name: live.ControlKill, Label: "Stop", Kind: live.KindNode},
			{Name: live.ControlRestart, Label: "Restart", Kind: live.KindNode},
		},
	}
	for i := range n {
		s.Nodes = append(s.Nodes, fmt.Sprintf("node %d", i))
		s.Edges = append(s.Edges, [2]int32{int32(i), int32((i + 1) % n)})
	}
	return s
}

// ringFrame is a moment of ringScene.
func ringFrame(n int, at float64) *live.Frame {
	f := &live.Frame{
		Time: at, Values: []live.Floats{make(live.Floats, n), make(live.Floats, n)}, Down: []int32{}, Out: []int32{},
		Curves: live.Numbers{70 + at/8, 90.25}, Counters: live.Numbers{1234, at}, Settings: live.Numbers{0, 0.25, 0, 0},
	}
	for i := range n {
		f.Values[0][i] = float32(i) / float32(n)
	}
	return f
}

func newHub(t testing.TB, s live.Scene) *live.Hub {
	t.Helper()
	h, err := live.NewHub(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func publish(t testing.TB, h *live.Hub, f *live.Frame) {
	t.Helper()
	if err := h.Publish(f); err != nil {
		t.Fatal(err)
	}
}

// showing serves a page.
func showing(t testing.TB, c liveweb.LiveConfig) *httptest.Server {
	t.Helper()
	v := liveweb.NewLive(c)
	s := httptest.NewServer(v)
	t.Cleanup(func() {
		v.Close()
		s.Close()
	})
	return s
}

const jsonBody = "Content-Type: application/json"

// Commands come from this page alone, are small and sound, and arrive.
func TestControl(t *testing.T) {
	hub := newHub(t, ringScene(6))
	s := showing(t, liveweb.LiveConfig{Hub: hub, Control: true})
	const drop = `{"name": "drop", "value": 0.25}`
	for _, c := range []struct {
		method, body string
		headers      []string
		status       int
		code         string
	}{
		{"POST", drop, []string{jsonBody}, 202, "accepted"},
		{"POST", drop, []string{jsonBody, "Origin: " + s.URL}, 202, "accepted"},
		{"POST", drop, []string{jsonBody, "Sec-Fetch-Site: same-origin"}, 202, "accepted"},
		{"POST", drop, []string{jsonBody, "Origin: http://evil.example"}, 403, "cross_site"},
		{"POST", drop, []string{jsonBody, "Sec-Fetch-Site: cross-site"}, 403, "cross_site"},
		{"POST", drop, []string{jsonBody, "Sec-Fetch-Site: same-site"}, 403, "cross_site"},
		{"POST", drop, []string{"Content-Type: text/plain"}, 415, "not_json"},
		{"POST", drop, []string{jsonBody, "Host: evil.example"}, 421, "wrong_host"},
		{"GET", "", nil, 405, "wrong_method"},
		{"PUT", drop, []string{jsonBody}, 405, "wrong_method"},
		{"POST", "{", []string{jsonBody}, 400, "malformed"},
		{"POST", `{"name": "drop", "extra": 1}`, []string{jsonBody}, 400, "malformed"},
		{"POST", drop + drop, []string{jsonBody}, 400, "malformed"},
		{"POST", `{"name": "` + strings.Repeat("a", liveweb.MaxBody) + `"}`, []string{jsonBody}, 413, "too_large"},
		{"POST", `{"name": "drop", "value": 0.9}`, []string{jsonBody}, 422, "refused"},
		{"POST", `{"name": "kill", "node": 6}`, []string{jsonBody}, 422, "refused"},
		{"POST", `{"name": "format"}`, []string{jsonBody}, 422, "refused"},
	} {
		a := ask(t, c.method, s.URL+"/control", c.body, c.headers...)
		if a.status != c.status || !strings.Contains(a.body, `"`+c.code+`"`) {
			t.Errorf("%s %.40s %q: %d %s, want %d %s", c.method, c.body, c.headers, a.status, a.body, c.status, c.code)
		}
	}
	for range 3 {
		if got := <-hub.Commands(); got != (live.Command{Name: "drop", Value: 0.25}) {
			t.Errorf("got %+v", got)
		}
	}
	if len(hub.Commands()) > 0 {
		t.Errorf("%d more commands arrived", len(hub.Commands()))
	}
	looking := showing(t, liveweb.LiveConfig{Hub: hub})
	if a := ask(t, "POST", looking.URL+"/control", drop, jsonBody); a.status != 403 || !strings.Contains(a.body, "read_only") {
		t.Errorf("read-only: %d %s", a.status, a.body)
	}
}

// A flood of commands is refused.
func TestControlRate(t *testing.T) {
	hub := newHub(t, ringScene(6))
	s := showing(t, liveweb.LiveConfig{Hub: hub, Control: true})
	refused, flood := 0, 80
	for range flood {
		if a := ask(t, "POST", s.URL+"/control", `{"name": "pause"}`, jsonBody); a.status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Errorf("no command of %d was refused", flood)
	}
}

// With a token, nothing of a run is shown without it; the page itself is.
func TestLiveToken(t *testing.T) {
	const token = "a-token-of-some-length"
	s := showing(t, liveweb.LiveConfig{Hub: newHub(t, ringScene(6)), Control: true, Config: liveweb.Config{Token: token}})
	for _, path := range []string{"/page.json", "/tables", "/figures/x.svg", "/replay", "/replay/frames", "/events"} {
		for _, bad := range []string{"", "Bearer wrong", "Basic " + token} {
			if a := ask(t, "GET", s.URL+path, "", "Authorization: "+bad); a.status != 401 {
				t.Errorf("%s with %q: %d, want 401", path, bad, a.status)
			}
		}
	}
	if a := ask(t, "POST", s.URL+"/control", `{"name": "pause"}`, jsonBody); a.status != 401 {
		t.Errorf("control: %d, want 401", a.status)
	}
	if a := ask(t, "POST", s.URL+"/control", `{"name": "pause"}`, jsonBody, "Authorization: Bearer "+token); a.status != 202 {
		t.Errorf("control with the token: %d, want 202", a.status)
	}
	for _, path := range []string{"/", "/page/main.js"} {
		if a := ask(t, "GET", s.URL+path, ""); a.status != 200 {
			t.Errorf("%s: %d, want 200", path, a.status)
		}
	}
}

// Every answer has a policy under which no script but ours can run, and pages
// of other sites can neither frame nor read it.
func TestLiveHeaders(t *testing.T) {
	s := showing(t, liveweb.LiveConfig{Hub: newHub(t, ringScene(6))})
	for _, path := range []string{
		"/", "/page/main.js", "/page/style.css", "/page/uplot.LICENSE", "/page.json", "/tables", "/nowhere", "/page/none.js",
	} {
		a := ask(t, "GET", s.URL+path, "")
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
		} {
			if got := a.header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		if strings.Contains(a.header.Get("Content-Security-Policy"), "unsafe") || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers %v", path, a.header)
		}
	}
	for _, path := range []string{"/page.json", "/events", "/page/main.js"} {
		if a := ask(t, "GET", s.URL+path, "", "Sec-Fetch-Site: cross-site"); a.status != 403 {
			t.Errorf("%s from another site: %d, want 403", path, a.status)
		}
	}
	if a := ask(t, "GET", s.URL+"/", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"); a.status != 200 {
		t.Errorf("a link from another site: %d, want 200", a.status)
	}
	if a := ask(t, "GET", s.URL+"/", "", "Host: evil.example:80"); a.status != 421 {
		t.Errorf("another name for this machine: %d, want 421", a.status)
	}
}

// event is one of a stream.
type event struct{ kind, data string }

// readEvents reads the stream until the test ends.
func readEvents(t testing.TB, url string) (<-chan event, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	r, err := http.NewRequestWithContext(ctx, "GET", url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if kind := a.Header.Get("Content-Type"); a.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("%d, %s", a.StatusCode, kind)
	}
	out := make(chan event)
	go func() {
		defer close(out)
		defer a.Body.Close()
		in := bufio.NewScanner(a.Body)
		in.Buffer(nil, 64<<20)
		var e event
		for in.Scan() {
			switch line := in.Text(); {
			case strings.HasPrefix(line, "event: "):
				e.kind = line[7:]
			case strings.HasPrefix(line, "data: "):
				e.data = line[6:]
			case line == "" && e.kind != "":
				select {
				case out <- e:
				case <-ctx.Done():
					return
				}
				e = event{}
			}
		}
	}()
	return out, cancel
}

// The stream begins with the scene, brings frames and words as they come, and ends with
// the whole history.
func TestEvents(t *testing.T) {
	hub := newHub(t, ringScene(6))
	s := showing(t, liveweb.LiveConfig{Hub: hub})
	events, cancel := readEvents(t, s.URL)
	defer cancel()
	if e := <-events; e.kind != "scene" || !strings.Contains(e.data, `"title":"A ring"`) {
		t.Fatalf("got %+v, want the scene", e)
	}
	publish(t, hub, ringFrame(6, 3))
	var f live.Frame
	if e := <-events; e.kind != "frame" || json.Unmarshal([]byte(e.data), &f) != nil || f.Time != 3 {
		t.Fatalf("got %+v, want the frame", e)
	}
	hub.Say(3, "line one\nline two")
	if e := <-events; e.kind != "words" || !strings.Contains(e.data, `line one\nline two`) {
		t.Fatalf("got %+v, want the words", e)
	}
	hub.Close()
	if e := <-events; e.kind != "history" || !strings.Contains(e.data, `"t":[3]`) {
		t.Errorf("got %+v, want the whole history, of which a reader may have missed frames", e)
	}
	if e := <-events; e.kind != "end" {
		t.Errorf("got %+v, want the end", e)
	}
	if e, more := <-events; more {
		t.Errorf("got %+v after the end", e)
	}
}

// A browser that does not read does not hold up the hub or the server's end.
func TestStalledBrowser(t *testing.T) {
	hub := newHub(t, ringScene(2000))
	v := liveweb.NewLive(liveweb.LiveConfig{Hub: hub})
	listener, err := liveweb.Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Serve(ctx, listener) }()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // it has begun
		t.Fatal(err)
	}
	began := time.Now()
	for at := range 3000 { // far more than any buffer of the system
		publish(t, hub, ringFrame(2000, float64(at)))
	}
	if took := time.Since(began); took > time.Minute { // who waited for it would wait for ever
		t.Errorf("3000 frames took %v", took)
	}
	if lost := hub.Stats().Lost; lost < 2000 {
		t.Errorf("%d frames lost, want most of 3000", lost)
	}
	conn.Close()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the server does not end")
	}
}

// A stream lives longer than other requests may.
func TestEventsOutliveTimeouts(t *testing.T) {
	const limit = 100 * time.Millisecond
	hub := newHub(t, ringScene(6))
	listener, err := liveweb.Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		c := liveweb.Config{Header: limit, Read: limit, Write: limit}
		ended <- liveweb.NewLive(liveweb.LiveConfig{Hub: hub, Config: c}).Serve(ctx, listener)
	}()
	events, stop := readEvents(t, "http://"+listener.Addr().String())
	defer stop()
	<-events // the scene
	began := time.Now()
	for at := 0; time.Since(began) < 4*limit; at++ {
		publish(t, hub, ringFrame(6, float64(at)))
		if e, more := <-events; !more {
			t.Fatalf("the stream ended after %v: %v", time.Since(began), e)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A recording is read in ranges.
func TestReplayRanges(t *testing.T) {
	s := showing(t, liveweb.LiveConfig{Recording: recorded(t, 30)})
	var index struct {
		Times []float64    `json:"times"`
		Words []live.Words `json:"words"`
	}
	if a := ask(t, "GET", s.URL+"/replay", ""); a.status != 200 || json.Unmarshal([]byte(a.body), &index) != nil || len(index.Times) != 30 {
		t.Fatalf("%d, %d times", a.status, len(index.Times))
	}
	var part struct {
		From   int          `json:"from"`
		Frames []live.Frame `json:"frames"`
	}
	a := ask(t, "GET", s.URL+"/replay/frames?from=25&count=10", "")
	if a.status != 200 || json.Unmarshal([]byte(a.body), &part) != nil || len(part.Frames) != 5 || part.Frames[4].Time != 29 {
		t.Errorf("%d, from %d, %d frames", a.status, part.From, len(part.Frames))
	}
	for _, query := range []string{
		"", "?from=-1&count=1", "?from=31&count=1", "?from=0&count=0", "?from=0&count=501", "?from=0&count=1&x=1",
		"?from=1e3&count=1", "?from=0&count=1&count=2",
	} {
		if a := ask(t, "GET", s.URL+"/replay/frames"+query, ""); a.status != 400 {
			t.Errorf("%s: %d, want 400", query, a.status)
		}
	}
	if a := ask(t, "GET", s.URL+"/events", ""); a.status != 404 {
		t.Errorf("events of a recording: %d, want 404", a.status)
	}
}

// recorded returns a recording of ringScene with the given number of frames.
// Node 2 is down in its second half.
func recorded(t testing.TB, frames int) *live.Recording {
	t.Helper()
	return recording(t, ringScene(6), func(w *live.Writer) error {
		for at := range frames {
			frame := ringFrame(6, float64(at))
			if at >= frames/2 {
				frame.Down = []int32{2}
			}
			if at == frames/2 {
				if err := w.Say(float64(at), "node 2 is down; its neighbours carry on"); err != nil {
					return err
				}
			}
			if err := w.Frame(frame); err != nil {
				return err
			}
		}
		return nil
	})
}

// recording is what write puts into a file, opened.
func recording(t testing.TB, s live.Scene, write func(w *live.Writer) error) *live.Recording {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, live.EventsName))
	if err != nil {
		t.Fatal(err)
	}
	w, err := live.NewWriter(f, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write(w), f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := live.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
