package movies_test

import (
	"fmt"
	"log"
	"math/rand/v2"
	"strings"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

const table = `user,movie,rating
1,10,5
1,20,4
1,30,1
2,10,4
2,20,5
2,30,2
3,10,1
3,20,2
3,30,5
4,20,5
4,30,1
`

// From a file of ratings to what a model sees of a user: movie 10 is the
// target, and user 4, who did not rate it, is described by z_0 … z_2.
func Example() {
	list, err := movies.ReadCSV(strings.NewReader(table))
	if err != nil {
		log.Fatal(err)
	}
	r, err := movies.NewRatings(list, nil)
	if err != nil {
		log.Fatal(err)
	}
	c := movies.DefaultGraph()
	c.Similarity.Measure = movies.SimilarityPearson
	g, err := movies.NewGraph(r, nil, c)
	if err != nil {
		log.Fatal(err)
	}
	s, err := graph.ShiftSpectral.Of(g)
	if err != nil {
		log.Fatal(err)
	}
	target, _ := r.FindMovie(10)
	user, _ := r.FindUser(4)
	movie, rating := r.User(user)
	z := make([]float64, 3)
	movies.NewPowers(s, target, 2).Features(z, movie, rating, movies.SignalRaw, 0)
	fmt.Println(g)
	fmt.Printf("z = %.3f\n", z)
	// Output:
	// undirected graph of 3 nodes and 1 edges
	// z = [0.000 5.000 0.000]
}

// The similarity of two movies, before and after doubt about few co-raters.
func ExampleSimilarities() {
	list, err := movies.ReadCSV(strings.NewReader(table))
	if err != nil {
		log.Fatal(err)
	}
	r, err := movies.NewRatings(list, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, shrinkage := range []float64{0, 3} {
		rows, err := movies.Similarities(r, nil, movies.SimilarityConfig{Measure: movies.SimilarityPearson, Shrinkage: shrinkage})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.3f\n", rows[0][1])
	}
	// Output:
	// 0.839
	// 0.419
}

// A tenth of the users is kept out of everything: of training, of the graph
// and of the stream that passes by on another movie.
func ExampleNewSplit() {
	var list []movies.Rating
	for user := range 100 {
		list = append(list, movies.Rating{User: user, Item: 1, Value: 3}, movies.Rating{User: user, Item: 2, Value: 4})
	}
	r, err := movies.NewRatings(list, nil)
	if err != nil {
		log.Fatal(err)
	}
	c := movies.DefaultSplit()
	c.Protocol = movies.ProtocolByUser
	s, err := movies.NewSplit(r, 0, []int{1}, c, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("train", len(s.Train), "validate", len(s.Validation), "test", len(s.Test), "graph", len(s.Graph))
	fmt.Println("other movie: stream", len(s.Others[0].Stream), "test", len(s.Others[0].Test))
	// Output:
	// train 81 validate 9 test 10 graph 90
	// other movie: stream 90 test 10
}
