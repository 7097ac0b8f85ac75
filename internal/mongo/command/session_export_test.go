package command

import "time"

// EndTransactions ends those that are older than an age, as the sweep does.
func (s *Server) EndTransactions(age time.Duration) { s.Node.Sessions.EndOld(age) }

// Sessions is how many there are.
func (s *Server) Sessions() int {
	n, _, _ := s.Node.Sessions.Counts()
	return n
}

// OpenTransactions is how many there are, and how many documents they have written.
func (s *Server) OpenTransactions() (n, documents int) {
	_, n, documents = s.Node.Sessions.Counts()
	return n, documents
}

// ForgetReplies drops the answers that are kept for retries.
func (s *Server) ForgetReplies() { s.Node.Sessions.ForgetReplies() }

// Awaited reports whether someone waits for a transaction.
func (s *Server) Awaited() bool { return s.Node.Sessions.AnyAwaited() }

// ForgetSessions drops those without a transaction that have not been used since the call.
func (s *Server) ForgetSessions() { s.Node.Sessions.ForgetUnused() }

// LimitSessions bounds how many there are.
func (s *Server) LimitSessions(n int) { s.Node.Sessions.Limit(n) }
