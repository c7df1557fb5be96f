package serve

import (
	"math"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
)

// ratingsPage is what the page needs to know of the recommender beside its API.
type ratingsPage struct {
	Users []any           `json:"users"` // some that have rated something: numbers, or texts
	Scale recommend.Scale `json:"scale"`
	Word  string          `json:"word"` // what is rated: "movie" or "item"
}

// ratingsPage returns it as it is now: users who were deleted are not offered.
func (v *Server) ratingsPage() any {
	p := &ratingsPage{Users: []any{}, Scale: v.service.Status().Scale, Word: v.service.Word()}
	for _, id := range v.config.Users {
		if _, err := v.service.Ratings(id); err == nil {
			p.Users = append(p.Users, v.userID(id))
		}
	}
	return p
}

// ratingsScene is what the recommender shows while ratings come in.
func ratingsScene(word string) live.Scene {
	const chart = "prediction error, RMSE on the ratings of the data"
	return live.Scene{
		Title: "Ratings",
		About: "Every rating moves the taps of the wide part at once, and the next prediction shows it. " +
			"The model as trained runs beside it, for comparison.",
		Task: "ratings", Time: "rating", Layout: live.LayoutNone,
		Learners: []string{"frozen", "online"}, Looks: []int{live.LookFrozen, live.LookLearning},
		Curves: []live.Curve{
			{
				Name: "frozen", Chart: chart, Learner: 0,
				Note: "How far ratings of the data are from what their users' others predict: less is better.",
			},
			{Name: "online", Chart: chart, Learner: 1},
			{
				Name: "taps moved", Chart: "distance of the taps from the trained ones", Learner: 1,
				Note: "How far learning has moved the model.",
			},
		},
		Counters: []live.Counter{{Name: "ratings"}, {Name: "users"}, {Name: word + "s"}, {Name: "steps held back"}},
	}
}

// ratingsFrame is the present state of the recommender.
func ratingsFrame(s recommend.Status) *live.Frame {
	online, frozen := s.Window.Online, s.Window.Frozen
	if s.Window.Filled == 0 {
		online, frozen = math.NaN(), math.NaN()
	}
	return &live.Frame{
		Time:     float64(s.Version),
		Curves:   live.Numbers{frozen, online, s.Moved},
		Counters: live.Numbers{float64(s.Version), float64(s.Users), float64(s.Movies), float64(s.Held)},
	}
}
