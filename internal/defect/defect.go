//go:build !defects

package defect

// Number is 0: there is no defect in this build.
const Number = 0
