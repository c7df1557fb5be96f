package transport

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/internal/idlist"
)

// maxHosts is how many hosts the text of a partition may name.
const maxHosts = 1 << 16

// Validate reports everything that is wrong.
func (p Partition) Validate() error {
	var errs []error
	if len(p.Hosts) == 0 {
		errs = append(errs, errors.New("no hosts"))
	}
	if p.From < 0 {
		errs = append(errs, fmt.Errorf("it begins at %v, want 0 or later", p.From))
	}
	if p.To != 0 && p.To <= p.From {
		errs = append(errs, fmt.Errorf("it heals at %v, want a time after %v, or 0 for never", p.To, p.From))
	}
	return errors.Join(errs...)
}

// ParsePartition reads a partition as [Partition.String] writes it: hosts and
// ranges of hosts, and when they are cut off. "0-24@10s-20s" heals after 10
// seconds, "3,7@5s" never.
func ParsePartition(text string) (Partition, error) {
	fail := func(format string, args ...any) (Partition, error) {
		return Partition{}, fmt.Errorf("transport: partition %q: %s; try 0-24@10s-20s or 3,7@5s", text, fmt.Sprintf(format, args...))
	}
	hosts, times, ok := strings.Cut(text, "@")
	if !ok {
		return fail("no @ between hosts and times")
	}
	var p Partition
	for part := range strings.SplitSeq(hosts, ",") {
		first, last, ok := idlist.ParseRange(part)
		if !ok {
			return fail("%q is no host and no range of hosts", part)
		}
		if last-first >= maxHosts-uint64(len(p.Hosts)) {
			return fail("more than %d hosts", maxHosts)
		}
		for h := first; h <= last; h++ {
			p.Hosts = append(p.Hosts, HostID(h))
		}
	}
	slices.Sort(p.Hosts)
	p.Hosts = slices.Compact(p.Hosts)
	from, to, heals := strings.Cut(times, "-")
	var err error
	if p.From, err = time.ParseDuration(from); err != nil {
		return fail("%q is no duration", from)
	}
	if heals {
		if p.To, err = time.ParseDuration(to); err != nil || p.To == 0 {
			return fail("%q is no duration above 0", to)
		}
	}
	if err := p.Validate(); err != nil {
		return fail("%v", err)
	}
	return p, nil
}

// String returns the partition as text that ParsePartition reads.
func (p Partition) String() string {
	text := idlist.Format(slices.Compact(slices.Sorted(slices.Values(p.Hosts)))) + "@" + p.From.String()
	if p.To != 0 {
		text += "-" + p.To.String()
	}
	return text
}
