package recommend

import (
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// Added is what became of a new item.
type Added struct {
	Item    int
	Title   string
	Version uint64
	Changed bool // false if it was there already, under this title
}

// Add takes in an item that the model does not know. It is predicted at once, by the
// user's mean; with its raters it gets an offset, and joins the graph by the items that
// they rated alike.
func (s *Service) Add(ctx context.Context, item, title string) (out Added, err error) {
	if err := s.model.Setting.canJoin(); err != nil {
		return out, fmt.Errorf("%w: %w", ErrItem, err)
	}
	if err := dataset.CheckID(item); err != nil {
		return out, fmt.Errorf("%w: %w", ErrItem, err)
	}
	if title = dataset.Tidy(title); title == "" {
		title = s.titleOf(item)
	}
	err = s.ask(ctx, func() error {
		out, err = s.writer.add(item, title)
		return err
	})
	return out, err
}

// titleOf returns the title that the data have for an item which is not among those of
// the model.
func (s *Service) titleOf(item string) string {
	if id, known := s.items.find(item); known {
		if n, found := s.shop.Ratings.FindMovie(id); found {
			return s.shop.Ratings.Title(n)
		}
	}
	return ""
}

// mostNewcomers is how many items may join a model of few; one of many takes as many again.
// What is kept for every user grows with them.
const mostNewcomers = 1000

func (w *writer) add(item, title string) (out Added, err error) {
	s := w.service
	id, known := s.items.find(item)
	if !known && !s.items.named() {
		return out, fmt.Errorf("%w: %s %.40q is not a whole number from 0 to %d, as all of this service are",
			ErrItem, s.shop.Word, item, movies.MaxID)
	}
	if n, there := s.world.locate(id, w.newcomers); known && there {
		if _, has := s.world.idOf(n, w.newcomers); title != "" && title != has {
			return out, fmt.Errorf("%w: %s %s is there already, as %q", ErrItem, s.shop.Word, s.items.shown(id), has)
		}
		_, title = s.world.idOf(n, w.newcomers)
		return Added{id, title, w.journal.Last(), false}, nil
	}
	if most := max(mostNewcomers, s.world.ratings.Movies()); w.newcomers.len() >= most {
		return out, fmt.Errorf("%w: there are %d new %ss already, which the model was not trained with; train it again with them",
			ErrItem, most, s.shop.Word)
	}
	isNew := false
	if !known {
		id, isNew = s.items.add(item)
	}
	rec := &record{kind: kindItem, movie: id, title: title, name: s.items.name(id)}
	w.journal.Append(rec.appendTo(nil))
	if err := w.journal.Commit(); err != nil {
		if isNew {
			s.items.drop(id)
		}
		return out, fmt.Errorf("%w: %w", ErrDisk, err)
	}
	w.since++
	if err := w.welcome(s.world, id, title); err != nil {
		return out, err
	}
	w.publish()
	return Added{id, title, w.journal.Last(), true}, nil
}

// Word returns what is rated, in words: "movie" or "item".
func (s *Service) Word() string { return s.shop.Word }

// NamedUsers and NamedItems say whether ids are texts.
func (s *Service) NamedUsers() bool { return s.shop.Users != nil }

// NamedItems is NamedUsers for items.
func (s *Service) NamedItems() bool { return s.shop.Items != nil }

// FindUser returns the number of a user's id, which need not have rated anything where
// ids are numbers.
func (s *Service) FindUser(text string) (int, error) {
	if id, known := s.version.Load().book.ids.find(text); known {
		return id, nil
	}
	return 0, fmt.Errorf("%w: user %.60q has not rated anything yet; the first rating makes a user known", ErrUser, text)
}

// FindItem returns the number of an item's id.
func (s *Service) FindItem(text string) (int, error) {
	if id, known := s.items.find(text); known {
		return id, nil
	}
	return 0, s.noItem(fmt.Sprintf("%.60q", text))
}

// UserText returns the id of a user.
func (s *Service) UserText(id int) string { return s.version.Load().book.ids.text(id) }

// ItemText returns the id of an item.
func (s *Service) ItemText(id int) string { return s.items.text(id) }
