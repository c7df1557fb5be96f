package tcpbus

import (
	"net"
	"time"
)

// LaneTime and Losses replace what a host asks its system, for tests.
func (c *Config) LaneTime(t time.Duration)               { c.laneTime = t }
func (c *Config) Losses(f func(net.Conn) (uint64, bool)) { c.losses = f }
