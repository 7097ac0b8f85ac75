package command

import "time"

// EndTransactions ends those that are older than an age, as the sweep does.
func (s *Server) EndTransactions(age time.Duration) { s.sessions.endOld(age) }

// Sessions is how many there are.
func (s *Server) Sessions() int {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	return len(s.sessions.of)
}

// OpenTransactions is how many there are, and how many documents they have written.
func (s *Server) OpenTransactions() (n, documents int) {
	s.sessions.guard.Lock()
	defer s.sessions.guard.Unlock()
	return len(s.sessions.open), len(s.sessions.locks)
}

// ForgetReplies drops the answers that are kept for retries.
func (s *Server) ForgetReplies() {
	k := &s.sessions.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.order.Len() > 0 {
		k.forget(k.order.Front().Value.(*reply))
	}
}

// Awaited reports whether someone waits for a transaction.
func (s *Server) Awaited() bool {
	s.sessions.guard.Lock()
	defer s.sessions.guard.Unlock()
	for t := range s.sessions.open {
		if t.awaited {
			return true
		}
	}
	return false
}

// ForgetSessions drops those without a transaction that have not been used since the call.
func (s *Server) ForgetSessions() {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	s.sessions.forgetIdle(s.uptime.Elapsed(), false)
}

// LimitSessions bounds how many there are.
func (s *Server) LimitSessions(n int) {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	s.sessions.most = n
}
