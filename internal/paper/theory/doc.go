// Package theory turns Theorems 1 to 3 of the paper into numbers: for a given
// model, pair of graphs and online run it says which hypotheses hold, computes
// every constant and bound, and measures what the bound is about.
//
// The paper's bounds are computed to the letter. Beside each stands one that
// follows from the same hypotheses, or fewer, and is small enough to be of use:
//
//	Theorem 1   Stability.Direct: operator norms of the actual filters, layer by layer and all together
//	Theorem 2   Tracking.PerStep: the paper's recursion with each step's own drift
//	Theorem 3   ConsensusBound: the measured contraction σ₂(W_t) in place of C_ε
//
// Step sizes that change from step to step or from node to node enter by
// Problem.Scaled, and delayed filters on a sequence of graphs by the shift of
// graph.SpaceTime, for which the direct certificate holds and Theorem 1 does not.
// Taps that nodes have of their own enter by crown.Network.GiveTaps, weights of single
// neighbours by crown.Network.GiveTerms.
//
// The derivations are written out in doc/theory.md. Everything is computed in
// float64, models converted once. Nothing here opens a file, and no value is
// safe for concurrent use while somebody writes to it; functions keep no state.
//
// # Letters
//
//	S, Ŝ     shift of the graph and of the perturbed graph, N×N
//	λ_i, V   eigenvalues and eigenvectors of S
//	E        relative perturbation, symmetric: Ŝ - S = E S + S E
//	ε        ‖E‖, an upper bound of d(S, Ŝ)
//	δ        eigenvector misalignment (‖U - V‖ + 1)² - 1 of Lemma 1, U of E
//	a(λ)     frequency response Σ_k a_k λᵏ of one input and output feature
//	C_L      integral Lipschitz constant
//	C_Ψ      constant of the architecture in Theorem 1
//	H(S)     a filter as a linear map of signals, X ↦ Σ_k Sᵏ X A_k
//	𝒜_t, 𝒜*_t  taps of an online learner, and the optimum of the cost of step t
//	w        𝒜 - 𝒜† in orthonormal coordinates of the space that gradients span
//	C_s, C_c   constants of strong smoothness and strong convexity
//	m_t      max(|1 - γ C_s|, |1 - γ C_c|), contraction of a gradient step
//	C_B      largest ‖𝒜*_{t+1} - 𝒜*_t‖
//	L        Lipschitz constant of a cost in 𝒜, a bound of its gradient
//	σ₂(W)    second largest singular value of a mixing matrix
//	e_t      ‖mean_i 𝒜_{i,t} - 𝒜*_t‖
//	b_t      (Σ_i ‖𝒜_{i,t} - mean‖²)^½, the disagreement
//	ζ_t      (Σ_i ‖∇J_{i,t}(𝒜*_t) - mean‖²)^½, how much nodes want different things
//	κ_t      ‖1ᵀW_t - 1ᵀ‖, how far mixing is from keeping the mean of the nodes
package theory
