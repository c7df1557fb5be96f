package transport

import "time"

// parcel is a frame on its way.
type parcel struct {
	frame     Frame
	due       time.Time
	number    uint64 // breaks ties
	hold      bool   // to be held for the next frame of its sender
	copied    bool   // the second one
	delivered bool
}

// queue is a heap of parcels, the next one due first.
type queue []*parcel

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if c := q[i].due.Compare(q[j].due); c != 0 {
		return c < 0
	}
	return q[i].number < q[j].number
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*parcel)) }

func (q *queue) Pop() any {
	old := *q
	p := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return p
}
