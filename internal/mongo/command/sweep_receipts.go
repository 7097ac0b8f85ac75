package command

import (
	"time"

	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// receiptTime is how long the receipts of a session are kept after its last write, see session.Recall. It is how long a
// session is kept that nobody uses, after which drivers do not use it any more.
const receiptTime = session.SessionMinutes * time.Minute

// sweepReceipts deletes old receipts now and then, where several processes share the data. Whichever process looks
// first spares the others the work.
func (s *Server) sweepReceipts() {
	if !s.Shares {
		s.sweeping = func() {}
		return
	}
	s.sweeping = s.Clock.Every(receiptTime/2, func(now time.Time) {
		s.o.Gate.Enter()
		defer s.o.Gate.Leave()
		n, err := s.Store.SweepReceipts(s.Running, now.Add(-receiptTime).Unix())
		switch {
		case s.Running.Err() != nil:
		case err != nil:
			s.Log.Error("old receipts of sessions could not be deleted", "error", err)
		case n > 0:
			s.Log.Debug("old receipts of sessions were deleted", "receipts", n)
		}
	})
}
