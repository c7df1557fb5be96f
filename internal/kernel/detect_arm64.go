//go:build !purego

package kernel

// offers lists the sets for arm64, the fastest first. Every arm64 processor
// has NEON.
func offers() []offer {
	if !fuses() {
		const why = "the compiler of this program did not fuse multiply and add"
		return []offer{{name: neon.Name, why: why}, {name: fusedGo.Name, why: why}}
	}
	return []offer{
		{name: neon.Name, set: &neon, why: "every arm64 processor has NEON"},
		{name: fusedGo.Name, set: &fusedGo, why: "NEON assembly is faster than plain Go"},
	}
}
