package live

import (
	"math"
)

// place computes positions from links: nodes repel each other, links pull, and
// groups keep together. The same scene gives the same positions.
func place(s *Scene) Floats {
	l := newForces(s)
	steps := 300
	switch {
	case l.n > 20_000: // where they begin must do: nobody can tell them apart
		steps = 0
	case l.n > 600:
		steps = min(120, 600_000/l.n)
	}
	for t := range steps {
		l.step(2 * (1 - float64(t)/float64(steps))) // cools down
	}
	l.shelve()
	return l.normalized()
}

// shelve puts nodes without any link in rows below the others, which would push them far
// away. Nodes of groups stay with them.
func (l *forces) shelve() {
	linked := make([]bool, l.n)
	for _, e := range l.edges {
		linked[e[0]], linked[e[1]] = true, true
	}
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i, ok := range linked {
		for k := range 2 {
			if ok {
				low[k], high[k] = min(low[k], l.p[i][k]), max(high[k], l.p[i][k])
			}
		}
	}
	if l.groups != nil || !(high[0] >= low[0]) { // all of them are without links
		return
	}
	wide := max(int(high[0]-low[0]), 1) + 1
	next := 0
	for i, ok := range linked {
		if !ok {
			l.p[i] = [2]float64{low[0] + float64(next%wide), high[1] + 1 + float64(next/wide)}
			next++
		}
	}
}

// forces is a layout under way. The ideal length of a link is 1.
type forces struct {
	n        int
	edges    [][2]int32
	groups   []int
	center   [][2]float64 // of groups
	p, pull  [][2]float64
	strength []float64 // of a link: weaker at busy nodes, so that hubs do not collapse
}

func newForces(s *Scene) *forces {
	n := len(s.Nodes)
	l := &forces{n: n, edges: s.Edges, groups: s.Groups, p: make([][2]float64, n), pull: make([][2]float64, n)}
	degree := make([]int, n)
	for _, e := range s.Edges {
		degree[e[0]]++
		degree[e[1]]++
	}
	for _, e := range s.Edges {
		l.strength = append(l.strength, 1/math.Sqrt(float64(min(degree[e[0]], degree[e[1]]))))
	}
	if s.Groups != nil {
		l.beginGroups()
	} else {
		l.beginDistances()
	}
	return l
}

// beginGroups puts groups around a circle, and their nodes around their middle.
func (l *forces) beginGroups() {
	size := map[int]int{}
	most := 0
	for _, g := range l.groups {
		size[g]++
		most = max(most, g)
	}
	radius := 0.9 * math.Sqrt(float64(l.n))
	l.center = make([][2]float64, min(most+1, maxNodes))
	for g := range l.center {
		sin, cos := math.Sincos(2*math.Pi*float64(g)/float64(len(l.center)) - math.Pi/2)
		l.center[g] = [2]float64{radius * cos, radius * sin}
	}
	next := map[int]int{}
	for i, g := range l.groups {
		c := l.middle(g)
		l.p[i] = spiral(next[g])
		l.p[i][0], l.p[i][1] = l.p[i][0]+c[0], l.p[i][1]+c[1]
		next[g]++
	}
}

func (l *forces) middle(group int) [2]float64 {
	if within(group, len(l.center)) {
		return l.center[group]
	}
	return [2]float64{}
}

// spiral returns the k-th point of a sunflower.
func spiral(k int) [2]float64 {
	sin, cos := math.Sincos(2.399963229728653 * float64(k)) // the golden angle
	r := 0.7 * math.Sqrt(float64(k)+0.5)
	return [2]float64{r * cos, r * sin}
}

// beginDistances puts nodes by their distances, in links, from four nodes that
// are far apart: roughly where they belong.
func (l *forces) beginDistances() {
	if l.n == 0 {
		return
	}
	next := make([][]int32, l.n)
	for _, e := range l.edges {
		next[e[0]], next[e[1]] = append(next[e[0]], e[1]), append(next[e[1]], e[0])
	}
	west, _ := walk(next, 0)
	east, toWest := walk(next, west)
	_, toEast := walk(next, east)
	north := 0
	for i := range toWest {
		if min(toWest[i], toEast[i]) > min(toWest[north], toEast[north]) {
			north = i
		}
	}
	south, toNorth := walk(next, north)
	_, toSouth := walk(next, south)
	for i := range l.p {
		jitter := spiral(i)
		r := 0.5 / math.Sqrt(float64(l.n))
		l.p[i] = [2]float64{float64(toWest[i]-toEast[i])/2 + r*jitter[0], float64(toNorth[i]-toSouth[i])/2 + r*jitter[1]}
	}
}

