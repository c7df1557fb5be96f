package natsbus

import (
	"fmt"
	"strconv"

	"github.com/wdgnn/wdgnn/transport"
)

// maxRun is the length of the longest name of a run, in bytes.
const maxRun = 64

// FromSubject is where a host sends its frames.
func FromSubject(run string, host transport.HostID) string { return subject(run, "from", host) }

// WorldSubject is where a host is told what it observes.
func WorldSubject(run string, host transport.HostID) string { return subject(run, "world", host) }

// AnswerSubject is where a host answers the world.
func AnswerSubject(run string, host transport.HostID) string { return subject(run, "answer", host) }

// ReportSubject is where a host says how it is doing.
func ReportSubject(run string, host transport.HostID) string { return subject(run, "report", host) }

// JoinSubject is where a host that comes later shows its record to all of a run.
func JoinSubject(run string, host transport.HostID) string { return subject(run, "join", host) }

// JoinSubjects stands for those of all hosts of a run.
func JoinSubjects(run string) string { return every(run, "join") }

// DeploySubject is where a host is told what to run, DeployedSubject where it answers;
// DeploySubjects and DeployedSubjects stand for those of all hosts of a run.
func DeploySubject(run string, host transport.HostID) string { return subject(run, "deploy", host) }

func DeployedSubject(run string, host transport.HostID) string { return subject(run, "deployed", host) }
func DeploySubjects(run string) string                         { return every(run, "deploy") }
func DeployedSubjects(run string) string                       { return every(run, "deployed") }

// WorldSubjects, AnswerSubjects and ReportSubjects stand for those of all hosts
// of a run.
func WorldSubjects(run string) string  { return every(run, "world") }
func AnswerSubjects(run string) string { return every(run, "answer") }
func ReportSubjects(run string) string { return every(run, "report") }

func subject(run, what string, host transport.HostID) string {
	return "wdgnn." + run + "." + what + "." + strconv.FormatUint(uint64(host), 10)
}

func every(run, what string) string { return "wdgnn." + run + "." + what + ".>" }

// HostOf returns the host that a subject names, as its last part.
func HostOf(subject string) (transport.HostID, error) {
	host, ok := lastNumber(subject)
	if !ok {
		return 0, fmt.Errorf("natsbus: subject %q does not end in the number of a host", subject)
	}
	return host, nil
}

// lastNumber reads the digits behind the last dot.
func lastNumber(subject string) (transport.HostID, bool) {
	for at := len(subject) - 1; at >= 0; at-- {
		if subject[at] == '.' {
			host, err := strconv.ParseUint(subject[at+1:], 10, 32)
			return transport.HostID(host), err == nil
		}
	}
	return 0, false
}

// ValidRun says what is wrong with the name of a run. It becomes a part of
// subjects: letters, digits, - and _, at most 64 of them.
func ValidRun(name string) error {
	if name == "" || len(name) > maxRun {
		return fmt.Errorf("natsbus: run %.70q: its name has %d characters, want 1 to %d", name, len(name), maxRun)
	}
	for _, c := range name {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return fmt.Errorf("natsbus: run %q: its name holds %q, want letters, digits, - and _ only", name, c)
		}
	}
	return nil
}
