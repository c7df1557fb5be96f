package snapshot

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/modelfile"
)

// Origin is what a model file says of the online run that left it, as far as
// agents that begin with it need to know.
type Origin struct {
	Mode  string `json:"mode"`           // distributed or centralized
	Nodes int    `json:"nodes"`          // N of the network it learned on
	Read  []int  `json:"read,omitempty"` // nodes whose answers are remembered, ascending; all if there are none

	Preset string `json:"preset,omitempty"`
}

// OriginOf returns that of a file, nil if it is as trained.
func OriginOf(file *modelfile.Model) (*Origin, error) {
	if file.Meta.Online == "" {
		return nil, nil
	}
	o := new(Origin)
	if err := json.Unmarshal([]byte(file.Meta.Online), o); err != nil {
		return nil, fmt.Errorf("what the model file says of online learning cannot be read: %w; try a newer wdgnn", err)
	}
	if o.Mode != "distributed" && o.Mode != "centralized" || o.Nodes < 1 {
		return nil, errors.New("what the model file says of online learning makes no sense; the file is damaged")
	}
	return o, nil
}

// Distributed says whether nodes have taps and memories of their own. Otherwise
// the network itself holds what was learned.
func (o *Origin) Distributed() bool { return o != nil && o.Mode == "distributed" }

// Digest stands for what learners remember in a file; it is never 0.
func Digest(file *modelfile.Model) uint64 {
	h := fnv.New64a()
	var word [8]byte
	for _, name := range slices.Sorted(maps.Keys(file.Extra)) {
		if x := file.Extra[name]; strings.HasPrefix(name, "online.") {
			fmt.Fprintf(h, "%s %d %d\n", name, x.Rows, x.Cols)
			for i := range x.Rows {
				for _, v := range x.Row(i) {
					binary.LittleEndian.PutUint32(word[:4], math.Float32bits(v))
					h.Write(word[:4])
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Precise)) {
		if x := file.Precise[name]; strings.HasPrefix(name, "online.") {
			fmt.Fprintf(h, "%s %d %d\n", name, x.Rows, x.Cols)
			for _, v := range x.Data {
				binary.LittleEndian.PutUint64(word[:], math.Float64bits(v))
				h.Write(word[:])
			}
		}
	}
	return max(h.Sum64(), 1)
}
