// Package defect puts mistakes back that were once made, to see whether tests
// find them. Only builds with the tag defects have any:
//
//	4   a silent neighbour is believed to be back only by a row of the very step,
//	    and a host that hears nobody runs on at full speed
//	5   a row that is refused counts as a sign of life
//	6   rows and parameters of any size are believed, and numbers that are none
//	    spoil the whole answer
//	10  in real time a step may wait beyond the next tick
//	11  who was put in quarantine is never let back in
//	12  a host leaves steps out only where all its neighbours are ahead
package defect
