package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
	"github.com/wdgnn/wdgnn/random"
)

// shopCSV returns ratings from -1 to 1 of wares with odd names by customers with odd names.
func shopCSV() string {
	var b strings.Builder
	rng := random.Stream(1, "shop")
	b.WriteString("user,item,rating,title\n")
	for u := range 60 {
		for n := range 16 {
			if rng.IntN(2) == 0 {
				like := 1 - 2*((u+n)%2)
				if rng.IntN(6) == 0 {
					like = -like
				}
				fmt.Fprintf(&b, "\"Käufer, %d\",\"tee/%d\",%d,\"Tee №%d\"\n", u, n, like, n)
			}
		}
	}
	return b.String()
}

// startShop serves a shop.
func startShop(t *testing.T, c Config) *running {
	t.Helper()
	shop, err := dataset.ReadShop(strings.NewReader(shopCSV()), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := recommend.DefaultSetting().Scaled(-1, 1)
	s.Movies, s.Neighbors, s.Features, s.Order = 0, 5, 16, 3
	m, err := recommend.TrainShop(context.Background(), shop, s, recommend.TrainConfig{Epochs: 5, BatchSize: 64})
	if err != nil {
		t.Fatal(err)
	}
	service, err := recommend.OpenShop(m, shop, faultdisk.New(), recommend.Config{Rule: recommend.Paper(0.01)})
	if err != nil {
		t.Fatal(err)
	}
	v := New(service, c)
	r := &running{Server: httptest.NewServer(v), service: service}
	t.Cleanup(func() {
		v.live.Close()
		r.Server.Close()
		service.Close()
	})
	return r
}

// A shop speaks of items, by the ids of its file, in its scale.
func TestShop(t *testing.T) {
	r := startShop(t, Config{})
	user := url.PathEscape("Käufer, 7")
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/v1/users/" + user + "/ratings", "", 200, `{"user":"Käufer, 7","ratings":[{"item":"tee/`},
		{"GET", "/v1/users/" + user + `/predictions?items="tee/3",tee/4`, "", 200, `"title":"Tee №3"`},
		{"GET", "/v1/users/" + user + "/predictions?movies=3", "", 400, `unknown parameter`},
		{"GET", "/v1/users/" + user + "/predictions?items=tee/99", "", 404, `no such item: item \"tee/99\" is not among the 16`},
		{"GET", "/v1/users/nobody/predictions?top=1", "", 404, `user \"nobody\" has not rated anything yet`},
		{"GET", "/v1/users/" + user + "/predictions?top=3&because=21", "", 400, "want 1 to 20"},
		{"GET", "/v1/users/" + user + "/predictions?top=101&because=2", "", 400, "explains 100"},
		{"POST", "/v1/ratings", `{"user": "Zoë", "item": "tee/3", "rating": 1}`, 200, `{"user":"Zoë","item":"tee/3","rating":1,"version":1,`},
		{"POST", "/v1/ratings", `{"user": 12, "item": "tee/4", "rating": -1}`, 200, `{"user":"12","item":"tee/4"`},
		{"POST", "/v1/ratings", `{"user": "Zoë", "item": "tee/3", "rating": 2}`, 422, "want -1 to 1"},
		{"POST", "/v1/ratings", `{"user": " Zoë", "item": "tee/3", "rating": 1}`, 404, "begins or ends with a space"},
		{"POST", "/v1/ratings", `{"user": "", "item": "tee/3", "rating": 1}`, 404, "an empty id"},
		{"POST", "/v1/ratings", `{"user": "Zoë", "item": "new", "rating": 1}`, 422, `"unknown_item"`},
		{"POST", "/v1/ratings", `{"user": "Zoë", "movie": "tee/3", "rating": 1}`, 400, `"item\": \"sku 50\"`},
		{
			"POST", "/v1/items", `{"item": "new", "title": "Neu, \"frisch\""}`, 201,
			`{"item":"new","title":"Neu, \"frisch\"","version":3,"changed":true}`,
		},
		{"POST", "/v1/items", `{"item": "new"}`, 200, `"changed":false`},
		{"POST", "/v1/items", `{"item": "new", "title": "Alt"}`, 409, "is there already"},
		{"POST", "/v1/items", `{"title": "Alt"}`, 400, `no field \"item\"`},
		{"POST", "/v1/ratings", `{"user": "Zoë", "item": "new", "rating": 1}`, 200, "the item is new"},
		{"GET", "/v1/users/Zo%C3%AB/ratings", "", 200, `{"item":"new","title":"Neu, \"frisch\"","rating":1}`},
		{"DELETE", "/v1/users/Zo%C3%AB", "", 200, `{"user":"Zoë","version":5,"ratings":2,"relearned":1,"trained":false}`},
		{"DELETE", "/v1/users/Zo%C3%AB", "", 404, "unknown_user"},
		{"DELETE", "/v1/users/" + user, "", 200, `"trained":true,"try":"the model was trained with`},
		{"GET", "/v1/users/" + user + "/ratings", "", 404, "unknown_user"},
	} {
		path := strings.ReplaceAll(strings.ReplaceAll(c.path, `"`, "%22"), "№", url.QueryEscape("№"))
		if a := r.do(t, c.method, path, c.body); a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s %s %s: got %d %s, want %d with %s", c.method, c.path, c.body, a.status, a.body, c.status, c.want)
		}
	}
}

