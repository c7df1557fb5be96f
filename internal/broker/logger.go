package broker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
)

// logger hands the server's log on and counts refusals. The server counts them
// nowhere else: it writes one line as an error for each, with the number of the
// connection behind cid: for a client, mid: for one of MQTT or rid: for another server.
// That an MQTT client is not let in follows the line that says why.
type logger struct {
	to      *slog.Logger
	refused atomic.Uint64
	full    atomic.Bool // the store of MQTT could not be written
	fatal   chan string
}

// Errorf implements server.Logger.
func (l *logger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	known := strings.Contains(text, "cid:") || strings.Contains(text, "mid:") || strings.Contains(text, "rid:")
	if known && !strings.Contains(text, "unable to connect") {
		l.refused.Add(1)
	}
	if strings.Contains(strings.ToLower(text), "critical write error") ||
		strings.Contains(text, "failed to store a msg") && strings.Contains(text, ": write ") {
		l.full.Store(true)
	}
	l.log(slog.LevelWarn, text)
}

// Fatalf implements server.Logger. The server goes on and never gets ready.
func (l *logger) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	select {
	case l.fatal <- text:
	default:
	}
	l.log(slog.LevelError, text)
}

// Warnf implements server.Logger.
func (l *logger) Warnf(format string, v ...any) { l.log(slog.LevelInfo, fmt.Sprintf(format, v...)) }

// Noticef implements server.Logger.
func (l *logger) Noticef(format string, v ...any) { l.log(slog.LevelDebug, fmt.Sprintf(format, v...)) }

// Debugf implements server.Logger.
func (l *logger) Debugf(string, ...any) {}

// Tracef implements server.Logger.
func (l *logger) Tracef(string, ...any) {}

func (l *logger) log(level slog.Level, text string) {
	if l.to != nil {
		l.to.Log(context.Background(), level, "nats: "+text)
	}
}
