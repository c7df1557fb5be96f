package recommend

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
)

// ticking says that a second has passed since it was last asked.
func ticking() func() time.Time {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

// tell has users rate items, new ones among both; those that are left out pass by
// while time goes on.
func tell(t *testing.T, s *Service, left ...string) {
	t.Helper()
	ctx := context.Background()
	for _, item := range []string{"7001", "7002"} {
		if _, err := s.Add(ctx, item, "New "+item); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for range 250 {
		user, item, value := fmt.Sprint(100+rng.IntN(40)), s.world.ratings.MovieID(rng.IntN(30)), 1+float64(rng.IntN(9))/2
		if rng.IntN(4) == 0 {
			item = 7001 + rng.IntN(2)
		}
		if slices.Contains(left, user) {
			s.config.now()
			continue
		}
		if user == "131" { // so that nobody else has such a rating
			value -= 0.123456789 * (value - 2)
		}
		if _, err := s.RateAs(ctx, user, item, value); err != nil {
			t.Fatal(err)
		}
	}
}

// stateOf returns everything that a service would write, but for its version.
func stateOf(s *Service) state {
	var st state
	_ = s.ask(context.Background(), func() error {
		st = s.capture(s.writer.stage).state()
		return nil
	})
	return st
}

// After a user was deleted, a service is what one is that the user never came to, in
// every bit of everything it keeps, and so it is after a crash and a restart. Nothing on the
// disk has their id or a rating of theirs.
func TestForget(t *testing.T) {
	config := func() Config {
		return Config{Rule: Paper(0.05), SnapshotEvery: 60, Guard: GuardConfig{Window: 30}, now: ticking()}
	}
	never := service(t, faultdisk.New(), config())
	tell(t, never, "131")
	dir := t.TempDir()
	d, err := journal.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := service(t, d, config())
	tell(t, s, "")
	if reflect.DeepEqual(stateOf(s), stateOf(never)) {
		t.Fatal("the user makes no difference; the test shows nothing")
	}
	marks := marksOf(s, 131)
	if found := search(t, dir, marks); len(found) < len(marks)/2 {
		t.Fatalf("only %v of %d marks are on the disk before; the test shows nothing", found, len(marks))
	}
	out, err := s.Forget(context.Background(), 131)
	if err != nil || out.Trained || out.Ratings == 0 || out.Relearned == 0 {
		t.Fatalf("got %+v, %v", out, err)
	}
	compare := func(when string, s *Service) {
		t.Helper()
		if got, want := stateOf(s), stateOf(never); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: a state of %d users, %+v; want that of one who never saw the user, %d users, %+v",
				when, len(got.Users), got.Totals, len(want.Users), want.Totals)
		}
		for u := 100; u < 140; u++ {
			got, _ := s.Top(u, 40)
			want, _ := never.Top(u, 40)
			if (got == nil) != (want == nil) || got != nil && !reflect.DeepEqual(got.List, want.List) {
				t.Errorf("%s: user %d gets %v, want %v", when, u, got, want)
			}
		}
	}
	compare("after the deletion", s)
	if _, err := s.Predict(131, []int{10}); !errors.Is(err, ErrUser) {
		t.Errorf("got %v, want %v", err, ErrUser)
	}
	if found := search(t, dir, marks); len(found) > 0 {
		t.Errorf("on the disk is %q", found)
	}
	// A crash: the folder as it is, without a last snapshot.
	crashed := t.TempDir()
	if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	d2, err := journal.OpenDir(crashed)
	if err != nil {
		t.Fatal(err)
	}
	again := service(t, d2, config())
	compare("after a crash", again)
	rate(t, again, 105, 10, 3)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if found := search(t, crashed, marks); len(found) > 0 {
		t.Errorf("after a restart, on the disk is %q", found)
	}
}

// Who came late is deleted without learning everything again, from a mark before they came, to
// the same bits; so is another after that, and one who came before all marks.
func TestForgetFromMarks(t *testing.T) {
	config := func() Config {
		return Config{Rule: Paper(0.05), Guard: GuardConfig{Window: 30}, now: ticking(), markEvery: 10, Threads: 3}
	}
	s := service(t, faultdisk.New(), config())
	tell(t, s)
	var came []int // users, by their first rating
	history := stateOf(s).History
	for _, h := range history {
		if !slices.Contains(came, h.user) && h.user > 120 { // those of the data are part of all marks
			came = append(came, h.user)
		}
	}
	var left []string
	for _, user := range []int{came[len(came)-1], came[len(came)-2], came[0]} {
		left = append(left, fmt.Sprint(user))
		history := stateOf(s).History
		first := slices.IndexFunc(history, func(h told) bool { return h.user == user })
		out, err := s.Forget(context.Background(), user)
		if most := len(history) - out.Ratings - first + 10; err != nil || out.Relearned > most {
			t.Errorf("user %d, who came after %d of %d: got %+v, %v, want at most %d learned again", user, first, len(history), out, err, most)
		}
		never := service(t, faultdisk.New(), config())
		tell(t, never, left...)
		if got, want := stateOf(s), stateOf(never); !reflect.DeepEqual(got, want) {
			t.Errorf("after %v were deleted: a state of %d users, %+v; want that of one who never saw them, %d users, %+v",
				left, len(got.Users), got.Totals, len(want.Users), want.Totals)
		}
	}
}

