package natsbus

// Obey calls handle with what the operator of the run asks of this host, one question at
// a time, and publishes what it returns; data belongs to handle. A server whose keys do
// not permit that is asked again now and then: they may be replaced while it runs.
func (c *Conn) Obey(handle func(data []byte) []byte) error {
	run, host := c.config.Run, c.config.Host
	return c.insist(DeploySubject(run, host), func(_ string, data []byte) {
		if err := c.Publish(DeployedSubject(run, host), handle(data)); err != nil {
			c.tell(err)
		}
	})
}
