package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Base is where GroupLens publishes MovieLens.
const Base = "https://files.grouplens.org/datasets/movielens/"

// Set is a data set that can be downloaded. Sets are values and read-only.
type Set struct {
	Name    string // as users write it: movielens-100k
	Archive string // name of the zip below the base address
	Folder  string // folder inside the archive that holds the files
	files   []file // what is kept of the archive
	Notice  string // terms of use in short

	Ratings, Users, Movies int    // what the content must count; Movies have titles
	digest                 string // Fingerprint of the ratings
}

// file is a member of an archive.
type file struct {
	name string
	most int64 // bytes it may have
}

const terms = `MovieLens data were collected by the GroupLens Research Project at the University
of Minnesota, which keeps the rights. Research use is free; acknowledge it in
publications, do not imply endorsement, do not pass the data on, and ask GroupLens
before any commercial use. The full terms are in the file README beside the data.
`

// sets lists the data sets. The digests are of the files as published.
func sets() []Set {
	return []Set{
		{
			Name: "movielens-100k", Archive: "ml-100k.zip", Folder: "ml-100k", Notice: terms,
			files:   []file{{"u.data", 4 << 20}, {"u.item", 1 << 20}, {"README", 1 << 16}},
			Ratings: 100_000, Users: 943, Movies: 1682,
			digest: digest100k,
		},
		{
			Name: "movielens-1m", Archive: "ml-1m.zip", Folder: "ml-1m", Notice: terms,
			files:   []file{{"ratings.dat", 64 << 20}, {"movies.dat", 1 << 20}, {"README", 1 << 16}},
			Ratings: 1_000_209, Users: 6040, Movies: 3883,
			digest: digest1M,
		},
	}
}

// Fingerprints of the triples user, movie, rating; times are not part of them.
const (
	digest100k = "c1d6030da2e1cd4f9a5a06fe7dcc5261a1540621887adb3d0cfd3012d75750df"
	digest1M   = "018a07ba3a3ee1eb1ee208b36818d97e3a8659a7a524e78e50253a173bc8239d"
)

// Names returns the names of all sets.
func Names() []string {
	var names []string
	for _, s := range sets() {
		names = append(names, s.Name)
	}
	return names
}

// Find returns the set with the given name.
func Find(name string) (Set, error) {
	sets := sets()
	if i := slices.IndexFunc(sets, func(s Set) bool { return s.Name == name }); i >= 0 {
		return sets[i], nil
	}
	return Set{}, fmt.Errorf("dataset: no data set is called %q; there are %s", name, strings.Join(Names(), " and "))
}

// need returns the files without which the set is of no use: all but README.
func (s Set) need() []file {
	return slices.DeleteFunc(slices.Clone(s.files), func(f file) bool { return f.name == "README" })
}