// There are never many marks, and the latest is never far.
func TestMarksThin(t *testing.T) {
	m := marks{every: 10}
	for at := 10; at < 100_000; at += 10 {
		if len(m.list) == 0 || at-m.list[len(m.list)-1].at >= m.every {
			m.add(mark{at: at})
		}
		if n, last := len(m.list), m.list[len(m.list)-1].at; n > mostMarks || at-last > m.every || n > 1 && n < mostMarks/2 && at > 10*mostMarks {
			t.Fatalf("%d marks after %d ratings, the last at %d, every %d", n, at, last, m.every)
		}
	}
	if got := m.until(m.list[3].at - 1); len(got.list) != 3 {
		t.Errorf("%d marks before the fourth, want 3", len(got.list))
	}
}

// marksOf returns what would betray a user: the id, as numbers are written in snapshots
// and records, with each item and rating beside it.
func marksOf(s *Service, user int) (marks [][]byte) {
	p := s.profile(user)
	marks = append(marks, fmt.Appendf(nil, `"user":%d,`, user), fmt.Appendf(nil, `[%d,`, user))
	for k, n := range p.movie {
		id, _ := s.world.idOf(n, s.version.Load().newcomers)
		head := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(user)), uint32(id))
		marks = append(marks, head)
		if v := p.rating[k]; v != math.Trunc(2*v)/2 {
			marks = append(marks, fmt.Append(nil, v), binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	return marks
}

// search returns the marks that are in the files of a folder.
func search(t *testing.T, dir string, marks [][]byte) (found [][]byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range marks {
			if bytes.Contains(text, m) {
				found = append(found, m)
			}
		}
	}
	return found
}

// A user of the data is unknown from then on, also after a restart, and comes back with
// a first rating; the model as trained still has their part, and the answer says so.
func TestForgetTrained(t *testing.T) {
	d := faultdisk.New()
	s := service(t, d, learning())
	rate(t, s, 3, 10, 1)
	out, err := s.Forget(context.Background(), 3)
	if err != nil || !out.Trained {
		t.Fatalf("got %+v, %v; want that the user is in the data", out, err)
	}
	version := s.Status().Version
	s.Close()
	s = service(t, d, learning())
	if _, err := s.Ratings(3); !errors.Is(err, ErrUser) || s.Status().Version != version {
		t.Errorf("after a restart: got %v and version %d, want %v and %d", err, s.Status().Version, ErrUser, version)
	}
	if _, err := s.Forget(context.Background(), 3); !errors.Is(err, ErrUser) {
		t.Errorf("a second time: got %v, want %v", err, ErrUser)
	}
	if got, want := s.Status().Window.Filled, s.world.ratings.Users()-1; got != want {
		t.Errorf("%d users judge, want %d, without the one who is deleted", got, want)
	}
	rate(t, s, 3, 10, 4)
	if list, err := s.Ratings(3); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v; want the one rating that was given since", list, err)
	}
	data := s.shop.Ratings
	u, _ := data.FindUser(3)
	own, _ := data.User(u) // also of movies that the model does not know
	all, err := s.All(context.Background())
	if want := data.Count() - len(own) + 1; err != nil || len(all) != want {
		t.Errorf("all: got %d ratings, %v; want %d, those of the data without the user's, and the one since", len(all), err, want)
	}
}

// A disk that fails during a deletion leaves the service as it was, or with the user
// gone; a restart finishes what was begun.
func TestForgetOnBadDisk(t *testing.T) {
	for at := range 12 {
		d := faultdisk.New()
		s := service(t, d, Config{Rule: Paper(0.05), now: ticking()})
		tell(t, s, "")
		before := stateOf(s)
		count := 0
		d.Fail(func(faultdisk.Op) error {
			if count++; count == at+1 {
				return errors.New("input/output error")
			}
			return nil
		})
		_, err := s.Forget(context.Background(), 131)
		d.Fail(nil)
		if after := stateOf(s); err != nil && s.profile(131) != nil && !reflect.DeepEqual(after, before) {
			t.Errorf("failure %d: %v, and a state in between", at, err)
		}
		now := service(t, d.Crash(nil), learning())
		if known := now.profile(131) != nil; !known == (err != nil) && err == nil {
			t.Errorf("failure %d: deleted, and found after a restart", at)
		}
	}
}

