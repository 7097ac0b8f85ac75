package node

import (
	"context"
	"errors"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/store"
)

// Report is the result of a consistency check.
type Report = store.Report

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
