package recommend

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// Predictor predicts the rating that a user of a table would give to one of its
// movies.
type Predictor func(user, movie int) float64

// Comparison is how a model and another predictor do on the same ratings.
type Comparison struct {
	Ratings int     `json:"ratings"`
	RMSE    float64 `json:"rmse"`
	Peer    float64 `json:"rmse_peer"`
}

// Beside compares the model with a predictor on the users who had no part in
// training. Their ratings are hidden a fold at a time; fit makes the other
// predictor of everything else, and the model predicts from what it still sees
// of the user.
func (m *Model) Beside(all *movies.Ratings, folds int, fit func(r *movies.Ratings) Predictor) (Comparison, error) {
	w, err := newWorld(all, m.Setting, 1)
	if err != nil {
		return Comparison{}, err
	}
	if folds < 2 {
		return Comparison{}, fmt.Errorf("recommend: %d folds, want at least 2", folds)
	}
	x := newExtractor(w, m.network, 1<<20)
	ours, peer, count := 0.0, 0.0, 0
	for f := range folds {
		hidden := func(u int, n int32) bool { return (u*7+int(n)*3)%folds == f && slices.Contains(w.test, u) }
		var list []movies.Rating
		for u := range w.ratings.Users() {
			movie, rating := w.ratings.User(u)
			for k, n := range movie {
				if !hidden(u, n) {
					list = append(list, movies.Rating{User: u, Item: int(n), Value: rating[k]})
				}
			}
		}
		r, err := movies.NewRatings(list, nil)
		if err != nil {
			return Comparison{}, fmt.Errorf("recommend: %w", err)
		}
		predict := fit(r)
		for _, u := range w.test {
			row, known := r.FindUser(u)
			if !known {
				continue
			}
			movie, rating := w.ratings.User(u)
			p := &profile{}
			for k, n := range movie {
				if !hidden(u, n) {
					p = p.with(n, rating[k])
				}
			}
			seen := x.of(p)
			for k, n := range movie {
				if column, known := r.FindMovie(int(n)); hidden(u, n) && known {
					a := w.served(seen.mean[n], seen.base[n]) - rating[k]
					b := w.clip(predict(row, column)) - rating[k]
					ours, peer, count = ours+float64(a*a), peer+float64(b*b), count+1
				}
			}
		}
	}
	if count == 0 {
		return Comparison{}, errors.New("recommend: no rating of a test user could be hidden")
	}
	return Comparison{Ratings: count, RMSE: math.Sqrt(ours / float64(count)), Peer: math.Sqrt(peer / float64(count))}, nil
}
