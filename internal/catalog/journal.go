package catalog

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Where several processes share the data, each revision has an entry in a journal: the keys of the records that it has
// changed. A process that is some revisions behind loads those alone. The journal is only a shortcut: without an entry
// for each revision in between, a process loads everything.

// Limits of the journal.
const (
	journalRevisions = 1_000 // entries that are kept
	journalRecords   = 1_000 // records of one entry, and of all entries that one load follows
)

// An entry is a revision in the journal.
type entry struct {
	Revision uint64   `json:"revision"`
	Records  [][]byte `json:"records"` // their keys
	Many     bool     `json:"many,omitempty"`
}

// journal adds the entry of a revision to its batch, and drops the oldest one.
func (c *Catalog) journal(b *kv.Batch, revision uint64) {
	if !c.shared {
		return
	}
	e := entry{Revision: revision}
	for _, op := range b.Ops {
		if isRecord(op.Key) {
			e.Records = append(e.Records, op.Key)
		}
	}
	if e.Many = len(e.Records) > journalRecords; e.Many {
		e.Records = nil
	}
	b.Set(numberKey(journalKind, revision), encode(e))
	if revision > journalRevisions {
		b.Delete(numberKey(journalKind, revision-journalRevisions))
	}
}

// isRecord reports whether a key is that of a database, a container or a resource.
func isRecord(key []byte) bool {
	kind, _, ok := recordOf(key)
	return ok && (kind == databaseKind || kind == containerKind || kind == resourceKind)
}

// recordOf is the kind of a record and its number.
func recordOf(key []byte) (kind byte, number uint64, ok bool) {
	rest, ok := bytes.CutPrefix(key, keys.System("catalog"))
	switch {
	case !ok:
	case len(rest) == 5:
		return rest[0], uint64(binary.BigEndian.Uint32(rest[1:])), true
	case len(rest) == 9:
		return rest[0], binary.BigEndian.Uint64(rest[1:]), true
	}
	return 0, 0, false
}

// changedSince are the keys of the records that have changed between the revision of the cache and another one, as the
// turn sees them; ok is false if the journal does not tell.
func (c *Catalog) changedSince(ctx context.Context, present uint64) (changed [][]byte, ok bool, err error) {
	known := c.counters.Sequence
	if known == 0 || present < known || present-known > journalRevisions {
		return nil, false, nil
	}
	it, err := c.turn.Iterate(ctx, numberKey(journalKind, known+1), numberKey(journalKind, present+1))
	if err != nil {
		return nil, false, err
	}
	defer it.Close()
	revisions := uint64(0)
	for ; it.Next(); revisions++ {
		var e entry
		if err := decode(it.Value(), &e); err != nil {
			return nil, false, err
		}
		if changed = append(changed, e.Records...); e.Many || len(changed) > journalRecords {
			return nil, false, nil
		}
	}
	slices.SortFunc(changed, bytes.Compare)
	return slices.CompactFunc(changed, bytes.Equal), revisions == present-known, it.Err()
}

// A delta is records that have changed, as they are now. What is not there any more is nil.
type delta struct {
	databases  map[uint32]*Database
	containers map[uint32]*stored
	states     map[uint32]*State
	resources  map[uint64]*Resource
}

// read reads the changed records.
func (c *Catalog) read(ctx context.Context, changed [][]byte) (*delta, error) {
	d := &delta{
		databases: map[uint32]*Database{}, containers: map[uint32]*stored{}, states: map[uint32]*State{},
		resources: map[uint64]*Resource{},
	}
	for _, key := range changed {
		kind, number, ok := recordOf(key)
		var err error
		switch {
		case !ok:
			err = fault.New(fault.Corrupt, "the journal of the catalog has a record that is none")
		case kind == databaseKind:
			d.databases[uint32(number)], err = record[Database](ctx, c.turn, key)
		case kind == containerKind:
			d.containers[uint32(number)], err = record[stored](ctx, c.turn, key)
		case kind == resourceKind:
			d.resources[number], err = record[Resource](ctx, c.turn, key)
		}
		if err != nil {
			return nil, err
		}
	}
	for id, s := range d.containers {
		if s == nil {
			continue
		}
		db, known := d.databases[s.Database]
		if !known {
			db, _ = c.databases.get(s.Database)
		}
		if db == nil {
			return nil, fault.New(fault.Corrupt, "container %d is in no database", s.ID)
		}
		var err error
		if d.states[id], err = c.thaw(s); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// record reads one record, nil if it is not there.
func record[T any](ctx context.Context, r kv.Reader, key []byte) (*T, error) {
	value := new(T)
	found, err := r.Get(ctx, key, func(text []byte) error { return decode(text, value) })
	if err != nil || !found {
		return nil, err
	}
	return value, nil
}

// applyDelta makes the cache what was read, and returns the containers that are no more. What is still there keeps its
// handle. Names go before names come, since one may have passed from one record to another.
func (c *Catalog) applyDelta(d *delta) (gone []*Container) {
	for id, s := range d.containers {
		ct, known := c.containers.get(id)
		if !known {
			continue
		}
		if s == nil || c.byName[containerName(ct.Database, s.Name)] != ct {
			c.forgetName(ct)
		}
		if s == nil {
			c.containers.delete(id)
			markDeleted([]*Container{ct})
			gone = append(gone, ct)
		}
	}
	for id, db := range d.databases {
		if was, known := c.databases.get(id); known && db == nil {
			c.databases.delete(id)
			delete(c.byName, databaseName(was.Name))
		}
	}
	for _, number := range numbers(d.resources) {
		if was, known := c.resources.get(number); known && d.resources[number] == nil {
			c.forgetResources([]*Resource{was})
		} else if known {
			delete(c.byName, resourceName(was.Kind, was.Owner, was.Name))
		}
	}
	for id, db := range d.databases {
		if _, known := c.databases.get(id); db != nil && !known {
			c.rememberDatabase(db)
		}
	}
	for id, s := range d.containers {
		if s == nil {
			continue
		}
		ct, known := c.containers.get(id)
		if !known {
			db, _ := c.databases.get(s.Database)
			ct = c.newContainer(id, db, d.states[id])
			ct.born = s.Born
		}
		ct.replace(d.states[id])
		c.containers.set(id, ct)
		c.byName[containerName(ct.Database, s.Name)] = ct
	}
	for _, number := range numbers(d.resources) {
		r := d.resources[number]
		if was, known := c.resources.get(number); known && r != nil {
			c.exchangeResource(was, r)
		} else if r != nil {
			c.addResource(r)
		}
	}
	return gone
}

// numbers are the numbers of resources, rising: new ones are behind their siblings.
func numbers(resources map[uint64]*Resource) []uint64 {
	list := make([]uint64, 0, len(resources))
	for number := range resources {
		list = append(list, number)
	}
	slices.Sort(list)
	return list
}

// forgetName takes a container's name away. A request may have learned of a later name already.
func (c *Catalog) forgetName(ct *Container) {
	for name, of := range c.byName {
		if of == ct {
			delete(c.byName, name)
		}
	}
}
