package broker

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/wdgnn/wdgnn/internal/keys"
)

// lookEvery is the time between two looks at a folder of keys.
const lookEvery = time.Second

// Reload holds everybody to other permissions from now on: connections of users that
// are no longer known end, and those of the others go on.
func (s *Server) Reload(p *keys.Permissions) error {
	config := s.config
	config.Keys = p
	options, err := config.options()
	if err != nil {
		return err
	}
	if s.nats().Running() { // or else it begins with them
		if err := s.nats().ReloadOptions(options); err != nil {
			return fmt.Errorf("broker: reload: %w", err)
		}
	}
	s.config = config
	return nil
}

// Follow reloads the permissions in a folder of keys whenever they change, until ctx
// ends. Permissions that cannot be read leave those before. Without a folder, "", there is
// nothing to reload. A store of MQTT that could not be written is taken up again when it can.
func (s *Server) Follow(ctx context.Context, dir string, log *slog.Logger) {
	const party = "server"
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	watch, store := keys.Watch{Party: party, Log: log}, mender{Server: s, log: log}
	var seen string
	if dir != "" {
		seen = keys.Stamp(dir, party)
	}
	for {
		if s.config.TLS != nil && dir != "" {
			until, err := keys.Expiry(dir, party)
			watch.See(until, err, time.Now())
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		store.look(time.Now())
		if dir == "" {
			continue
		}
		now := keys.Stamp(dir, party)
		if now == seen {
			continue
		}
		seen = now
		p, err := keys.LoadPermissions(dir)
		if err == nil {
			err = s.Reload(p)
		}
		if err != nil {
			log.Error("the keys changed and cannot be read; those before are in force", "err", err)
			continue
		}
		log.Info("the keys changed and are in force", "users", len(p.Users), "revoked", len(p.Revoked))
	}
}
