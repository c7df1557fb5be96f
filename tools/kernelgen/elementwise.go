package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// vector gives a loop body access to eight lanes of each operand, all of them
// or, at the end, the first few.
type vector struct {
	at   int // which vector of the unrolled loop
	mask VecVirtual
	ptr  map[string]Register
}

func (v vector) load(name string) VecVirtual {
	r := YMM()
	load(Mem{Base: v.ptr[name], Disp: v.at * lanes * size}, v.mask, r)
	return r
}

func (v vector) store(r VecVirtual, name string) {
	store(r, v.mask, Mem{Base: v.ptr[name], Disp: v.at * lanes * size})
}

// forEach emits a loop over the operands, which are pointer parameters, and
// over parameter n: unroll vectors at a time, then one, then the rest of n%8
// lanes.
func forEach(name string, unroll int, operands []string, body func(vector)) {
	v := vector{ptr: map[string]Register{}}
	for _, o := range operands {
		v.ptr[o] = Load(Param(o), GP64())
	}
	n := Load(Param("n"), GP64())
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
			ADDQ(Imm(uint64(unroll*lanes*size)), v.ptr[o])
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

// broadcast returns a register that holds a float32 parameter in every lane.
func broadcast(name string) VecVirtual {
	r := YMM()
	VBROADCASTSS(address(name), r)
	return r
}

func finish() {
	VZEROUPPER()
	RET()
}

func elementwise() {
	function("axpyAVX2", "func(y *float32, a float32, x *float32, n int)", "axpyAVX2 is Axpy of the set for n values.")
	a := broadcast("a")
	forEach("axpy", 4, []string{"y", "x"}, func(v vector) {
		y := v.load("y")
		VFMADD231PS(v.load("x"), a, y)
		v.store(y, "y")
	})
	finish()

	function("scaleAVX2", "func(x *float32, a float32, n int)", "scaleAVX2 is Scale of the set for n values.")
	a = broadcast("a")
	forEach("scale", 4, []string{"x"}, func(v vector) {
		x := v.load("x")
		VMULPS(a, x, x)
		v.store(x, "x")
	})
	finish()

	function("blendAVX2", "func(y *float32, a float32, u *float32, b float32, v *float32, c float32, n int)",
		"blendAVX2 is Blend of the set for n values.")
	a, b, c := broadcast("a"), broadcast("b"), broadcast("c")
	forEach("blend", 2, []string{"y", "u", "v"}, func(v vector) {
		t := YMM()
		VMOVAPS(c, t)
		VFMADD231PS(v.load("v"), b, t)
		VFMADD231PS(v.load("u"), a, t)
		v.store(t, "y")
	})
	finish()

	dot()
	relu()
	tanh()
	softmax()
	adam()
}

// dot keeps four accumulators of eight lanes.
func dot() {
	function("dotAVX2", "func(x, y *float32, n int) float32", "dotAVX2 is Dot of the set for n values.")
	acc := []VecVirtual{zero(), zero(), zero(), zero()}
	forEach("dot", 4, []string{"x", "y"}, func(v vector) {
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
func leakage() (slope, keep VecVirtual) {
	slope, keep = broadcast("slope"), YMM()
	VCMPPS(Imm(4), zero(), slope, keep) // slope != 0
	return slope, keep
}

func relu() {
	function("leakyReLUAVX2", "func(y, x *float32, slope float32, n int)", "leakyReLUAVX2 is LeakyReLU of the set for n values.")
	slope, keep := leakage()
	nought := zero()
	forEach("leakyReLU", 2, []string{"y", "x"}, func(v vector) {
		x, negative, leak := v.load("x"), YMM(), YMM()
		VCMPPS(Imm(0x11), nought, x, negative) // x < 0, false for NaN
		VMULPS(slope, x, leak)
		VANDPS(keep, leak, leak)
		VBLENDVPS(negative, leak, x, x)
		v.store(x, "y")
	})
	finish()

	function("leakyReLUBackAVX2", "func(dx, dy, y *float32, slope, scale float32, n int)",
		"leakyReLUBackAVX2 is LeakyReLUBack of the set for n values.")
	slope, keep = leakage()
	nought = zero()
	scale := broadcast("scale")
	forEach("leakyReLUBack", 2, []string{"dx", "dy", "y"}, func(v vector) {
		dy, live, leak := v.load("dy"), YMM(), YMM()
		VMULPS(scale, dy, dy)
		VCMPPS(Imm(0x1e), nought, v.load("y"), live) // y > 0, false for NaN
		VMULPS(slope, dy, leak)
		VANDPS(keep, leak, leak)
		VBLENDVPS(live, dy, leak, leak)
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
	n = YMM()
	VMOVAPS(c.magic, n)
	VFMADD231PS(c.log2E, x, n)
	VSUBPS(c.magic, n, n)
	VFNMADD231PS(c.hi, n, x)
	VFNMADD231PS(c.lo, n, x)
	q := constant(1.0 / 5040)
	for _, t := range []float32{1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2} {
		VFMADD213PS(constant(t), x, q)
	}
	square := YMM()
	VMULPS(x, x, square)
	VFMADD231PS(q, square, x)
	return n, x
}

// pow2 returns 2ⁿ.
func (c exponential) pow2(n VecVirtual) VecVirtual {
	s := YMM()
	VCVTPS2DQ(n, s)
	VPADDD(c.bias, s, s)
	VPSLLD(Imm(23), s, s)
	return s
}

func tanh() {
	function("tanhAVX2", "func(y, x *float32, n int)", "tanhAVX2 is Tanh of the set for n values.")
	c := newExponential()
	limit, one, two := constant(10), constant(1), constant(2)
	signBit := everywhere(1 << 31)
	forEach("tanh", 1, []string{"y", "x"}, func(v vector) {
		x, sign := v.load("x"), YMM()
		VANDPS(signBit, x, sign)
		VANDNPS(x, signBit, x)
		VMINPS(x, limit, x) // NaN stays
		VADDPS(x, x, x)
		n, e := c.reduce(x)
		s, t := c.pow2(n), YMM()
		VSUBPS(one, s, t)
		VFMADD213PS(t, s, e) // E = s·e + (s - 1)
		VADDPS(two, e, t)
		VDIVPS(t, e, e)
		VORPS(sign, e, e)
		v.store(e, "y")
	})
	finish()

	function("tanhBackAVX2", "func(dx, dy, y *float32, scale float32, n int)", "tanhBackAVX2 is TanhBack of the set for n values.")
	one = constant(1)
	scale := broadcast("scale")
	forEach("tanhBack", 2, []string{"dx", "dy", "y"}, func(v vector) {
		y, dy, t := v.load("y"), v.load("dy"), YMM()
		VMOVAPS(one, t)
		VFNMADD231PS(y, y, t)
		VMULPS(scale, dy, dy)
		VMULPS(dy, t, t)
		v.store(t, "dx")
	})
	finish()
}

func softmax() {
	function("softmaxAVX2", "func(p, x *float32, n int) (max, sum float32)", "softmaxAVX2 is Softmax of the set for n values.")
	low := constant(float32(math.Inf(-1)))
	largest := YMM()
	VMOVAPS(low, largest)
	forEach("softmaxMax", 1, []string{"x"}, func(v vector) {
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
	forEach("softmaxExp", 1, []string{"p", "x"}, func(v vector) {
		x := v.load("x")
		VSUBPS(largest, x, x)
		n, e := c.reduce(x)
		s, under := c.pow2(n), YMM()
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
	function("adamAVX2", "func(p, grad, m, v *float32, n int, beta1, rest1, beta2, rest2, rate, unbias, epsilon float32)",
		"adamAVX2 is Adam of the set for n values.")
	beta1, rest1, beta2, rest2 := broadcast("beta1"), broadcast("rest1"), broadcast("beta2"), broadcast("rest2")
	rate, unbias, epsilon := broadcast("rate"), broadcast("unbias"), broadcast("epsilon")
	least, magnitude := constant(0x1p-126), everywhere(1<<31-1)
	normal := func(r VecVirtual) { // denormal numbers become 0, NaN stays
		size, denormal := YMM(), YMM()
		VANDPS(magnitude, r, size)
		VCMPPS(Imm(0x11), least, size, denormal) // |r| < least
		VANDNPS(r, denormal, r)
	}
	forEach("adam", 1, []string{"p", "grad", "m", "v"}, func(v vector) {
		g, m, w := v.load("grad"), YMM(), YMM()
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
