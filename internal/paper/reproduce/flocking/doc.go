// Package flocking reproduces Section 6.2: robots that are to fly at one velocity
// (Table 2), and what the order of filters and the number of features do (Table 3).
package flocking
