package recommend

import (
	"context"
	"maps"
	"slices"
)

// Said is a rating in the words of who gave it.
type Said struct {
	User, Item, Title string
	Rating            float64
}

// All returns every rating that the service has, those of the data and those that came
// since, by user and item: what a model can be trained with again. Items of the data that
// this model does not know are there too; users who were deleted are not.
func (s *Service) All(ctx context.Context) (all []Said, err error) {
	err = s.ask(ctx, func() error {
		for _, user := range s.writer.everyone() {
			all = append(all, s.writer.said(user)...)
		}
		return nil
	})
	return all, err
}

// everyone returns the users with a rating, by ascending id.
func (w *writer) everyone() []int {
	s, users := w.service, map[int]bool{}
	for u := range s.shop.Ratings.Users() {
		if id := s.shop.Ratings.UserID(u); !w.forgotten.has(s, id) {
			users[id] = true
		}
	}
	w.book.profiles.Range(func(id, _ any) bool {
		users[id.(int)] = true
		return true
	})
	return slices.Sorted(maps.Keys(users))
}

// said returns the ratings of a user, by ascending id of the item.
func (w *writer) said(user int) []Said {
	s, who := w.service, w.book.ids.text(user)
	rated := map[int]Said{}
	if p := w.book.profile(user); p != nil {
		for k, n := range p.movie {
			item, title := s.world.idOf(n, w.newcomers)
			rated[item] = Said{who, s.items.text(item), title, p.rating[k]}
		}
	}
	data := s.shop.Ratings
	if u, found := data.FindUser(user); found && !w.forgotten.has(s, user) {
		movie, rating := data.User(u)
		for k, n := range movie {
			item := data.MovieID(int(n))
			if _, newer := rated[item]; !newer { // one that the model does not know
				rated[item] = Said{who, s.items.text(item), data.Title(int(n)), rating[k]}
			}
		}
	}
	list := make([]Said, 0, len(rated))
	for _, item := range slices.Sorted(maps.Keys(rated)) {
		list = append(list, rated[item])
	}
	return list
}
