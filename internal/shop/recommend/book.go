package recommend

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// book holds the users and what they rated. It is safe for concurrent use.
type book struct {
	ids      *directory
	profiles sync.Map // id -> *atomic.Pointer[profile]
	count    atomic.Int64
}

// newBook returns the users of the data but those who are forgotten.
func (s *Service) newBook(gone forgotten) *book {
	b := &book{ids: newDirectory(s.shop.Users)}
	for u := range s.world.ratings.Users() {
		id := s.world.ratings.UserID(u)
		if movie, rating := s.world.ratings.User(u); len(movie) > 0 && !gone.has(s, id) {
			b.put(id, &profile{movie: movie, rating: rating})
		}
	}
	return b
}

// put makes p the profile of a user.
func (b *book) put(id int, p *profile) {
	at, known := b.profiles.Load(id)
	if !known {
		at, known = b.profiles.LoadOrStore(id, new(atomic.Pointer[profile]))
		if !known {
			b.count.Add(1)
		}
	}
	at.(*atomic.Pointer[profile]).Store(p)
}

// profile returns that of a user, nil if there is none.
func (b *book) profile(id int) *profile {
	if at, ok := b.profiles.Load(id); ok {
		return at.(*atomic.Pointer[profile]).Load()
	}
	return nil
}

// changed returns the profiles that differ from the data, by ascending id.
func (b *book) changed() (ids []int, profiles map[int]*profile) {
	profiles = map[int]*profile{}
	b.profiles.Range(func(id, at any) bool {
		if p := at.(*atomic.Pointer[profile]).Load(); p.changed {
			profiles[id.(int)] = p
		}
		return true
	})
	return slices.Sorted(maps.Keys(profiles)), profiles
}
