//go:build !purego

package kernel

// offers lists the sets for amd64, the fastest first.
func offers() []offer { return []offer{offerAVX2()} }
