package transport

import "errors"

// ErrClosed is returned by a Bus that was closed.
var ErrClosed = errors.New("transport: the bus is closed")

// MaxFrame is the largest frame, in bytes, that a Bus must carry: the 64 MiB of
// agent.MaxFrame. Send refuses larger ones.
const MaxFrame = 64 << 20
