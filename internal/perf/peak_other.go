//go:build !amd64 || purego

package perf

// multiplyAdds returns nil: the peak of other processors is not known.
func multiplyAdds() (loop func(rounds int), values int) { return nil, 0 }
