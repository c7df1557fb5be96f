//go:build race

package onlinetest

// The race detector allocates on its own account.
const countAllocations = false