// The parts of an answer sum up to it, in the scale of the shop.
func TestShopBecause(t *testing.T) {
	r := startShop(t, Config{})
	a := r.do(t, "GET", "/v1/users/"+url.PathEscape("Käufer, 7")+"/predictions?top=5&because=2", "")
	var got shopPredictions
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || len(got.List) == 0 {
		t.Fatalf("%s: %v", a.body, err)
	}
	for _, p := range got.List {
		sum := p.Because.Start + p.Because.Others
		for _, voice := range p.Because.Ratings {
			sum += voice.Adds
		}
		if math.Abs(min(1, max(-1, sum))-p.Rating) > 2e-6 {
			t.Errorf("%v: parts sum up to %v, want %v", p.Item, sum, p.Rating)
		}
	}
}

// A client who asks too often is told when to come back, and nobody else is. Health
// and metrics are not counted.
func TestRateLimit(t *testing.T) {
	l := newLimiter(Limit{PerSecond: 2, Burst: 3})
	now := time.Unix(1000, 0)
	l.now = func() time.Time { return now }
	for k, want := range []time.Duration{0, 0, 0, 500 * time.Millisecond, 500 * time.Millisecond} {
		if got := l.take("a"); got != want {
			t.Errorf("request %d must wait %v, want %v", k, got, want)
		}
	}
	if l.take("b") != 0 {
		t.Error("another client must wait")
	}
	if now = now.Add(600 * time.Millisecond); l.take("a") != 0 || l.take("a") == 0 {
		t.Error("after 0.6 s, want one request more")
	}
	for k := range 3 * mostClients {
		l.take(fmt.Sprint(k))
	}
	if len(l.clients) > mostClients {
		t.Errorf("%d clients are remembered, want at most %d", len(l.clients), mostClients)
	}
	tokens := liveweb.Config{Token: "first token 0123456\nsecond token 012345"}
	r := start(t, nil, Config{Limit: Limit{PerSecond: 0.001, Burst: 2}, Config: tokens})
	ask := func(token, path string, want int) answer {
		t.Helper()
		a := r.do(t, "GET", path, "", "Authorization: Bearer "+token)
		if a.status != want {
			t.Errorf("%s: got %d, want %d", path, a.status, want)
		}
		return a
	}
	for range 2 {
		ask("first token 0123456", "/v1/model", 200)
	}
	a := ask("first token 0123456", "/v1/model", 429)
	if a.header.Get("Retry-After") != "1000" || !strings.Contains(a.body, `"too_many_requests"`) {
		t.Errorf("got %v, %s; want to come back in 1000 s", a.header, a.body)
	}
	ask("second token 012345", "/v1/model", 200)
	ask("no token", "/v1/model", 401)
	ask("no token", "/v1/model", 401)
	ask("no token", "/v1/model", 429) // by its address
	ask("first token 0123456", "/metrics", 200)
	ask("", "/healthz", 200)
}
