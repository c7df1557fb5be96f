//go:build !purego

package kernel

import "unsafe"

// offers lists the sets for amd64, the fastest first.
func offers() []offer { return []offer{trusted(offerAVX512(), &avx2), offerAVX2()} }

// processor is who made it, and which one it is.
type processor struct {
	vendor        string // "GenuineIntel", "AuthenticAMD", …
	family, model int
	name          string // as it calls itself
}

// identity asks the processor.
func identity() processor {
	var p processor
	_, b, c, d := cpuid(0)
	p.vendor = letters(b, d, c)
	a, _, _, _ := cpuid(1)
	p.family, p.model = int(a>>8&15), int(a>>4&15)
	if p.family == 15 {
		p.family += int(a >> 20 & 255)
	}
	if p.family == 6 || p.family >= 15 {
		p.model += int(a >> 16 & 15 << 4)
	}
	if most, _, _, _ := cpuid(1 << 31); most >= 1<<31+4 {
		for leaf := uint32(1<<31 + 2); leaf <= 1<<31+4; leaf++ {
			p.name += letters(cpuid(leaf))
		}
	}
	p.name = trim(p.name)
	return p
}

// letters returns the text in registers, up to the first zero.
func letters(words ...uint32) string {
	bytes := unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 4*len(words))
	for i := range len(bytes) {
		if bytes[i] == 0 {
			return bytes[:i]
		}
	}
	return bytes
}

// trim takes away spaces at both ends.
func trim(s string) string {
	for s != "" && s[0] == ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// wideUnits says whether 512-bit instructions pay on p: what is known of it,
// and whether they are to be passed over.
func wideUnits(p processor) (why string, passed bool) {
	switch {
	case p.vendor == "AuthenticAMD" && p.family < 26:
		return "a Zen 4 runs 512-bit instructions in two halves (" + p.name + "); they can be asked for", true
	case p.vendor == "GenuineIntel" && p.family == 6 && oneUnit(p.model):
		return "this processor has one 512-bit unit and gains nothing by it (" + p.name + "); it can be asked for", true
	case p.vendor == "GenuineIntel" && p.family == 6 && p.model == 85:
		return "this processor lowers its clock for 512-bit instructions (" + p.name + "); they can be asked for", true
	}
	return "two 512-bit units expected (" + p.name + ")", false
}

// oneUnit lists the processors for notebooks and desktops: Cannon, Ice, Tiger,
// Rocket and Alder Lake.
func oneUnit(model int) bool {
	switch model {
	case 102, 125, 126, 140, 141, 151, 154, 167:
		return true
	}
	return false
}
