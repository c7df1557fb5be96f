package main

import (
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// chunk gives a loop body access to one vector of each operand, all lanes or,
// at the end, the first few.
type chunk struct {
	at   int // which vector of the unrolled loop
	mask Op
	ptr  map[string]Register
}

func (v chunk) load(name string) VecVirtual {
	r := vector()
	load(Mem{Base: v.ptr[name], Disp: v.at * lanes * size}, v.mask, r)
	return r
}

func (v chunk) store(r VecVirtual, name string) {
	store(r, v.mask, Mem{Base: v.ptr[name], Disp: v.at * lanes * size})
}

// forEach emits a loop over the operands, which are pointer parameters, and
// over parameter n: unroll vectors at a time, then one, then the rest of n%lanes
// lanes.
func forEach(name string, unroll int, operands []string, body func(chunk)) {
	v := chunk{ptr: map[string]Register{}}
	for _, o := range operands {
		v.ptr[o] = Load(Param(o), GP64())
	}
	n := parameter("n")
	pass := func(stage string, unroll int) {
		loop, end := name+stage, name+stage+"_end"
		CMPQ(n, Imm(uint64(unroll*lanes)))
		JLT(LabelRef(end))
		Label(loop)
		for at := range unroll {
			v.at = at
			body(v)
		}
		for _, o := range operands {
			ADDQ(bytes(unroll*lanes*size), v.ptr[o])
		}
		SUBQ(Imm(uint64(unroll*lanes)), n)
		CMPQ(n, Imm(uint64(unroll*lanes)))
		JGE(LabelRef(loop))
		Label(end)
	}
	v.at = 0
	if unroll > 1 {
		pass("_many", unroll)
	}
	pass("_one", 1)
	v.at = 0
	done := name + "_done"
	TESTQ(n, n)
	JEQ(LabelRef(done))
	v.mask = firstLanes(n)
	body(v)
	Label(done)
}

// bytes is a number of bytes as an operand.
func bytes(n int) Op {
	if n > 0xff {
		return U32(n)
	}
	return Imm(uint64(n))
}

// broadcast returns a register that holds a float32 parameter in every lane.
func broadcast(name string) VecVirtual {
	r := vector()
	VBROADCASTSS(address(name), r)
	return r
}

// loop starts a loop of the set.
func loop(name, signature string) {
	function(name+suffix, signature, name+suffix+" is "+strings.ToUpper(name[:1])+name[1:]+" of the set for n values.")
}

func finish() {
	VZEROUPPER()
	RET()
}

func elementwise() {
	loop("axpy", "func(y *float32, a float32, x *float32, n int)")
	a := broadcast("a")
	forEach("axpy", 4, []string{"y", "x"}, func(v chunk) {
		y := v.load("y")
		VFMADD231PS(v.load("x"), a, y)
		v.store(y, "y")
	})
	finish()

	loop("scale", "func(x *float32, a float32, n int)")
	a = broadcast("a")
	forEach("scale", 4, []string{"x"}, func(v chunk) {
		x := v.load("x")
		VMULPS(a, x, x)
		v.store(x, "x")
	})
	finish()

	loop("blend", "func(y *float32, a float32, u *float32, b float32, v *float32, c float32, n int)")
	a, b, c := broadcast("a"), broadcast("b"), broadcast("c")
	forEach("blend", 2, []string{"y", "u", "v"}, func(v chunk) {
		t := vector()
		VMOVAPS(c, t)
		VFMADD231PS(v.load("v"), b, t)
		VFMADD231PS(v.load("u"), a, t)
		v.store(t, "y")
	})
	finish()

	// The grouping of sums by eight lanes is part of their bits: both sets use
	// the loops of AVX2.
	if !wide {
		dot()
	}
	relu()
	tanh()
	if !wide {
		softmax()
	}
	adam()
}

// dot keeps four accumulators of eight lanes.
func dot() {
	loop("dot", "func(x, y *float32, n int) float32")
	acc := []VecVirtual{zero(), zero(), zero(), zero()}
	forEach("dot", 4, []string{"x", "y"}, func(v chunk) {
		VFMADD231PS(v.load("x"), v.load("y"), acc[v.at])
	})
	VADDPS(acc[1], acc[0], acc[0])
	VADDPS(acc[3], acc[2], acc[2])
	VADDPS(acc[2], acc[0], acc[0])
	Store(across(acc[0], func(b, a, dst Op) { VADDPS(b, a, dst) }), ReturnIndex(0))
	finish()
}

// across folds the eight lanes of r with op: halves, quarters, then pairs.
func across(r VecVirtual, op func(b, a, dst Op)) Register {
	half := XMM()
	VEXTRACTF128(Imm(1), r, half)
	low := r.AsX()
	op(half, low, low)
	VMOVHLPS(low, half, half)
	op(half, low, low)
	VMOVSHDUP(low, half)
	op(half, low, low)
	return low
}

// leakage returns slope and a mask that is zero for slope 0, so that the ReLU
// gives +0 even where slope·x is -0 or NaN.
func leakage() (slope VecVirtual, keep Op) {
	slope, keep = broadcast("slope"), truth()
	VCMPPS(Imm(4), zero(), slope, keep) // slope != 0
	return slope, keep
}

// truth returns a register for what a comparison says of each lane.
func truth() Op {
	if wide {
		return K()
	}
	return vector()
}

// where keeps the lanes of r in which a comparison was true, and clears others.
func where(true Op, r VecVirtual) {
	if wide {
		VMOVAPS_Z(r, true, r)
	} else {
		VANDPS(true, r, r)
	}
}

// choose writes yes to dst in lanes in which a comparison was true, and no in others.
func choose(true Op, yes, no, dst VecVirtual) {
	if wide {
		VBLENDMPS(yes, no, true, dst)
	} else {
		VBLENDVPS(true, yes, no, dst)
	}
}

func relu() {
	loop("leakyReLU", "func(y, x *float32, slope float32, n int)")
	slope, keep := leakage()
	nought := zero()
	forEach("leakyReLU", 2, []string{"y", "x"}, func(v chunk) {
		x, negative, leak := v.load("x"), truth(), vector()
		VCMPPS(Imm(0x11), nought, x, negative) // x < 0, false for NaN
		VMULPS(slope, x, leak)
		where(keep, leak)
		choose(negative, leak, x, x)
		v.store(x, "y")
	})
	finish()

	loop("leakyReLUBack", "func(dx, dy, y *float32, slope, scale float32, n int)")
	slope, keep = leakage()
	nought = zero()
	scale := broadcast("scale")
	forEach("leakyReLUBack", 2, []string{"dx", "dy", "y"}, func(v chunk) {
		dy, live, leak := v.load("dy"), truth(), vector()
		VMULPS(scale, dy, dy)
		VCMPPS(Imm(0x1e), nought, v.load("y"), live) // y > 0, false for NaN
		VMULPS(slope, dy, leak)
		where(keep, leak)
		choose(live, dy, leak, leak)
		v.store(leak, "dx")
	})
	finish()
}

// The elementary functions follow internal/kernel/elementary.go step by step.
const (
	ln2Hi      = 0x1.62ep-1
	ln2Lo      = math.Ln2 - ln2Hi
	roundMagic = 3 << 22
)

// exponential holds the constants of reduce.
type exponential struct {
	log2E, magic, hi, lo, bias VecVirtual
}

func newExponential() exponential {
	return exponential{constant(1 / math.Ln2), constant(roundMagic), constant(ln2Hi), constant(ln2Lo), everywhere(127)}
}

// reduce returns n and expm1 r for x = n·ln 2 + r. It overwrites x.
func (c exponential) reduce(x VecVirtual) (n, expm1 VecVirtual) {
	n = vector()
	VMOVAPS(c.magic, n)
	VFMADD231PS(c.log2E, x, n)
	VSUBPS(c.magic, n, n)
	VFNMADD231PS(c.hi, n, x)
	VFNMADD231PS(c.lo, n, x)
	q := constant(1.0 / 5040)
	for _, t := range []float32{1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2} {
		VFMADD213PS(constant(t), x, q)
	}
	square := vector()
	VMULPS(x, x, square)
	VFMADD231PS(q, square, x)
	return n, x
}

// pow2 returns 2ⁿ.
func (c exponential) pow2(n VecVirtual) VecVirtual {
	s := vector()
	VCVTPS2DQ(n, s)
	VPADDD(c.bias, s, s)
	VPSLLD(Imm(23), s, s)
	return s
}

func tanh() {
	loop("tanh", "func(y, x *float32, n int)")
	c := newExponential()
	limit, one, two := constant(10), constant(1), constant(2)
	signBit := everywhere(1 << 31)
	forEach("tanh", 1, []string{"y", "x"}, func(v chunk) {
		x, sign := v.load("x"), vector()
		VANDPS(signBit, x, sign)
		VANDNPS(x, signBit, x)
		VMINPS(x, limit, x) // NaN stays
		VADDPS(x, x, x)
		n, e := c.reduce(x)
		s, t := c.pow2(n), vector()
		VSUBPS(one, s, t)
		VFMADD213PS(t, s, e) // E = s·e + (s - 1)
		VADDPS(two, e, t)
		VDIVPS(t, e, e)
		VORPS(sign, e, e)
		v.store(e, "y")
	})
	finish()

	loop("tanhBack", "func(dx, dy, y *float32, scale float32, n int)")
	one = constant(1)
	scale := broadcast("scale")
	forEach("tanhBack", 2, []string{"dx", "dy", "y"}, func(v chunk) {
		y, dy, t := v.load("y"), v.load("dy"), vector()
		VMOVAPS(one, t)
		VFNMADD231PS(y, y, t)
		VMULPS(scale, dy, dy)
		VMULPS(dy, t, t)
		v.store(t, "dx")
	})
	finish()
}

func softmax() {
	loop("softmax", "func(p, x *float32, n int) (max, sum float32)")
	low := constant(float32(math.Inf(-1)))
	largest := vector()
	VMOVAPS(low, largest)
	forEach("softmaxMax", 1, []string{"x"}, func(v chunk) {
		x := v.load("x")
		if v.mask != nil {
			VBLENDVPS(v.mask, x, low, x)
		}
		VMAXPS(x, largest, largest)
	})
	top := across(largest, func(b, a, dst Op) { VMAXPS(b, a, dst) })
	Store(top, Return("max"))
	VBROADCASTSS(top, largest)
	c := newExponential()
	tiny, sum := constant(-126), zero()
	forEach("softmaxExp", 1, []string{"p", "x"}, func(v chunk) {
		x := v.load("x")
		VSUBPS(largest, x, x)
		n, e := c.reduce(x)
		s, under := c.pow2(n), vector()
		VFMADD213PS(s, s, e)
		VCMPPS(Imm(0x11), tiny, n, under) // n < -126, false for NaN
		VANDNPS(e, under, e)
		if v.mask != nil {
			VANDPS(v.mask, e, e)
		}
		v.store(e, "p")
		VADDPS(e, sum, sum)
	})
	Store(across(sum, func(b, a, dst Op) { VADDPS(b, a, dst) }), Return("sum"))
	finish()
}

func adam() {
	loop("adam", "func(p, grad, m, v *float32, n int, beta1, rest1, beta2, rest2, rate, unbias, epsilon float32)")
	beta1, rest1, beta2, rest2 := broadcast("beta1"), broadcast("rest1"), broadcast("beta2"), broadcast("rest2")
	rate, unbias, epsilon := broadcast("rate"), broadcast("unbias"), broadcast("epsilon")
	least, magnitude := constant(0x1p-126), everywhere(1<<31-1)
	normal := func(r VecVirtual) { // denormal numbers become 0, NaN stays
		size := vector()
		VANDPS(magnitude, r, size)
		if wide {
			large := K()
			VCMPPS(Imm(0x15), least, size, large) // not |r| < least
			VMOVAPS_Z(r, large, r)
			return
		}
		denormal := vector()
		VCMPPS(Imm(0x11), least, size, denormal) // |r| < least
		VANDNPS(r, denormal, r)
	}
	forEach("adam", 1, []string{"p", "grad", "m", "v"}, func(v chunk) {
		g, m, w := v.load("grad"), vector(), vector()
		VMULPS(rest1, g, m)
		VFMADD231PS(v.load("m"), beta1, m)
		normal(m)
		v.store(m, "m")
		VMULPS(g, g, w)
		VMULPS(rest2, w, w)
		VFMADD231PS(v.load("v"), beta2, w)
		normal(w)
		v.store(w, "v")
		VMULPS(unbias, w, w)
		VSQRTPS(w, w)
		VADDPS(epsilon, w, w)
		VMULPS(rate, m, m)
		VDIVPS(w, m, m)
		p := v.load("p")
		VSUBPS(m, p, p)
		v.store(p, "p")
	})
	finish()
}