// Where the files of a deleted user cannot be removed at once, among them a snapshot that was
// damaged long ago, they are removed when the disk lets it: after the next snapshot, or at the
// next start, however many snapshots were written by then.
func TestForgetSweepsLater(t *testing.T) {
	for _, better := range []string{"while it runs", "after a crash"} {
		t.Run(better, func(t *testing.T) {
			d := faultdisk.New()
			config := learning()
			config.SnapshotEvery = 2
			s := service(t, d, config)
			rate(t, s, 131, 10, 5)
			rate(t, s, 131, 20, 1)
			f, err := d.Append("snapshot-0000000000000001.damaged")
			if err == nil {
				_, err = f.Write([]byte(`{"user":131,`))
			}
			if err = errors.Join(err, f.Sync(), f.Close(), d.Sync()); err != nil {
				t.Fatal(err)
			}
			d.Fail(func(op faultdisk.Op) error {
				if op.Kind == "remove" {
					return errors.New("operation not permitted")
				}
				return nil
			})
			if _, err := s.Forget(context.Background(), 131); !errors.Is(err, ErrDisk) {
				t.Fatalf("got %v, want that the disk failed", err)
			}
			if better == "while it runs" {
				d.Fail(nil)
			}
			for k := range 8 { // snapshots beside them
				rate(t, s, 132, 10*(k+1), 3)
			}
			if err := s.Close(); better == "while it runs" && err != nil {
				t.Fatal(err)
			}
			d.Fail(nil)
			if better != "while it runs" {
				d = d.Crash(nil)
				service(t, d, config)
			}
			names, err := d.Names()
			for _, name := range names {
				if text, _ := d.ReadFile(name); strings.Contains(string(text), `"user":131,`) {
					t.Errorf("%s still has the user who was deleted (%v)", name, err)
				}
			}
		})
	}
}

// Where ids are texts, new users and items keep theirs through restarts and deletions.
func TestNamedShop(t *testing.T) {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(2, 2))
	for u := range 40 {
		for n := range 12 {
			if rng.IntN(3) > 0 {
				fmt.Fprintf(&b, "\"user, %d\",ware №%d,%d\n", u, n, rng.IntN(11))
			}
		}
	}
	shop, err := dataset.ReadShop(strings.NewReader(b.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	setting := smallSetting().Scaled(0, 10)
	setting.Movies = 0
	m, err := TrainShop(context.Background(), shop, setting, TrainConfig{Epochs: 2})
	if err != nil {
		t.Fatal(err)
	}
	d := faultdisk.New()
	open := func() *Service {
		t.Helper()
		s, err := OpenShop(m, shop, d, learning())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s, ctx := open(), context.Background()
	if _, err := s.Add(ctx, "ware №99", ""); err != nil {
		t.Fatal(err)
	}
	give := func(s *Service, user, item string, rating float64) {
		t.Helper()
		id, err := s.FindItem(item)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.RateAs(ctx, user, id, rating); err != nil {
			t.Fatal(err)
		}
	}
	give(s, "Zoë", "ware №1", 7)
	give(s, "李雷", "ware №99", 9.5)
	give(s, "李雷", "ware №2", 0)
	for _, end := range []func(){func() {}, func() { s.Close() }, func() {
		id, err := s.FindUser("Zoë")
		if err != nil {
			t.Fatal(err)
		}
		other, _ := s.FindUser("李雷")
		if _, err := s.Forget(ctx, id); err != nil {
			t.Fatal(err)
		}
		if now, err := s.FindUser("李雷"); err != nil || now != other {
			t.Errorf("another user has number %d (%v) after a deletion, want %d as before: requests under way know it", now, err, other)
		}
		give(s, "neu", "ware №1", 3)
		if now, _ := s.FindUser("neu"); now == id {
			t.Error("a new user has the number of a deleted one")
		}
		if _, err := s.FindUser("Zoë"); !errors.Is(err, ErrUser) {
			t.Errorf("deleted: got %v, want %v", err, ErrUser)
		}
		s.Close()
	}} {
		end()
		d = d.Crash(nil)
		s = open()
		id, err := s.FindUser("李雷")
		if err != nil || s.UserText(id) != "李雷" {
			t.Fatalf("got %v, %v", id, err)
		}
		list, err := s.Ratings(id)
		if err != nil || len(list) != 2 || s.ItemText(list[0].Movie)+s.ItemText(list[1].Movie) != "ware №2ware №99" || list[1].Rating != 9.5 {
			t.Fatalf("got %+v, %v", list, err)
		}
	}
	_, err = s.FindItem("ware №98")
	if !errors.Is(err, ErrMovie) || !strings.Contains(err.Error(), `no such item: item "ware №98" is not among`) {
		t.Errorf("got %v", err)
	}
}
