package command

// Waiting is how many requests wait for changes.
func (s *Server) Waiting() int64 { return s.Node.Waiting.Load() }
