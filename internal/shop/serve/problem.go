package serve

import (
	"errors"
	"net/http"
	"strings"

	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
)

// problemOf returns what err means to a client.
func problemOf(err error) *liveweb.Problem {
	switch {
	case errors.Is(err, recommend.ErrUser):
		return liveweb.Problemf(http.StatusNotFound, "unknown_user", "%v", err).Hint("POST /v1/ratings, which makes a user known")
	case errors.Is(err, recommend.ErrMovie):
		word := "movie"
		if strings.HasPrefix(err.Error(), "no such item") {
			word = "item"
		}
		return liveweb.Problemf(http.StatusNotFound, "unknown_"+word, "%v", err)
	case errors.Is(err, recommend.ErrRating):
		return liveweb.Problemf(http.StatusUnprocessableEntity, "bad_rating", "%v", err)
	case errors.Is(err, recommend.ErrFull):
		return liveweb.Problemf(http.StatusInsufficientStorage, "too_many_users", "%v", err).
			Hint("wdgnn recommend ratings, which writes what the service was told, and wdgnn recommend train")
	case errors.Is(err, recommend.ErrBusy):
		return liveweb.Problemf(http.StatusServiceUnavailable, "busy", "%v", err).Hint("the same request again, a little later")
	case errors.Is(err, recommend.ErrClosed):
		return liveweb.Problemf(http.StatusServiceUnavailable, "closing", "%v", err)
	case errors.Is(err, recommend.ErrDisk):
		return liveweb.Problemf(http.StatusServiceUnavailable, "not_kept", "%v", recommend.ErrDisk).
			Hint("the same request again; it changes nothing if it was kept after all")
	}
	return liveweb.ProblemOf(err)
}
