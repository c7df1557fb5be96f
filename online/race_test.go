//go:build race

package online_test

const countAllocations = false
