// Package sim plays swarms of boxes in virtual time, on one thread: hosts as they
// are deployed ([host.Machine] and the agents in it), their checkpoints on disks
// that forget, and everything that goes wrong around them. One seed is one
// history, so that whatever it finds can be looked at again.
//
// [Draw] makes a [Trial] of a seed, Run plays it, and an [Outcome] names the
// promises that were broken:
//
//   - If nothing was lost, nodes end with the bits of online.Consensus.
//   - Within 24 deadlines of the last fault and the last quarantine, however many steps
//     they are apart then, hosts that are neighbours are on the same step or in two that
//     follow each other, give nobody up, and go on.
//   - Parameters stay finite and near where they began, whatever a neighbour says.
//   - A step waits no longer than its deadline.
//   - A neighbour that talks nonsense costs a few deadlines, and not one in every
//     step.
//   - Who tells blatant lies is put in quarantine by all who hear it, nobody else is,
//     whatever the network does, and a while after the last lie nobody is any more.
//   - A checkpoint never goes back.
//   - Of a host or a node that joins everybody knows, a while after the last fault;
//     who has links with it has heard it, and who knew it before a restart knows it
//     after it. Nobody waits for it for three deadlines.
//   - Frames that are kept for later steps have bounded room.
//   - Every line of the world is answered, or a counter says why not.
//   - Another model is taken by all hosts or by none, whoever brings it dies or not: if
//     nothing is lost with the step that was agreed on, and who is cut off follows.
package sim
