// Package flock flies learned controllers and keeps what there is to see: how
// a flight compares with the expert's on the same start, how performance
// carries over to other teams and radii, a recording to replay and an MCAP file.
//
// A [Plan] says what is flown and a [Controller] is what flies; Plan.Fly returns
// a [Result] with a [Recording] of the last flight. Everything but [Load], which
// reads a model, computes or writes to a writer that it is given. The same plan
// and controller give the same result, to the last bit on one architecture.
package flock
