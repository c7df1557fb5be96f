//go:build !purego

package kernel

// offers lists the sets for arm64.
func offers() []offer {
	if !fuses() {
		return []offer{{name: fusedGo.Name, why: "the compiler of this program did not fuse multiply and add"}}
	}
	return []offer{{name: fusedGo.Name, set: &fusedGo, why: "multiply and add are one instruction on arm64"}}
}
