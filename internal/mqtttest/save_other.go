//go:build !unix

package mqtttest

import "os"

// save has mosquitto save what it knows where there is such a signal; here it is refused.
var save = os.Interrupt
