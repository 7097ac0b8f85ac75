package command

// AwaitingTopology is how many hellos wait for another topology.
func (s *Server) AwaitingTopology() int64 { return s.awaiting.Load() }