// walk returns the distances of all nodes from one, and the farthest. What
// cannot be reached is as far as the farthest.
func walk(next [][]int32, from int) (farthest int, distance []int) {
	distance = make([]int, len(next))
	for i := range distance {
		distance[i] = -1
	}
	distance[from] = 0
	queue := []int{from}
	for len(queue) > 0 {
		i := queue[0]
		queue, farthest = queue[1:], i
		for _, j := range next[i] {
			if distance[j] < 0 {
				distance[j] = distance[i] + 1
				queue = append(queue, int(j))
			}
		}
	}
	for i, d := range distance {
		if d < 0 {
			distance[i] = distance[farthest]
		}
	}
	return farthest, distance
}

// step moves every node by at most the temperature.
func (l *forces) step(temperature float64) {
	clear(l.pull)
	l.repel()
	for k, e := range l.edges {
		l.attract(int(e[0]), int(e[1]), l.strength[k])
	}
	for i := range l.p {
		dx, dy := l.pull[i][0], l.pull[i][1]
		if l.groups != nil {
			c := l.middle(l.groups[i])
			dx, dy = dx+0.9*(c[0]-l.p[i][0]), dy+0.9*(c[1]-l.p[i][1])
		} else {
			dx, dy = dx-0.02*l.p[i][0], dy-0.02*l.p[i][1]
		}
		long := math.Hypot(dx, dy)
		if long > 0 {
			scale := min(long, temperature) / long
			l.p[i][0] += dx * scale
			l.p[i][1] += dy * scale
		}
	}
}

func (l *forces) attract(i, j int, strength float64) {
	dx, dy := l.p[j][0]-l.p[i][0], l.p[j][1]-l.p[i][1]
	f := strength * math.Hypot(dx, dy)
	if l.groups != nil && l.groups[i] != l.groups[j] {
		f *= 0.1
	}
	l.pull[i][0] += f * dx
	l.pull[i][1] += f * dy
	l.pull[j][0] -= f * dx
	l.pull[j][1] -= f * dy
}

// reach is how far nodes repel each other in a large network.
const reach = 3.0

// repel pushes nodes apart that are near each other: all pairs of a small
// network, pairs in neighbouring cells of a large one.
func (l *forces) repel() {
	if l.n <= 600 {
		for i := range l.n {
			for j := range i {
				l.push(i, j)
			}
		}
		return
	}
	cells := map[[2]int][]int32{}
	for i, p := range l.p {
		c := [2]int{int(math.Floor(p[0] / reach)), int(math.Floor(p[1] / reach))}
		cells[c] = append(cells[c], int32(i))
	}
	for i, p := range l.p {
		c := [2]int{int(math.Floor(p[0] / reach)), int(math.Floor(p[1] / reach))}
		for dx := -1; dx <= 1; dx++ {
			for dy := -1; dy <= 1; dy++ {
				near := cells[[2]int{c[0] + dx, c[1] + dy}]
				for _, j := range near[:min(len(near), 400)] {
					if int(j) < i {
						l.push(i, int(j))
					}
				}
			}
		}
	}
}

func (l *forces) push(i, j int) {
	dx, dy := l.p[i][0]-l.p[j][0], l.p[i][1]-l.p[j][1]
	d2 := dx*dx + dy*dy
	if d2 < 1e-9 {
		dx, dy, d2 = 1e-3*float64(i-j), 1e-3, 1e-3
	}
	f := 1 / d2
	l.pull[i][0] += f * dx
	l.pull[i][1] += f * dy
	l.pull[j][0] -= f * dx
	l.pull[j][1] -= f * dy
}

// normalized returns positions in the square from 0 to 1.
func (l *forces) normalized() Floats {
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, p := range l.p {
		for d := range p {
			lo[d], hi[d] = min(lo[d], p[d]), max(hi[d], p[d])
		}
	}
	size := max(hi[0]-lo[0], hi[1]-lo[1], 1e-9)
	out := make(Floats, 0, 2*l.n)
	for _, p := range l.p {
		for d := range p {
			out = append(out, float32(math.Round(1e4*(p[d]-lo[d])/size)/1e4))
		}
	}
	return out
}
