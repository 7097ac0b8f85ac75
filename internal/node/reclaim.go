package node

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/audit"
)

// adminReaper is the reaper as the admin API uses it.
type adminReaper struct{ n *Node }

// ReclaimNow returns when the space of every expired document is free.
func (r adminReaper) ReclaimNow(ctx context.Context) error { return r.n.ReclaimNow(ctx) }

// Stats returns the reaper's figures in the form of the admin API.
func (r adminReaper) Stats(ctx context.Context) (admin.ReclaimStats, error) {
	r.n.gate.Enter()
	defer r.n.gate.Leave()
	s, err := r.n.reaper.Stats(ctx)
	return admin.ReclaimStats{
		Documents: s.Documents, Bytes: s.Bytes, Entries: s.Entries, Backlog: s.Backlog,
		LagSeconds: int64(s.Lag / time.Second), Paused: s.Paused,
	}, err
}

// Pause stops reclaiming, and writes that to the audit trail.
func (r adminReaper) Pause(ctx context.Context) error {
	return r.audited(ctx, "pause", func() { r.n.reaper.Pause() })
}

// Resume goes on with reclaiming, and writes that to the audit trail.
func (r adminReaper) Resume(ctx context.Context) error {
	return r.audited(ctx, "resume", func() { r.n.reaper.Resume() })
}

func (r adminReaper) audited(ctx context.Context, action string, do func()) error {
	r.n.gate.Enter()
	defer r.n.gate.Leave()
	err := r.n.catalog.Audit(ctx, audit.Event{Action: action, Kind: "reclaiming"})
	if err == nil {
		do()
	}
	return err
}
