package store

import (
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Container is the catalog's handle, for packages that import only the store.
type Container = catalog.Container

// Containers lists all containers in order of creation. Where several processes share the data, each begins at another
// place of that order, so that processes which look for work at the same time share it.
func (s *Store) Containers() []*catalog.Container {
	all := s.catalog.AllContainers()
	if !s.catalog.Shared() || len(all) == 0 {
		return all
	}
	first := s.first % uint64(len(all))
	return slices.Concat(all[first:], all[:first])
}

// Backlog is the usage of one container at now, for the reaper. Like a Survey, it counts documents that a date has
// ended by their entries in the index.
func (s *Store) Backlog(ctx context.Context, c *catalog.Container, now expiry.Stamp) (Usage, error) {
	v, err := c.Enter(ctx, now)
	if err != nil {
		return Usage{}, err
	}
	return s.usage(ctx, v, true)
}

// Load is what the engine reports about itself, zero if it reports nothing.
func (s *Store) Load() kv.Load {
	if engine, ok := s.engine.(kv.Sizer); ok {
		return engine.Load()
	}
	return kv.Load{}
}

// Settle gives the disk space of reclaimed documents back now, where the
// engine can; otherwise it comes back by itself, later.
func (s *Store) Settle(ctx context.Context, c *catalog.Container) error {
	engine, ok := s.engine.(kv.Compacter)
	if !ok {
		return nil
	}
	lower, upper := keys.ContainerBounds(c.ID)
	return engine.Compact(ctx, lower, upper)
}
