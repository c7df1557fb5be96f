package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/clocktest"
	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
)

// Whatever a client sends, the status says what is wrong, the body helps, and
// nothing is accepted that should not be.
func TestRefusals(t *testing.T) {
	r := start(t, nil, Config{})
	good := fmt.Sprintf(`{"user": 1, "movie": %d, "rating": 3}`, r.known)
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
		headers            []string
	}{
		{"POST", "/v1/ratings", ``, 415, "not_json", nil},
		{"POST", "/v1/ratings", good, 415, "not_json", []string{"Content-Type: text/plain"}},
		{"POST", "/v1/ratings", ` `, 400, "malformed", nil},
		{"POST", "/v1/ratings", `{`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `[]`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `null`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `{}`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `{"user": 1, "movie": 1}`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `{"user": 1, "movie": 1, "rating": "4"}`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `{"user": 1, "movie": 1, "rating": null}`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `{"user": 1, "movie": 1, "rating": NaN}`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `{"user": 1, "movie": 1, "rating": [4]}`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `{"user": 1, "movie": 1, "rating": 4, "extra": 1}`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `{"User": 1, "movie": 1, "rating": 4}`, 400, "malformed", nil},
		{"POST", "/v1/ratings", `{"user": 1, "user": 2, "movie": 1, "rating": 4}`, 400, "malformed", nil},
		{"POST", "/v1/ratings", good + good, 400, "malformed", nil},
		{"POST", "/v1/ratings", good + `,`, 400, "malformed", nil},
		{"POST", "/v1/ratings", "{\"us\xffer\": 1}", 400, "malformed", nil},
		{"POST", "/v1/ratings", `{"user": 1.5, "movie": 1, "rating": 4}`, 400, "bad_id", nil},
		{"POST", "/v1/ratings", `{"user": -1, "movie": 1, "rating": 4}`, 400, "bad_id", nil},
		{"POST", "/v1/ratings", `{"user": 1, "movie": 99999999999999999999, "rating": 4}`, 400, "bad_id", nil},
		{"POST", "/v1/ratings", fmt.Sprintf(`{"user": 1, "movie": %d, "rating": 3}`, r.missing), 422, "unknown_movie", nil},
		{"POST", "/v1/ratings", fmt.Sprintf(`{"user": 1, "movie": %d, "rating": 0}`, r.known), 422, "bad_rating", nil},
		{"POST", "/v1/ratings", fmt.Sprintf(`{"user": 1, "movie": %d, "rating": 5.01}`, r.known), 422, "bad_rating", nil},
		{"POST", "/v1/ratings", fmt.Sprintf(`{"user": 1, "movie": %d, "rating": 1e999}`, r.known), 422, "bad_rating", nil},
		{"POST", "/v1/ratings", good + strings.Repeat(" ", liveweb.MaxBody), 413, "too_large", nil},
		{"POST", "/v1/ratings", strings.Repeat("x", 10<<20), 413, "too_large", nil},
		{"GET", "/v1/ratings", ``, 405, "wrong_method", nil},
		{"DELETE", "/v1/model", ``, 405, "wrong_method", nil},
		{"POST", "/v1/users/1/predictions?top=1", good, 405, "wrong_method", nil},
		{"GET", "/v1/users/x/predictions?top=1", ``, 400, "bad_id", nil},
		{"GET", "/v1/users/-1/predictions?top=1", ``, 400, "bad_id", nil},
		{"GET", "/v1/users/+1/predictions?top=1", ``, 400, "bad_id", nil},
		{"GET", "/v1/users/123456/predictions?top=1", ``, 404, "unknown_user", nil},
		{"GET", "/v1/users/123456/ratings", ``, 404, "unknown_user", nil},
		{"GET", "/v1/users/1/predictions", ``, 400, "bad_query", nil},
		{"GET", "/v1/users/1/predictions?top=0", ``, 400, "bad_query", nil},
		{"GET", "/v1/users/1/predictions?top=1001", ``, 400, "bad_query", nil},
		{"GET", "/v1/users/1/predictions?top=1&movies=1", ``, 400, "bad_query", nil},
		{"GET", "/v1/users/1/predictions?top=1&top=2", ``, 400, "bad_query", nil},
		{"GET", "/v1/users/1/predictions?top=1&limit=2", ``, 400, "bad_query", nil},
		{"GET", "/v1/users/1/predictions?top=%zz", ``, 400, "bad_query", nil},
		{"GET", "/v1/users/1/predictions?movies=1,,2", ``, 400, "bad_id", nil},
		{"GET", "/v1/users/1/predictions?movies=" + strings.Repeat("1,", maxMovies) + "1", ``, 400, "bad_query", nil},
		{"GET", fmt.Sprintf("/v1/users/1/predictions?movies=%d", r.missing), ``, 404, "unknown_movie", nil},
		{"GET", "/v1", ``, 404, "no_such_path", nil},
		{"GET", "/v1/users/1", ``, 404, "no_such_path", nil},
		{"GET", "/v1/model", ``, 421, "wrong_host", []string{"Host: evil.example"}},
		{"POST", "/v1/ratings", good, 403, "cross_site", []string{"Origin: https://evil.example"}},
		{"POST", "/v1/items", `{"movie": 7000}`, 403, "cross_site", []string{"Sec-Fetch-Site: cross-site"}},
		{"DELETE", "/v1/users/1", ``, 403, "cross_site", []string{"Sec-Fetch-Site: same-site"}},
		{"DELETE", "/v1/users/1", ``, 403, "cross_site", []string{"Origin: null"}},
	} {
		a := r.do(t, c.method, c.path, c.body, c.headers...)
		var p struct {
			Error liveweb.Problem `json:"error"`
		}
		err := json.Unmarshal([]byte(a.body), &p)
		kind := a.header.Get("Content-Type")
		if a.status != c.status || p.Error.Code != c.code || p.Error.Message == "" || err != nil || kind != "application/json" {
			t.Errorf("%s %.60s %.60s: %d %s %.200s, want %d %s", c.method, c.path, c.body, a.status, p.Error.Code, a.body, c.status, c.code)
		}
		if c.status == 405 && a.header.Get("Allow") == "" {
			t.Errorf("%s %s does not say what is allowed", c.method, c.path)
		}
	}
	if v := r.service.Status().Version; v != 0 {
		t.Errorf("version %d: a refused request was accepted", v)
	}
	if a := r.do(t, "POST", "/v1/ratings", good); a.status != 200 {
		t.Errorf("after all that: %d %s", a.status, a.body)
	}
}

