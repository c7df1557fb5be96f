// Package theory puts numbers to the paper's theorems: what they promise of the
// models of Tables 1 and 2, what is measured, and what training for stability
// costs and buys.
package theory
