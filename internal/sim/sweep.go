package sim

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Summary is how many trials went.
type Summary struct {
	From    uint64         `json:"from"` // seeds, both included
	To      uint64         `json:"to"`
	Trials  uint64         `json:"trials"`  // that were played
	Broken  []Finding      `json:"broken"`  // by seed
	Settled uint64         `json:"settled"` // in which neighbours were on the same step a while after the last fault
	Exact   uint64         `json:"exact"`   // in which nothing was lost, compared with one process bit for bit
	Steps   uint64         `json:"steps"`   // of all hosts
	Frames  uint64         `json:"frames"`
	Shut    uint64         `json:"quarantines"` // that hosts put others in
	Time    time.Duration  `json:"time_ns"`     // that passed in them
	Faults  map[string]int `json:"faults"`      // by kind

	Deployed int `json:"deployed"` // models that all hosts of a trial went over to
}

// Finding is a seed that broke a promise.
type Finding struct {
	Seed   uint64   `json:"seed"`
	Broken []string `json:"broken"`
}

// mostFindings is how many seeds a summary names.
const mostFindings = 100

// Sweep plays the trials of seeds from to to, side by side, until all are played
// or ctx ends. Watch, if not nil, hears of progress every now and then.
func Sweep(ctx context.Context, from, to uint64, watch func(s Summary)) (Summary, error) {
	s := Summary{From: from, To: to, Faults: map[string]int{}}
	var mu sync.Mutex
	var failed error
	next := from
	take := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next > to || failed != nil || ctx.Err() != nil || len(s.Broken) >= mostFindings {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				t, o, err := play(seed)
				mu.Lock()
				if err != nil {
					failed = err
				} else {
					s.add(t, o)
				}
				if watch != nil && s.Trials%64 == 0 {
					watch(s)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.SortFunc(s.Broken, func(a, b Finding) int { return int(a.Seed - b.Seed) })
	if failed == nil {
		failed = ctx.Err()
	}
	return s, failed
}

// play draws and plays one trial.
func play(seed uint64) (*Trial, *Outcome, error) {
	t, err := Draw(seed)
	if err != nil {
		return nil, nil, err
	}
	o, err := t.Run(nil)
	return t, o, err
}

func (s *Summary) add(t *Trial, o *Outcome) {
	s.Trials++
	s.Steps += o.Steps
	s.Frames += o.Frames
	s.Shut += o.Shut
	s.Deployed += o.Deployed
	s.Time += o.Time
	if o.Settled {
		s.Settled++
	}
	if o.Exact {
		s.Exact++
	}
	for _, f := range t.Faults {
		s.Faults[f.Kind.String()]++
	}
	if len(o.Broken) > 0 {
		s.Broken = append(s.Broken, Finding{t.Seed, o.Broken})
	}
}

// Shrink returns the trial without faults that do not matter: one after the other
// is left out as long as some promise is broken all the same.
func (t *Trial) Shrink() (*Trial, error) {
	for k := 0; k < len(t.Faults); {
		less := *t
		less.Faults = slices.Delete(slices.Clone(t.Faults), k, k+1)
		less.schedule()
		o, err := less.Run(nil)
		if err != nil {
			return nil, err
		}
		if len(o.Broken) == 0 {
			k++
			continue
		}
		t = &less
	}
	return t, nil
}