func TestToken(t *testing.T) {
	r := start(t, nil, Config{Config: liveweb.Config{Token: "correct horse battery"}})
	for _, c := range []struct {
		path, header string
		status       int
	}{
		{"/v1/model", "", 401},
		{"/v1/model", "Authorization: Bearer wrong", 401},
		{"/v1/model", "Authorization: Basic correct horse battery", 401},
		{"/v1/model", "Authorization: Bearer ", 401},
		{"/metrics", "", 401},
		{"/v1/model", "Authorization: Bearer correct horse battery", 200},
		{"/metrics", "Authorization: bearer correct horse battery", 200},
		{"/healthz", "", 200},
		{"/openapi.json", "", 200},
	} {
		var headers []string
		if c.header != "" {
			headers = append(headers, c.header)
		}
		a := r.do(t, "GET", c.path, "", headers...)
		if a.status != c.status {
			t.Errorf("%s with %q: %d, want %d", c.path, c.header, a.status, c.status)
		}
		if c.status == 401 && !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s with %q does not say what is asked for", c.path, c.header)
		}
	}
	a := r.do(t, "POST", "/v1/ratings", fmt.Sprintf(`{"user": 1, "movie": %d, "rating": 3}`, r.known))
	if a.status != 401 || r.service.Status().Version != 0 {
		t.Errorf("a rating without a token: %d", a.status)
	}
}

// Addresses that others can reach are not opened without a token.
func TestListen(t *testing.T) {
	for _, c := range []struct {
		address string
		token   bool
		ok      bool
	}{
		{"127.0.0.1:0", false, true},
		{"localhost:0", false, true},
		{":0", false, false},
		{"0.0.0.0:0", false, false},
		{"192.0.2.1:0", false, false},
		{"0.0.0.0:0", true, true},
		{"nonsense", true, false},
	} {
		l, err := liveweb.Listen(context.Background(), c.address, c.token)
		if (err == nil) != c.ok {
			t.Errorf("%s, token %v: %v", c.address, c.token, err)
		}
		if !c.ok && !c.token && !errors.Is(err, liveweb.ErrNeedsToken) {
			t.Errorf("%s: %v, want %v", c.address, err, liveweb.ErrNeedsToken)
		}
		if l != nil {
			l.Close()
		}
	}
}

