package kernel

// Families of bits. Sets of one family give the same bits for the same
// operands, on every architecture.
const (
	Fused    = "fused"    // every multiply-add rounds once; sums of lanes are grouped by eight
	Portable = "portable" // every operation rounds, every sum is in order
)

// offer is a set that this architecture may run, and what speaks for it or
// against it on this machine.
type offer struct {
	name string
	set  *Set   // nil where it does not run
	why  string // why it does not run, why another is faster, or why it is the fastest

	// passed says that the set runs here, but the next one is expected to be
	// at least as fast.
	passed bool
}

var list = append(offers(), offer{name: portable.Name, set: &portable, why: "there is no assembly for this architecture, or in this build"})

// sets lists the sets that run on this machine.
func sets() []*Set {
	var found []*Set
	for _, o := range list {
		if o.set != nil {
			found = append(found, o.set)
		}
	}
	return found
}

var inUse, reason = choose(list)

// choose returns the first set that runs and is not passed over, and why it is
// this one: its own reason if it is the first of all, otherwise that against
// the one before it.
func choose(list []offer) (Set, string) {
	for i, o := range list {
		switch {
		case o.set == nil || o.passed:
		case i > 0:
			return *o.set, list[i-1].why
		default:
			return *o.set, o.why
		}
	}
	return portable, ""
}

// Current returns the set in use: the one that was chosen for this machine, or
// the one that Use named.
func Current() *Set { return &inUse }

// Reason says why the current set is in use.
func Reason() string { return reason }

// Use makes the named set the current one, for the given reason, and says
// whether it runs here. No loop may run meanwhile.
func Use(name, why string) bool {
	for _, s := range sets() {
		if s.Name == name {
			inUse, reason = *s, why
			return true
		}
	}
	return false
}

// Name is a set that this architecture may run.
type Name struct {
	Name  string
	Lacks string // why it does not run here; empty if it does
}

// Names lists the sets of this architecture, the fastest first.
func Names() []Name {
	var names []Name
	for _, o := range list {
		n := Name{Name: o.name}
		if o.set == nil {
			n.Lacks = o.why
		}
		names = append(names, n)
	}
	return names
}
