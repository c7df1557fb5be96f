// Package host gives agents what they do not have: a clock, a bus, a world and a
// disk. It comes in two parts. A [Machine] decides: it is a pure state machine
// that is told what happened and when, and returns what is to be done. A [Host] is
// the loop around it, the only place where time, network and core meet. Everything
// that is difficult is in the machine, so that every history can be played again,
// and thousands of them in a second.
//
// # In a program
//
// [New] takes a [Config], which says what the nodes are, and an [Env], what
// surrounds them; [Host.Run] runs until the world ends. Rules, worlds and buses
// of one's own are a [rule.Rule] in the plan, a [World] and a [transport.Bus]: the
// example has a rule and a world, examples/outside all three. A [Store] makes a
// host go on where it was. Those who bring their own loop, such as a simulation,
// use the Machine; everybody else needs neither it nor its events and actions.
//
// # A step
//
// The [World] shows a [Line]: what the host's nodes observe at step t, and whom
// they hear. The nodes exchange rows: among nodes of the host by reference, with
// others in one frame per exchange, which leaves when all nodes that others hear
// have their row ready. When every node has predicted, the world gets an
// [Answer]; when it has told what the answers cost, the nodes learn, and the step
// is over.
//
// # Time
//
// In lockstep a step waits for the neighbours, asks again after Pace.Retry, and
// gives up those who are silent at Pace.Deadline; each further exchange has a
// tenth of the deadline more, so that a neighbour who waited for a dead one is
// not given up as well. A node that was silent in Pace.Suspect steps in a row is
// no longer waited for until it speaks again. A host whose neighbours are all
// ahead skips to where the slowest of them is. One whose neighbours are all silent
// waits for them in each step, or goes on at the beat of a world that speaks by the
// clock.
//
// In real time the world's lines are the ticks: a step is given up when the next
// one begins, and what comes later is lost.
//
// # Before the first step
//
// Where a model divides by λmax and nobody gave it, the machine first finds it
// together with the other hosts; the world's lines wait until then.
//
// # What is not trusted
//
// Frames that cannot be read, of another run, or with nodes that their sender
// does not own are dropped and counted; so are lines of the world that make no
// sense. Nothing that arrives can stop a host or grow its memory without bound.
package host
