package transporttest

import "time"

// SetPatience says how long the suite waits for what must happen.
func SetPatience(d time.Duration) { patience = d }
