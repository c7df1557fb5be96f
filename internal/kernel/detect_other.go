//go:build !amd64 || purego

package kernel

// offers is empty where there is no assembly.
func offers() []offer { return nil }
