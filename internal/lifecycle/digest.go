package lifecycle

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// Digest identifies the samples that are trained and validated on, with their
// graph. A run that is resumed must find the same.
func (d *Dataset) Digest() string {
	sum := sha256.New()
	h := bufio.NewWriter(sum) // a hash takes everything: no errors
	switch {
	case d.spaceTime != nil:
		putCSR(h, d.spaceTime)
	case d.graph != nil:
		putCSR(h, d.graph.Adjacency())
	}
	for _, p := range []*Part{d.Train, d.Valid} {
		for _, m := range []mat.Dense{p.signals, p.shifted, p.Values} {
			for i := range m.Rows {
				putFloats(h, m.Row(i))
			}
		}
		putInts(h, p.Labels)
		putBools(h, p.Mask)
	}
	h.Flush()
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func putCSR(h *bufio.Writer, s *mat.CSR) {
	putInts(h, s.Col)
	putFloats(h, s.Val)
	for _, p := range s.RowPtr {
		putInts(h, []int32{int32(p)})
	}
}

func putBools(h *bufio.Writer, values []bool) {
	for _, v := range values {
		bit := byte(0)
		if v {
			bit = 1
		}
		h.WriteByte(bit)
	}
}

func putInts(h *bufio.Writer, values []int32) {
	var word [4]byte
	for _, v := range values {
		binary.LittleEndian.PutUint32(word[:], uint32(v))
		h.Write(word[:])
	}
}

func putFloats(h *bufio.Writer, values []float32) {
	var word [4]byte
	for _, v := range values {
		binary.LittleEndian.PutUint32(word[:], math.Float32bits(v))
		h.Write(word[:])
	}
}
