package host

// Health is what the program around a host knows of it: what is wrong, and how long
// things last. Durations are in seconds and were true when the report was made, so that
// clocks need not agree.
type Health struct {
	// Problems are what is wrong, a line for each thing; empty means well.
	Problems []string `json:"problems,omitempty"`

	// Certificate is how long the certificate is valid that new connections need,
	// the host's own or its server's; less than 0 after its end, 0 if there is none.
	Certificate float64 `json:"certificate_seconds,omitempty"`

	// Checkpoint is how old the last checkpoint is, 0 if there is none.
	Checkpoint float64 `json:"checkpoint_seconds,omitempty"`

	Damaged   int     `json:"damaged_checkpoints,omitempty"` // that could not be read at the start
	ClockJump float64 `json:"clock_jump_seconds,omitempty"`  // by which the machine's clock is off what steps follow

	// Broker is that of a world that speaks MQTT; nil of another.
	Broker *Broker `json:"broker,omitempty"`
}

// Broker is how a world does that hears sensors by MQTT.
type Broker struct {
	Connected bool   `json:"connected"`
	Connects  uint64 `json:"connects"` // connections made so far

	// Readings counts messages by what became of them: each has one fate.
	Readings map[string]uint64 `json:"readings,omitempty"`
}
