package movies

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Protocol names a way to divide users. The zero value is ProtocolByMovie. A
// Protocol is written as text in JSON.
type Protocol int

// The protocols.
const (
	// ProtocolByMovie, "by-movie", divides the raters of each movie by
	// themselves, as the paper's numbers suggest. A random part of the
	// target's raters tests; of the others a random part validates. The graph
	// is made by all users except the target's test users. For another movie
	// a random part of its raters tests and the stream is drawn from the rest.
	//
	// It leaks: users who test on another movie may have trained on the target,
	// and their ratings, those that are asked for included, are in the graph.
	//
	// Deviation: the paper speaks of 400 test users; on MovieLens 100k there
	// are not as many raters of its other movies whom training did not see.
	ProtocolByMovie Protocol = iota
	// ProtocolByUser, "by-user", is free of that leak. One random part of all
	// users is held out of everything: of training, of the graph and of
	// streams. They test on every movie that they rated. Streams are drawn
	// from the raters among the others.
	ProtocolByUser
	// ProtocolEveryTenth, "every-tenth", is without chance: of the raters of a
	// movie in ascending order the 10th, 20th, 30th, … test and the others
	// train, without validation. The graph is made by all users except the
	// target's test users. Streams are the first raters that do not test.
	// It exists to compare programs number by number.
	ProtocolEveryTenth
)

var protocolNames = []string{"by-movie", "by-user", "every-tenth"}

// String returns the name that ParseProtocol reads.
func (p Protocol) String() string {
	if p < 0 || int(p) >= len(protocolNames) {
		return fmt.Sprintf("Protocol(%d)", int(p))
	}
	return protocolNames[p]
}

// ParseProtocol returns the protocol with the given name.
func ParseProtocol(text string) (Protocol, error) {
	if v := slices.Index(protocolNames, text); v >= 0 {
		return Protocol(v), nil
	}
	return 0, fmt.Errorf("movies: no protocol is called %q; try %s", text, strings.Join(protocolNames, ", "))
}

// MarshalText returns the name of p.
func (p Protocol) MarshalText() ([]byte, error) {
	if p < 0 || int(p) >= len(protocolNames) {
		return nil, fmt.Errorf("movies: no protocol has number %d", int(p))
	}
	return []byte(protocolNames[p]), nil
}

// UnmarshalText sets p to the protocol with the given name.
func (p *Protocol) UnmarshalText(text []byte) error {
	parsed, err := ParseProtocol(string(text))
	if err == nil {
		*p = parsed
	}
	return err
}

func (c SplitConfig) byMovie(r *Ratings, target int, others []int, rng *rand.Rand) *Split {
	s := &Split{Target: target}
	order := shuffled(raters(r, target), rng)
	tests := part(len(order), c.Test)
	s.Test, order = order[:tests:tests], order[tests:]
	c.train(s, order)
	s.Graph = without(r.Users(), s.Test)
	for _, n := range others {
		order := shuffled(raters(r, n), rng)
		tests := part(len(order), c.Test)
		rest := order[tests:]
		s.Others = append(s.Others, Transfer{Movie: n, Test: order[:tests:tests], Stream: rest[:min(c.Stream, len(rest))]})
	}
	return s
}

func (c SplitConfig) byUser(r *Ratings, target int, others []int, rng *rand.Rand) *Split {
	s := &Split{Target: target}
	everybody := shuffled(without(r.Users(), nil), rng)
	tests := part(len(everybody), c.Test)
	s.Graph = without(r.Users(), everybody[:tests])
	// Both groups keep the order of the draw.
	heldOut := func(n int) []int { return thoseWho(r, n, everybody[:tests]) }
	kept := func(n int) []int { return thoseWho(r, n, everybody[tests:]) }
	s.Test = heldOut(target)
	c.train(s, kept(target))
	for _, n := range others {
		stream := kept(n)
		s.Others = append(s.Others, Transfer{Movie: n, Test: heldOut(n), Stream: stream[:min(c.Stream, len(stream))]})
	}
	return s
}

func (c SplitConfig) everyTenth(r *Ratings, target int, others []int) *Split {
	s := &Split{Target: target}
	s.Test, s.Train = tenths(raters(r, target))
	s.Graph = without(r.Users(), s.Test)
	for _, n := range others {
		test, rest := tenths(raters(r, n))
		s.Others = append(s.Others, Transfer{Movie: n, Test: test, Stream: rest[:min(c.Stream, len(rest))]})
	}
	return s
}

// train divides the users into those that validate and those that train.
func (c SplitConfig) train(s *Split, users []int) {
	n := part(len(users), c.Validation)
	s.Validation, s.Train = users[:n:n], users[n:]
}

// thoseWho returns the users who rated movie n, in their order.
func thoseWho(r *Ratings, n int, users []int) []int {
	var list []int
	for _, u := range users {
		if _, rated := r.Rating(u, n); rated {
			list = append(list, u)
		}
	}
	return list
}

// tenths returns every tenth user, and the others.
func tenths(users []int) (tenth, rest []int) {
	for i, u := range users {
		if i%10 == 9 {
			tenth = append(tenth, u)
		} else {
			rest = append(rest, u)
		}
	}
	return tenth, rest
}
