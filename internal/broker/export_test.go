package broker

// ClusterAddr is where other servers find this one.
func (s *Server) ClusterAddr() string { return s.nats.ClusterAddr().String() }
