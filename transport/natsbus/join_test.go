package natsbus_test

import (
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// However often a server is asked again at once for what it forbade, there is one
// subscription for orders of the operator and one for records of newcomers: each is
// handled once.
func TestAskedAgainAtOnce(t *testing.T) {
	c := dial(t, natsbus.Config{URL: start(t, broker.Config{}).URL(), Run: "test", Host: 1})
	if err := c.Obey(func([]byte) []byte { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := c.Attend(func(transport.HostID, []byte) {}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				c.Again(natsbus.DeploySubject("test", 1))
				c.Again(natsbus.JoinSubjects("test"))
			}
		})
	}
	all.Wait()
	if got := c.Subscriptions(); got != 2 {
		t.Errorf("got %d subscriptions, want 2", got)
	}
}
