//go:build defects

package host

import (
	"os"
	"strconv"
)

// Defect is the number of a mistake that was once made here and is put back to
// see whether it is found; 0 means none:
//
//	4   a silent neighbour is believed to be back only by a row of the very step,
//	    and a host that hears nobody runs on at full speed
//	5   a row that is refused counts as a sign of life
//	6   rows and parameters of any size are believed, and numbers that are none
//	    spoil the whole answer
//	10  in real time a step may wait beyond the next tick
var Defect, _ = strconv.Atoi(os.Getenv("WDGNN_DEFECT"))
