package store

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
)

// A scan of a SnapshotTransaction hands out the documents of its snapshot, without those that the transaction had
// written when the scan began. Those come at the end, whether or not the selection matches their values, because no
// index has them; the language checks its filter on each document anyway. What the transaction writes while the scan is
// under way appears where the scan meets it in the snapshot, if it does. A position says how many operations there were
// at the beginning, so that a scan that resumes there is the same scan.

// An overlay is one such scan.
type overlay struct {
	tx    *ContainerTransaction
	begun uint64           // operations at the beginning
	slots map[uint64]*slot // documents of the snapshot that are written by now
	read  int              // slots of the transaction that were looked at for that
	at    access.Position
}

// Kinds of positions: in the snapshot, and behind a slot.
const (
	inSnapshot byte = iota
	inOverlay
)

const overlayPrefix = 1 + 8

func (tx *ContainerTransaction) scanSnapshotTransaction(
	ctx context.Context, a access.Access, yield func(access.Document, error) bool,
) {
	o := overlay{tx: tx, begun: uint64(len(tx.results)), slots: map[uint64]*slot{}}
	err := o.scan(ctx, a, func(d access.Document) bool { return yield(d, nil) })
	if err != nil && err != errStopped {
		yield(access.Document{}, err)
	}
}

func (o *overlay) scan(ctx context.Context, a access.Access, yield func(access.Document) bool) error {
	ws, from := o.tx.set, -1
	if ws.within.failed != nil {
		return ws.within.failed
	}
	if a.After != nil {
		if len(a.After) < overlayPrefix {
			return ErrPosition
		}
		o.begun = binary.BigEndian.Uint64(a.After[1:])
		kind, rest := a.After[0], a.After[overlayPrefix:]
		if a.After = rest; kind == inOverlay {
			number, ok := rest.Number()
			if !ok {
				return ErrPosition
			}
			from = int(number)
		}
		if len(rest) == 0 {
			a.After = nil
		}
	}
	if from < 0 {
		if err := o.scanSnapshot(ctx, a, yield); err != nil {
			return err
		}
	}
	return o.scanWritten(ctx, a, from, yield)
}

// scanSnapshot hands out the documents of the snapshot.
func (o *overlay) scanSnapshot(ctx context.Context, a access.Access, yield func(access.Document) bool) error {
	ws := o.tx.set
	for d, err := range ws.s.Scan(ctx, ws.v, a) {
		if err != nil {
			if err == catalog.ErrNoOwner {
				err = errLaterState
			}
			return err
		}
		if o.stale() {
			return errLaterState
		}
		base := d.Position
		if sl := o.slotOf(d.Number); sl != nil {
			// It was written before the scan began, so it comes at the end, or not at all.
			if sl.since <= o.begun || sl.record == nil || sl.renewed {
				continue
			}
			d = o.tx.document(sl)
		}
		d.Position = o.position(inSnapshot, base)
		if !yield(d) {
			return errStopped
		}
	}
	if o.stale() {
		return errLaterState
	}
	return nil
}

// stale reports whether the container is another one by now: then the scan may have used
// indexes that the snapshot does not have.
func (o *overlay) stale() bool {
	_, err := o.tx.set.v.Refresh()
	return err != nil
}

// slotOf finds the slot of a document of the snapshot, nil if it is not written.
func (o *overlay) slotOf(number uint64) *slot {
	// The caller may write between two documents of the scan, so new slots are taken in as they come.
	for ws := o.tx.set; o.read < len(ws.slots); o.read++ {
		if sl := ws.slots[o.read]; sl.found {
			o.slots[sl.number] = sl
		}
	}
	if sl := o.slots[number]; sl != nil && sl.written {
		return sl
	}
	return nil
}

// scanWritten hands out the documents that were written before the scan began, behind a slot.
func (o *overlay) scanWritten(ctx context.Context, a access.Access, from int, yield func(access.Document) bool) error {
	ws := o.tx.set
	prefix := []byte(nil)
	if partition, ok := access.ScopeOf(a.Of).(access.Partition); ok {
		prefix = ws.v.Identity().AppendPartition(nil, partition)
	}
	for i := from + 1; i < len(ws.slots); i++ {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		sl := ws.slots[i]
		if !sl.written || sl.since > o.begun || sl.record == nil || !bytes.HasPrefix(sl.partition, prefix) {
			continue
		}
		d := o.tx.document(sl)
		h := keys.Header{Class: classOf(expiry.TTL(d.TTL)), Sequence: d.Sequence, Stamp: d.Stamp, TTL: int32(d.TTL)}
		if dead(ws.v, h, d.Body) { // by a date of its own
			continue
		}
		d.Position = o.position(inOverlay, access.NumberPosition(nil, uint64(i)))
		if !yield(d) {
			return errStopped
		}
	}
	return nil
}

func (o *overlay) position(kind byte, rest access.Position) access.Position {
	o.at = binary.BigEndian.AppendUint64(append(o.at[:0], kind), o.begun)
	o.at = append(o.at, rest...)
	return o.at
}
