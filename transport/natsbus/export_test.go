package natsbus

// Again asks the server once more for a subject that it forbade.
func (c *Conn) Again(subject string) { c.again(subject) }

// Subscriptions returns how many there are.
func (c *Conn) Subscriptions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.subs)
}
