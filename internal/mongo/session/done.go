package session

import (
	"context"
	"errors"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Retry is a retryable write of which receipts are kept, see Recall. It is used by the goroutine of its operation.
type Retry struct {
	operation *Operation
	number    int64
	loaded    bool
	parts     int // receipts that are known
	done      map[int]Done
	repeated  []int
	last      *store.Receipt // of the write that With has prepared, nil if it leaves none

	statement int // of the command, which is under way
}

// One is what has become of the statement that is under way.
func (r *Retry) One(x Done) []Done {
	x.First, x.Last = r.statement, r.statement
	return []Done{x}
}

// Go notes that a statement of the command begins.
func (r *Retry) Go(statement int) {
	if r != nil {
		r.statement = statement
	}
}

// Done is what has become of consecutive statements of a retryable write that have changed something. They count from 0
// in their command.
type Done struct {
	First, Last int
	Matched     int64
	Modified    int64
	Upserted    doc.Value // _id of the document that an upsert has made; the zero Value if it has made none
	Image       doc.Doc   // the document that a findAndModify answers with, nil for none
}

// ErrDone says that another attempt has done a statement of the write. Retry.Done then has what became of it.
var ErrDone = store.ErrReceipted

// Load learns what has been done of the write.
func (r *Retry) Load() error {
	o := r.operation
	bodies, committed, err := o.Node.Store.Receipts(o.Context, o.Session.owner(), r.number)
	if err == nil && committed {
		err = &store.OutnumberedError{Number: r.number, Transaction: true}
	}
	if err != nil {
		return outnumbered(o.Session, r.number, err)
	}
	r.loaded, r.parts = true, len(bodies)
	for _, body := range bodies {
		for v := range doc.Elements(doc.Lookup(body, "done")) {
			d, ok := doc.AsDoc(v)
			if !ok {
				return errors.New("a receipt cannot be read")
			}
			x := readDone(d)
			for i := x.First; i <= x.Last; i++ {
				r.done[i] = x
			}
		}
	}
	return nil
}

// Found gives what has become of the statement that is under way before this attempt, false if it has yet to be done.
func (r *Retry) Found() (Done, bool) {
	if r == nil {
		return Done{}, false
	}
	return r.Find(r.statement)
}

// FoundAfterAll is Found for a statement that has nothing to do. Nothing was asked about an earlier attempt yet, which
// may have done what there was to do.
func (r *Retry) FoundAfterAll() (Done, bool, error) {
	if r == nil || r.loaded {
		return Done{}, false, nil
	}
	if err := r.Load(); err != nil {
		return Done{}, false, err
	}
	x, ok := r.Found()
	return x, ok, nil
}

// Find is Found for any statement.
func (r *Retry) Find(statement int) (Done, bool) {
	if r == nil {
		return Done{}, false
	}
	x, ok := r.done[statement]
	if ok {
		r.repeated = append(r.repeated, statement)
	}
	return x, ok
}

// Repeated are the statements that Find has found.
func (r *Retry) Repeated() []int {
	if r == nil {
		return nil
	}
	return r.repeated
}

// With returns a context for a write that leaves a receipt of what tell says when the operations have been done.
func (r *Retry) With(ctx context.Context, tell func() []Done) context.Context {
	if r == nil {
		return ctx
	}
	r.last = nil
	if tell == nil {
		return ctx
	}
	r.last = &store.Receipt{
		Owner: r.operation.Session.owner(), Number: r.number, Parts: r.parts,
		Body: func() []byte { return writeDone(tell()) },
	}
	return store.WithReceipt(ctx, r.last)
}

// Wrote is told how a write that With has prepared has ended. It gives the error that the command goes on with.
func (r *Retry) Wrote(err error) error {
	switch {
	case r == nil || r.last == nil:
	case err == nil && r.last.Left:
		r.parts++
	case err == nil:
	case errors.Is(err, ErrDone):
		if err := r.Load(); err != nil {
			return err
		}
	default:
		return outnumbered(r.operation.Session, r.number, err)
	}
	return err
}

func writeDone(list []Done) []byte {
	w := doc.NewWriter(nil)
	w.Array("done")
	for _, x := range list {
		w.Object(w.Index())
		w.Int32("first", x.First)
		w.Int32("last", x.Last)
		w.Int64("matched", x.Matched)
		w.Int64("modified", x.Modified)
		if x.Upserted.Type != 0 {
			w.Value("upserted", x.Upserted)
		}
		if x.Image != nil {
			w.Doc("image", x.Image)
		}
		w.Close()
	}
	w.Close()
	return w.End()
}

func readDone(d doc.Doc) (x Done) {
	whole := func(name string) int64 {
		n, _ := doc.AsInt64Exact(doc.Lookup(d, name))
		return n
	}
	x.First, x.Last = int(whole("first")), int(whole("last"))
	x.Matched, x.Modified = whole("matched"), whole("modified")
	x.Upserted = doc.Lookup(d, "upserted")
	x.Image, _ = doc.AsDoc(doc.Lookup(d, "image"))
	return x
}
