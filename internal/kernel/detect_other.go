//go:build (!amd64 && !arm64) || purego

package kernel

// offers is empty where there is no assembly.
func offers() []offer { return nil }
