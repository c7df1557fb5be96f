package journal

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	magic      = "wdgnnj1\n"
	frameHead  = 8       // length and crc
	frameLeast = 16      // seq and synced
	frameMost  = 1 << 20 // bytes; a longer frame is not one of ours
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is a record as it lies on the disk.
type frame struct {
	seq, synced uint64
	payload     []byte
}

// appendTo appends the bytes of f to dst.
func (f frame) appendTo(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, frameHead+frameLeast)...)
	dst = append(dst, f.payload...)
	b := dst[at:]
	binary.LittleEndian.PutUint32(b, uint32(len(b)-frameHead))
	binary.LittleEndian.PutUint64(b[8:], f.seq)
	binary.LittleEndian.PutUint64(b[16:], f.synced)
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[frameHead:], castagnoli))
	return dst
}

// parseFrame reads the frame at the front of b, if there is a whole one. The
// payload shares memory with b.
func parseFrame(b []byte) (f frame, size int, ok bool) {
	if len(b) < frameHead+frameLeast {
		return frame{}, 0, false
	}
	length := int64(binary.LittleEndian.Uint32(b))
	if length < frameLeast || length > frameMost || length > int64(len(b)-frameHead) {
		return frame{}, 0, false
	}
	size = frameHead + int(length)
	if crc32.Checksum(b[frameHead:size], castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return frame{}, 0, false
	}
	f.seq, f.synced = binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	f.payload = b[frameHead+frameLeast : size : size]
	return f, size, true
}
