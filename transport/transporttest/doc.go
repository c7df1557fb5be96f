// Package transporttest checks that a [transport.Bus] keeps its contract.
//
// A Bus may drop, delay, duplicate and reorder what it carries. On a quiet
// network whose readers keep up it must do none of that, and the suite asks
// for it: everything arrives, once, in the order of sending.
package transporttest