// A rating that the disk did not take is a 503, /healthz tells, predictions go
// on.
func TestDiskFails(t *testing.T) {
	d := faultdisk.New()
	r := start(t, d, Config{})
	body := func(rating int) string {
		return fmt.Sprintf(`{"user": 777, "movie": %d, "rating": %d}`, r.known, rating)
	}
	if a := r.do(t, "POST", "/v1/ratings", body(4)); a.status != 200 {
		t.Fatal(a)
	}
	d.SetRoom(10)
	a := r.do(t, "POST", "/v1/ratings", body(5))
	if a.status != 503 || a.header.Get("Retry-After") == "" || strings.Contains(a.body, "device") {
		t.Errorf("disk full: %+v", a)
	}
	if a := r.do(t, "GET", "/healthz", ""); a.status != 503 || !strings.Contains(a.body, "not_stored") {
		t.Errorf("disk full: %+v; want 503", a)
	}
	d.SetRoom(-1)
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) { // it notices by itself: nobody sends ratings to the sick
		if a := r.do(t, "GET", "/healthz", ""); a.status == 200 {
			break
		} else if time.Since(began) > 20*time.Second {
			t.Fatalf("room again: %+v, want 200", a)
		}
	}
	if a := r.do(t, "POST", "/v1/ratings", body(5)); a.status != 200 {
		t.Errorf("room again: %+v", a)
	}
	d.Fail(func(op faultdisk.Op) error {
		if op.Kind == "sync" {
			return errors.New("input/output error")
		}
		return nil
	})
	for range 2 {
		if a := r.do(t, "POST", "/v1/ratings", body(1)); a.status != 503 {
			t.Errorf("sync fails: %+v", a)
		}
		d.Fail(nil)
	}
	if a := r.do(t, "GET", "/healthz", ""); a.status != 503 {
		t.Errorf("after a failed sync: %+v", a)
	}
	if a := r.do(t, "GET", "/v1/users/777/ratings", ""); a.status != 200 || !strings.Contains(a.body, `"rating":5`) {
		t.Errorf("ratings: %+v; want the last one that was acknowledged", a)
	}
	if a := r.do(t, "GET", "/v1/users/777/predictions?top=2", ""); a.status != 200 {
		t.Errorf("predictions: %+v", a)
	}
	r.Server.Close()
	again := start(t, d.Crash(nil), Config{})
	if a := again.do(t, "GET", "/v1/users/777/ratings", ""); !strings.Contains(a.body, `"rating":5`) {
		t.Errorf("after a restart: %+v", a)
	}
}

// served runs a server with short timeouts on a real listener.
func served(t *testing.T, c Config) (address string, service *recommend.Service, stop func() error) {
	t.Helper()
	all, m := small()
	s, err := recommend.Open(m, all, faultdisk.New(), recommend.Config{Rule: recommend.Paper(0.01)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := liveweb.Listen(context.Background(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- New(s, c).Serve(ctx, l) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-ended, s.Close())
	})
	t.Cleanup(func() { stop() })
	return l.Addr().String(), s, stop
}

// Clients that send too slowly are cut off; others are served meanwhile.
func TestSlowClients(t *testing.T) {
	address, service, _ := served(t, Config{Config: liveweb.Config{Header: 200 * time.Millisecond, Read: 300 * time.Millisecond}})
	slow := func(text string) string {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, text)
		c.SetReadDeadline(time.Now().Add(20 * time.Second))
		got, err := io.ReadAll(c)
		if err != nil {
			t.Fatalf("the connection was not closed: %v", err)
		}
		return string(got)
	}
	began := time.Now()
	if got := slow("GET /v1/mod"); strings.Contains(got, "200 OK") {
		t.Errorf("half a request was answered: %q", got)
	}
	head := "POST /v1/ratings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	if got := slow(head + `{"user": 1`); !strings.HasPrefix(got, "HTTP/1.1 408 ") {
		t.Errorf("half a body: %q, want 408", got)
	}
	if took := time.Since(began); took > 15*time.Second {
		clocktest.Need(t)
		t.Errorf("slow clients were served for %v", took)
	}
	huge := "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2*liveweb.MaxHeader) + "\r\n\r\n"
	if got := slow(huge); !strings.HasPrefix(got, "HTTP/1.1 431 ") {
		t.Errorf("a huge head: %.60q, want 431", got)
	}
	if service.Status().Version != 0 {
		t.Error("half a rating was accepted")
	}
}

