package broker

import "github.com/nats-io/nats-server/v2/server"

// ClusterAddr is where other servers find this one.
func (s *Server) ClusterAddr() string { return s.nats().ClusterAddr().String() }

// streams returns the parts of the store.
func (s *Server) streams() (list []server.StreamDetail) {
	info, err := s.nats().Jsz(&server.JSzOptions{Accounts: true, Streams: true, Config: true})
	if err != nil {
		return nil
	}
	for _, account := range info.AccountDetails {
		list = append(list, account.Streams...)
	}
	return list
}

// StoreBounds returns how many bytes each part of the store may take, by its name.
func (s *Server) StoreBounds() map[string]int64 {
	bounds := map[string]int64{}
	for _, part := range s.streams() {
		bounds[part.Name] = part.Config.MaxBytes
	}
	return bounds
}

// StoreMessages returns how many messages a part of the store holds.
func (s *Server) StoreMessages(name string) int {
	for _, part := range s.streams() {
		if part.Name == name {
			return int(part.State.Msgs)
		}
	}
	return 0
}

// StoreUsed returns how many bytes are stored.
func (s *Server) StoreUsed() (bytes uint64) {
	for _, part := range s.streams() {
		bytes += part.State.Bytes
	}
	return bytes
}
