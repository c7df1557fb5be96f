package serve

import (
	"context"
	"encoding/csv"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
)

// classic says whether what is rated are movies with numbers: then answers are those of
// package recommend as they are.
func (v *Server) classic() bool {
	return v.service.Word() == "movie" && !v.service.NamedUsers() && !v.service.NamedItems()
}

// userID returns the id of a user as answers have it: a number or a text.
func (v *Server) userID(id int) any {
	if v.service.NamedUsers() {
		return v.service.UserText(id)
	}
	return id
}

// itemID is userID for items.
func (v *Server) itemID(id int) any {
	if v.service.NamedItems() {
		return v.service.ItemText(id)
	}
	return id
}

// findUser returns the number of a user in a path.
func (v *Server) findUser(text string) (int, error) {
	if v.service.NamedUsers() {
		return v.service.FindUser(text)
	}
	return parseID("user", text)
}

// findItem returns the number of an item in a query or a body.
func (v *Server) findItem(text string) (int, error) {
	if v.service.NamedItems() {
		return v.service.FindItem(text)
	}
	return parseID(v.service.Word(), text)
}

// splitItems returns the ids of a list; those with commas are in quotes, as in CSV.
func (v *Server) splitItems(list string) ([]string, error) {
	if !v.service.NamedItems() {
		return strings.Split(list, ","), nil
	}
	words, err := csv.NewReader(strings.NewReader(list)).Read()
	if err != nil {
		return nil, liveweb.Problemf(http.StatusBadRequest, "bad_query", "items: %v", err).Hint(`items=a,"b, with a comma",c`)
	}
	return words, nil
}

// Answers about items, which are those of package recommend with other ids.
type (
	shopPredictions struct {
		User    any              `json:"user"`
		Version uint64           `json:"version"`
		Serving string           `json:"serving"`
		List    []shopPrediction `json:"predictions"`
	}
	shopPrediction struct {
		Item    any          `json:"item"`
		Title   string       `json:"title,omitempty"`
		Rating  float64      `json:"rating"`
		Rated   *float64     `json:"rated,omitempty"`
		Because *shopBecause `json:"because,omitempty"`
	}
	shopBecause struct {
		Start   float64     `json:"start"`
		Ratings []shopVoice `json:"ratings"`
		Others  float64     `json:"others"`
	}
	shopVoice struct {
		Item   any     `json:"item"`
		Title  string  `json:"title,omitempty"`
		Rating float64 `json:"rating"`
		Adds   float64 `json:"adds"`
	}
	shopRatings struct {
		User    any          `json:"user"`
		Ratings []shopRating `json:"ratings"`
	}
	shopRating struct {
		Item   any     `json:"item"`
		Title  string  `json:"title,omitempty"`
		Rating float64 `json:"rating"`
	}
	shopAdded struct {
		Movie   any    `json:"movie,omitempty"` // one of the two
		Item    any    `json:"item,omitempty"`
		Title   string `json:"title"`
		Version uint64 `json:"version"`
		Changed bool   `json:"changed"`
	}
	shopRated struct {
		User    any     `json:"user"`
		Item    any     `json:"item"`
		Rating  float64 `json:"rating"`
		Version uint64  `json:"version"`
		Changed bool    `json:"changed"`
		Learned bool    `json:"learned"`
		Why     string  `json:"why,omitempty"`
		Before  float64 `json:"before"`
		After   float64 `json:"after"`
	}
)

// shown returns predictions as the answer has them.
func (v *Server) shown(p *recommend.Predictions) any {
	if v.classic() {
		return p
	}
	out := shopPredictions{v.userID(p.User), p.Version, p.Serving, []shopPrediction{}}
	for _, one := range p.List {
		item := shopPrediction{Item: v.itemID(one.Movie), Title: one.Title, Rating: one.Rating, Rated: one.Rated}
		if b := one.Because; b != nil {
			item.Because = &shopBecause{b.Start, []shopVoice{}, b.Others}
			for _, voice := range b.Ratings {
				item.Because.Ratings = append(item.Because.Ratings, shopVoice{v.itemID(voice.Movie), voice.Title, voice.Rating, voice.Adds})
			}
		}
		out.List = append(out.List, item)
	}
	return out
}

// shownRatings is shown for ratings.
func (v *Server) shownRatings(user int, list []recommend.RatedMovie) any {
	if v.classic() {
		return struct {
			User    int                    `json:"user"`
			Ratings []recommend.RatedMovie `json:"ratings"`
		}{user, list}
	}
	out := shopRatings{v.userID(user), []shopRating{}}
	for _, r := range list {
		out.Ratings = append(out.Ratings, shopRating{v.itemID(r.Movie), r.Title, r.Rating})
	}
	return out
}

// shownRated is shown for what became of a rating.
func (v *Server) shownRated(r recommend.Rated) any {
	if v.classic() {
		return r
	}
	return shopRated{v.userID(r.User), v.itemID(r.Movie), r.Rating, r.Version, r.Changed, r.Learned, r.Why, r.Before, r.After}
}

// rateAs rates as a client said.
func (v *Server) rateAs(ctx context.Context, in rating) (recommend.Rated, error) {
	item, err := v.findItem(in.item)
	if err != nil {
		return recommend.Rated{}, err
	}
	if v.service.NamedUsers() {
		return v.service.RateAs(ctx, in.user, item, in.value)
	}
	user, err := parseID("user", in.user)
	if err != nil {
		return recommend.Rated{}, err
	}
	return v.service.Rate(ctx, user, item, in.value)
}

// add takes in a new item.
func (v *Server) add(w http.ResponseWriter, r *http.Request) error {
	text, err := readJSON(w, r)
	if err != nil {
		return err
	}
	n, word := namingOf(v.service), v.service.Word()
	fields, err := parseObject(text, n.example("", `"title": "Tea pot"`), field{name: word, text: n.items, number: true},
		field{name: "title", text: true, optional: true})
	if err != nil {
		return err
	}
	if err := n.checkItem(fields[word]); err != nil {
		return err
	}
	out, err := v.service.Add(r.Context(), fields[word], fields["title"])
	if errors.Is(err, recommend.ErrItem) {
		return liveweb.Problemf(http.StatusConflict, "not_added", "%v", err)
	}
	if err != nil {
		return err
	}
	status := http.StatusOK
	if out.Changed {
		status = http.StatusCreated
	}
	answer := shopAdded{Title: out.Title, Version: out.Version, Changed: out.Changed}
	if word == "movie" {
		answer.Movie = v.itemID(out.Item)
	} else {
		answer.Item = v.itemID(out.Item)
	}
	liveweb.Send(w, status, answer)
	return nil
}

// forget deletes a user. That may take longer than other answers.
func (v *Server) forget(w http.ResponseWriter, r *http.Request) error {
	user, err := v.findUser(r.PathValue("id"))
	if err != nil {
		return err
	}
	if _, err := liveweb.ParseQuery(r); err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // where there is one
	shown := v.userID(user)
	out, err := v.service.Forget(r.Context(), user)
	if err != nil {
		return err
	}
	answer := struct {
		User any `json:"user"`
		recommend.Forgotten
		Try string `json:"try,omitempty"`
	}{User: shown, Forgotten: out}
	if out.Trained {
		answer.Try = "the model was trained with this user's ratings in the data: take them out of the data and train again"
	}
	liveweb.Send(w, http.StatusOK, answer)
	return nil
}
