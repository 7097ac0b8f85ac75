package node

import (
	"context"
	"errors"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/store"
)

// Report is what a consistency check found.
type Report = store.Report

// Check holds all that an engine keeps against each other, without a running
// node, and closes the engine.
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
