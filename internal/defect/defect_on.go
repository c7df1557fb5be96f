//go:build defects

package defect

import (
	"os"
	"strconv"
)

// Number is that of the mistake that is put back, by the variable WDGNN_DEFECT; 0
// means none.
var Number, _ = strconv.Atoi(os.Getenv("WDGNN_DEFECT"))
