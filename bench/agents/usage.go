package agents

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// usage is what this process and its children took so far, 0 where the system
// does not tell.
type usage struct {
	own, children float64 // seconds of processor time
	resident      int64   // bytes of all children at most, each at its time
	largest       int64   // of one child
}

// ticks is the unit of processor time in /proc, per second.
const ticks = 100

// usageNow returns the usage of this process and of its children that run.
func usageNow() (u usage) {
	self := strconv.Itoa(os.Getpid())
	for _, s := range stats() {
		switch {
		case s.pid == self:
			u.own = s.seconds
		case s.parent == self:
			u.children += s.seconds
			bytes := resident(s.pid)
			u.resident, u.largest = u.resident+bytes, max(u.largest, bytes)
		}
	}
	return u
}

// stat is what the system says of one process.
type stat struct {
	pid, parent string
	seconds     float64
}

// stats returns all processes that the system tells of.
func stats() (list []stat) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has just ended
		}
		_, rest, found := strings.Cut(string(text), ") ") // behind its name, which may hold spaces
		fields := strings.Fields(rest)
		if !found || len(fields) < 13 {
			continue
		}
		user, err1 := strconv.ParseFloat(fields[11], 64)
		system, err2 := strconv.ParseFloat(fields[12], 64)
		if err1 != nil || err2 != nil {
			continue
		}
		list = append(list, stat{pid: filepath.Base(filepath.Dir(name)), parent: fields[1], seconds: (user + system) / ticks})
	}
	return list
}

// resident returns the largest resident memory of a process so far, in bytes; 0
// where the system does not tell.
func resident(pid string) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err == nil {
				return kib * 1024
			}
		}
	}
	return 0
}
