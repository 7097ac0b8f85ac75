package node

import (
	"context"
	"errors"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/store"
)

// Report is the result of a consistency check.
type Report = store.Report

// checked is the result of a check as the admin API shows it.
type checked struct {
	Consistent bool     `json:"consistent"`
	Containers uint64   `json:"containers"`
	Documents  uint64   `json:"documents"` // on disk, expired ones included
	Entries    uint64   `json:"entries"`
	Problems   []string `json:"problems,omitempty"` // the first of them
	Found      int      `json:"problemsFound"`
}

// checkRunning verifies everything that is stored while the node runs.
func (n *Node) checkRunning(ctx context.Context, op *admin.Operation) (any, error) {
	ctx, leave := n.gate.enterLong(ctx)
	defer leave()
	total := int64(0)
	for _, c := range n.catalog.AllContainers() {
		v, err := c.Enter(ctx, n.clock.Now().Unix())
		if err != nil {
			continue // it has just been deleted
		}
		u, err := n.store.Usage(ctx, v)
		if err != nil {
			return nil, err
		}
		total += int64(u.Stored)
	}
	op.Progress(0, total)
	report, err := n.store.CheckWatched(ctx, func(documents uint64) { op.Progress(int64(documents), total) })
	return checked{
		Consistent: err == nil && report.Found == 0, Containers: report.Containers, Documents: report.Documents,
		Entries: report.Entries, Problems: report.Problems, Found: report.Found,
	}, whyEnded(ctx, err)
}

// Check verifies everything that an engine stores, record against index, without a running node. It closes the engine.
func Check(ctx context.Context, engine kv.Engine) (report Report, err error) {
	defer func() { err = errors.Join(err, engine.Close()) }()
	c, err := catalog.Open(ctx, engine, conditions)
	if err != nil {
		return Report{}, err
	}
	s, err := store.Open(ctx, engine, c)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Check(ctx)
}
