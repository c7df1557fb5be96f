package kernel

import "testing"

// The first set that runs and pays is in use, and the reason is its own, or the
// one that speaks against the set before it.
func TestChoose(t *testing.T) {
	wide, narrow := offer{name: "wide", set: &Set{Name: "wide"}, why: "it is wide"}, offer{name: "narrow", set: &Set{Name: "narrow"}}
	lacking, passed, last := wide, wide, offer{name: "portable", set: &portable, why: "no assembly"}
	lacking.set, lacking.why = nil, "there is no wide one"
	passed.passed, passed.why = true, "wide ones do not pay"
	for _, c := range []struct {
		list      []offer
		name, why string
	}{
		{[]offer{wide, narrow, last}, "wide", "it is wide"},
		{[]offer{lacking, narrow, last}, "narrow", "there is no wide one"},
		{[]offer{passed, narrow, last}, "narrow", "wide ones do not pay"},
		{[]offer{lacking, {name: "narrow", why: "nor a narrow one"}, last}, "portable", "nor a narrow one"},
		{[]offer{last}, "portable", "no assembly"},
	} {
		if got, why := choose(c.list); got.Name != c.name || why != c.why {
			t.Errorf("got %s because %q, want %s because %q", got.Name, why, c.name, c.why)
		}
	}
}

// A set that is named is in use, whether it pays or not; one that does not run
// is refused, and nothing changes.
func TestUse(t *testing.T) {
	before, why := Current().Name, Reason()
	defer Use(before, why)
	for _, n := range Names() {
		if got, want := Use(n.Name, "asked for"), n.Lacks == ""; got != want {
			t.Errorf("Use of %s: got %v, want %v", n.Name, got, want)
		} else if want && (Current().Name != n.Name || Reason() != "asked for") {
			t.Errorf("after Use of %s: got %s because %q", n.Name, Current().Name, Reason())
		}
	}
	Use("portable", "asked for")
	if Use("no such set", "asked for") || Current().Name != "portable" {
		t.Errorf("got %s after Use of a set that there is not, want portable", Current().Name)
	}
}