// The end of the server waits for requests under way and loses nothing that was
// acknowledged.
func TestShutdown(t *testing.T) {
	address, service, stop := served(t, Config{})
	var wait sync.WaitGroup
	var mutex sync.Mutex
	acknowledged := uint64(0)
	for g := range 4 {
		wait.Go(func() {
			for i := range 10_000 {
				body := fmt.Sprintf(`{"user": %d, "movie": %d, "rating": %d}`, 1000+g, 1+i%2, 1+i%5)
				a, err := http.Post("http://"+address+"/v1/ratings", "application/json", strings.NewReader(body))
				if err != nil {
					return
				}
				var out recommend.Rated
				err = json.NewDecoder(a.Body).Decode(&out)
				a.Body.Close()
				if a.StatusCode != 200 || err != nil {
					return
				}
				mutex.Lock()
				acknowledged = max(acknowledged, out.Version)
				mutex.Unlock()
				if g == 0 && i == 50 {
					go stop()
				}
			}
		})
	}
	wait.Wait()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if v := service.Status().Version; v < acknowledged || acknowledged == 0 {
		t.Errorf("version %d, acknowledged %d", v, acknowledged)
	}
}

// A panic is a 500 with a body, and the server lives on.
func TestPanic(t *testing.T) {
	r := start(t, nil, Config{})
	table = append(table, route{"GET", "/panic", true, func(*Server, http.ResponseWriter, *http.Request) error { panic("test") }})
	defer func() { table = table[:len(table)-1] }()
	v := New(r.service, Config{})
	r.Server.Config.Handler = v
	if a := r.do(t, "GET", "/panic", ""); a.status != 500 || !strings.Contains(a.body, `"internal"`) {
		t.Errorf("%+v, want a 500", a)
	}
	if a := r.do(t, "GET", "/healthz", ""); a.status != 200 {
		t.Errorf("%+v", a)
	}
}

func TestMetrics(t *testing.T) {
	r := start(t, nil, Config{})
	r.do(t, "POST", "/v1/ratings", fmt.Sprintf(`{"user": 1, "movie": %d, "rating": 1}`, r.known))
	r.do(t, "GET", "/v1/users/1/predictions?top=7", "")
	r.do(t, "GET", "/nowhere", "")
	a := r.do(t, "GET", "/metrics", "")
	for _, want := range []string{
		"wdgnn_predictions_total 7", "wdgnn_ratings_total 1", `wdgnn_http_requests_total{route="other",status="404"} 1`,
		`wdgnn_window_rmse{model="online"}`, "wdgnn_serving_online 1", "wdgnn_commit_seconds_count 1", "wdgnn_writable 1", "go_goroutines",
	} {
		found := false
		for s := bufio.NewScanner(bytes.NewReader([]byte(a.body))); s.Scan(); {
			found = found || strings.HasPrefix(s.Text(), want)
		}
		if !found {
			t.Errorf("no line %q", want)
		}
	}
}

// Many clients at once: every acknowledged rating is there.
func TestManyClients(t *testing.T) {
	d := faultdisk.New()
	r := start(t, d, Config{})
	var wait sync.WaitGroup
	for g := range 6 {
		wait.Go(func() {
			for i := range 40 {
				movie := 1 + (g*7+i)%40
				a := r.do(t, "POST", "/v1/ratings", fmt.Sprintf(`{"user": %d, "movie": %d, "rating": %d}`, 5000+g, movie, 1+i%5))
				if a.status != 200 && a.status != 422 {
					t.Errorf("%+v", a)
				}
				if i > 5 {
					if a := r.do(t, "GET", fmt.Sprintf("/v1/users/%d/predictions?top=3", 5000+g), ""); a.status != 200 {
						t.Errorf("%+v", a)
					}
				}
			}
		})
	}
	wait.Wait()
	want := make([]string, 6)
	for g := range want {
		want[g] = r.do(t, "GET", fmt.Sprintf("/v1/users/%d/ratings", 5000+g), "").body
	}
	r.Server.Close()
	again := start(t, d.Crash(nil), Config{})
	for g := range want {
		if got := again.do(t, "GET", fmt.Sprintf("/v1/users/%d/ratings", 5000+g), "").body; got != want[g] {
			t.Errorf("user %d: %s after a restart, %s before", 5000+g, got, want[g])
		}
	}
}

func FuzzParseRating(f *testing.F) {
	f.Add([]byte(`{"user": 1, "movie": 50, "rating": 4}`))
	f.Add([]byte(`{"user": 1, "user": 2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := naming{word: "movie"}.parseRating(text)
		if _, bad := parseID("user", r.user); err == nil && (bad != nil || r.item == "" || r.value-r.value != 0) {
			t.Errorf("%q gave %+v", text, r)
		}
	})
}
