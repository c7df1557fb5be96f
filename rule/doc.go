// Package rule is what one node of a network does to learn: what it sends to
// its neighbours, how it mixes what it hears from them, and how it steps down
// its own cost. It is the single home of the update of eq. (9),
//
//	𝒜_{i,t+1} = Σ_j [W_t]_ij 𝒜_{j,t} - γ ∇J_{i,t}(𝒜_{i,t})      j = i and its neighbours
//
// Package online runs it for all nodes of a network in one process; an agent
// runs it for one node. Both call the same code and get the same bits.
//
// # Coordinates
//
// Online learning retrains the taps 𝒜 of the wide part; the readout and the
// gain α_W behind it are frozen. With Ω, G×C, the product of both, an output is
//
//	y_i = y†_i + z_i (𝒜_i - 𝒜†) Ω        z_i: the shifted inputs at node i, (K+1)·F values
//
// where y† is what the model trained offline gives, with taps 𝒜†. Every gradient
// of a cost of y is z_iᵀ dy_i Ωᵀ, so taps that begin at 𝒜† only ever move in the
// row space of Ωᵀ, however gradients are combined over time and nodes. With an
// orthonormal basis Q of it, Ω = Q R,
//
//	𝒜_i = 𝒜† + x_i Qᵀ        Q: G×r, r ≤ C the rank of Ω   x_i: ((K+1)·F)×r
//	y_i = y†_i + z_i x_i R    R: r×C
//	∇J_i = z_iᵀ dy_i Rᵀ
//
// x_i is what nodes hold, send and mix. It is exactly eq. (9) with 6×5 numbers
// in place of 6×32 for source localization, 24×2 in place of 24×32 for robots:
// rows of W sum to 1, so averaging x_i averages 𝒜_i, and distances between x are
// distances between 𝒜. Any basis would do for real numbers. For float32 an
// orthonormal one matters: where the readout is ill-conditioned whitened steps
// are long in some directions, and what is rounded there must not be felt in
// others.
//
// All nodes must mean the same by x, though nobody sends Q: each computes it from
// the model that all have, with operations that round the same everywhere (see
// factorize). Starting from x = 0 at 𝒜†, a node that joins late or begins anew
// needs nothing but the model to mix with others.
//
// # One update
//
// A [Node] answers and learns in four calls, and the order of what happens in them is
// part of eq. (9):
//
//  1. Give answers, and keeps z_i and y†_i, which do not depend on x.
//  2. Tell says what an answer cost, at once or steps later.
//  3. Step mixes what everybody had at t, takes the gradient at the node's own
//     parameters of t, not at the mixture, and writes the result beside them.
//  4. Commit exchanges the two, or Refuse leaves all as it was. Whoever runs many
//     nodes lets all of them Step before any is committed, so that each hears the
//     others' parameters of t.
//
// One set of parameters for many rows, eq. (7), takes in what it is told of all of
// them together, by Observe.
//
// That is learning by gradients. With [Newton] in the configuration the same calls
// learn by second derivatives: what a node knows is a mean and how sure it is of it,
// in whitened features, and x_i is written from that for those who read it. With
// [RetrainHeard] the features are also what each neighbour sent; see [Hearing].
//
// # Two sides of a node
//
// What a Node learned, Predict says. What it answers are its [Answers]: the adapted
// output or the one of the model as trained, remembered with what it was made until
// somebody tells what it cost. Nothing that a Node learns reaches anybody but through
// them, where there is a [Gate].
//
// # Forecasts
//
// Forecasts are learned by [Season], whose nodes are [SeasonNode]: their Answers have a
// gate and a truth for each horizon, which comes steps later, and what they share with
// neighbours is no taps.
//
// # What keeps it safe
//
// Learning must not do harm in a network that nobody watches. Each of these
// looks at what the one before cannot see:
//
//   - numbers that are not finite, or farther from 𝒜† than Config.Limit, end an
//     update with [ErrDiverged] and the parameters of before ([Node.Step]);
//   - a neighbour whose finite parameters are absurdly far from 𝒜† counts as silent
//     ([Basis.Far]);
//   - an implicit step is never too long for the cost ([Newton]);
//   - where all numbers look well and answers get worse, a node answers as trained,
//     and what its answers cost is bounded whatever it learned ([Gate]);
//   - and where there is no gate, a [Comparison] with the model as trained shows it,
//     and [Config.Calmer] says what to try.
//
// # Letters
//
//	i, j, t    node, neighbour, online step
//	x_i        a node's parameters, as above; x = 0 is 𝒜†
//	z_i        shifted inputs [X SX … SᴷX] at node i
//	y†_i       the output of the model as trained offline, "base"
//	Ω          what is frozen behind the taps: the gain α_W times the readout
//	Q, R       its factors, see above
//	γ, W       step size, mixing matrix
//
// Parameters are float32. Gradients, whitening and the sums inside them are
// float64 and round after every operation, so that they give the same bits on
// every architecture, given the same costs.
package rule
