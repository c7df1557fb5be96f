//go:build !race

package onlinetest

const countAllocations = true
