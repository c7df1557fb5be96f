package recommend

import (
	"sync"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// rows are examples: a user and a movie that the user rated, as what a model
// sees of them.
type rows struct {
	z      mat.Dense // K+1 numbers a row
	target []float32 // rating less mean
	mean   []float64
	rating []float64
}

// rowsOf returns an example for every rating of the given users, who are
// passed over if they rated less than two movies. One thread each computes
// some of the users; the rows are in the order of the users whatever their
// number.
func (w *world) rowsOf(users []int, v *view, threads int) *rows {
	width := w.setting.Order + 1
	from, count := make([]int, len(users)), 0
	for k, u := range users {
		from[k] = count
		if rated, _ := w.ratings.User(u); len(rated) > 1 {
			count += len(rated)
		}
	}
	r := &rows{
		z: mat.NewDense(count, width, nil), target: make([]float32, count), mean: make([]float64, count),
		rating: make([]float64, count),
	}
	threads = max(1, threads)
	var wait sync.WaitGroup
	for t := range threads {
		wait.Go(func() {
			e, z, means, x := v.features.Clone(), make([]float64, w.ratings.Movies()*width), make([]float64, w.ratings.Movies()), []float64(nil)
			for k := t; k < len(users); k += threads {
				rated, rating := w.ratings.User(users[k])
				if len(rated) < 2 {
					continue
				}
				x = v.reduced(x[:0], rated, rating)
				e.Features(z, means, rated, x, w.setting.Signal, v.unknown)
				for i, n := range rated {
					r.put(w, from[k]+i, z[int(n)*width:][:width], means[n]+v.offset[n], rating[i])
				}
			}
		})
	}
	wait.Wait()
	return r
}

func (r *rows) put(w *world, i int, z []float64, mean, rating float64) {
	for k, v := range z {
		r.z.Set(i, k, float32(v/w.unit))
	}
	r.mean[i], r.rating[i], r.target[i] = mean, rating, w.target(rating, mean)
}

// outputs tells use what a network says of each row. That of a nil network is 0.
func (r *rows) outputs(net *gnn.WideDeep, use func(i int, y float32)) {
	const block = 1024
	y, tape := mat.NewDense(block, 1, nil), gnn.Tape{Fold: true}
	for lo := 0; lo < r.Len(); lo += block {
		n := min(block, r.Len()-lo)
		if net != nil {
			net.Forward(y.View(0, 0, n, 1), &gnn.Input{Shifted: r.z.View(lo, 0, n, r.z.Cols)}, &tape)
		}
		for i := range n {
			use(lo+i, y.At(i, 0))
		}
	}
}

// Len returns the number of rows.
func (r *rows) Len() int { return r.z.Rows }
