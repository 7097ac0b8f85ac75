package node

import (
	"context"

	"github.com/mayflydb/mayfly/internal/kv"
)

// A memoryShelf keeps copies of an engine in memory, which share what has not changed. It is used under Node.moving.
type memoryShelf struct{ kept map[string]keptSnapshot }

// A keptSnapshot is one snapshot.
type keptSnapshot struct {
	Snapshot
	engine kv.Engine // nobody writes it
}

func (m *memoryShelf) save(_ context.Context, engine kv.Engine, s *Snapshot) error {
	c, err := engine.(kv.Copier).Copy()
	if err != nil {
		return err
	}
	if sizer, ok := c.(kv.Sizer); ok {
		s.Bytes = sizer.Load().MemoryBytes
	}
	m.kept[s.Name] = keptSnapshot{*s, c}
	return nil
}

func (m *memoryShelf) open(_ context.Context, name string) (*opened, error) {
	k, ok := m.kept[name]
	if !ok {
		return nil, errNoSnapshot(name)
	}
	engine, err := k.engine.(kv.Copier).Copy()
	nothing := func() error { return nil }
	return &opened{Snapshot: k.Snapshot, engine: engine, take: nothing, remove: nothing, discard: nothing}, err
}

func (m *memoryShelf) list() (all []Snapshot, _ error) {
	for _, k := range m.kept {
		all = append(all, k.Snapshot)
	}
	return all, nil
}

func (m *memoryShelf) delete(name string) error {
	if _, ok := m.kept[name]; !ok {
		return errNoSnapshot(name)
	}
	defer delete(m.kept, name)
	return m.kept[name].engine.Close()
}
