package write

import (
	"bytes"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/update"
	"github.com/mayflydb/mayfly/internal/store"
)

// One engine batch takes so many documents and bytes of a command at most: large ones stand in
// the way of other writers.
const (
	chunkDocuments = 500
	chunkBytes     = 2 << 20
)

// A Writer carries out the statements of one command and collects what becomes of them.
type Writer struct {
	o       *session.Operation
	c       *catalog.Container
	db      string
	name    string // of c, which is made when it is not there; "" if it must be there
	lost    int    // how often it was not
	ordered bool
	n       int
	errors  []statementError
	failed  error // ends the whole command

	ops     []store.Op
	indexes []int // of the statements of ops
	bytes   int
}

type statementError struct {
	index int
	err   error
}

// Report writes the errors of statements.
func (w *Writer) Report(a *doc.Writer) {
	if len(w.errors) == 0 {
		return
	}
	a.Array("writeErrors")
	for _, e := range w.errors {
		if err := e.err; a.Size() < maxReplyErrors {
			writeError(a, e.index, err)
		} else {
			// The codes always fit, so a client learns of every statement that failed.
			writeError(a, e.index, code.New(session.CodeOf(err).Code, ""))
		}
	}
	a.Close()
}

// maxReplyErrors is after how many bytes of errors an answer has no more than the codes of others.
const maxReplyErrors = 8 << 20

// Fail notes that a statement has failed; false when the command goes no further.
func (w *Writer) Fail(index int, err error) (goOn bool) {
	if w.ends(err) || w.o.Transaction != nil && code.Is(session.CodeOf(err), code.WriteConflict) {
		w.failed = err
		return false
	}
	// In a transaction, any failed statement aborts the whole.
	w.o.Doom()
	if w.o.Status == 0 {
		w.o.Status = session.CodeOf(err).Code
	}
	w.errors = append(w.errors, statementError{index, err})
	return !w.ordered && w.o.Transaction == nil
}

// ends reports whether an error is not that of a statement but of the whole command.
func (w *Writer) ends(err error) bool {
	if errors.Is(err, session.ErrHangUp) || session.Undetermined(err) {
		return true
	}
	if session.Busy(err) {
		return !w.o.Wrote // else it is told what was done
	}
	e := session.CodeOf(err)
	switch e.Code {
	case code.MaxTimeMSExpired, code.Interrupted, code.InterruptedAtShutdown, code.ShutdownInProgress,
		code.NoSuchTransaction, code.TransactionTooOld, code.ConflictingOperationInProgress:
		return true
	}
	return false
}

// Err is what ends the whole command, nil where statements alone have failed.
func (w *Writer) Err() error { return w.failed }

// NewWriter collects what becomes of the statements of a command. An ordered one stops at the first that fails.
func NewWriter(o *session.Operation, ordered bool) *Writer { return &Writer{o: o, ordered: ordered} }

// InsertAll inserts documents into a container, which it makes again when it is dropped. It tells how many it has
// inserted.
func (w *Writer) InsertAll(c *catalog.Container, db, name string, documents []doc.Doc) (n int, err error) {
	w.c, w.db, w.name = c, db, name
	w.insertEach(documents)
	return w.n, w.failed
}

func (w *Writer) insertEach(documents []doc.Doc) {
	if query.ViewOf(w.c) != nil {
		err := code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection",
			w.c.Database.Name, w.c.State().Name)
		for i := range documents {
			if !w.Fail(i, err) {
				return
			}
		}
		return
	}
	validate, err := ValidatorOf(w.o, w.c)
	if err != nil {
		w.failed = err
		return
	}
	// Memory is taken before the first document is written: the command is refused as a whole or not at all.
	if err := reserveInsert(w.o, documents); err != nil {
		w.failed = err
		return
	}
	for i, d := range documents {
		if _, ok := w.o.Retry.Find(i); ok {
			w.n++
			continue
		}
		body, err := prepareDocument(w.o, d)
		if err == nil && validate != nil {
			err = validate(body)
		}
		if err != nil {
			// Documents before this one are written first, so that an ordered insert stops exactly here.
			if !w.flush() || !w.Fail(i, err) {
				return
			}
			continue
		}
		w.ops = append(w.ops,
			store.Op{Verb: store.Create, Key: store.Identity(doc.Lookup(body, "_id")), Body: body, Lenient: true})
		w.indexes = append(w.indexes, i)
		if w.bytes += len(body); len(w.ops) >= chunkDocuments || w.bytes >= chunkBytes {
			if !w.flush() {
				return
			}
		}
	}
	w.flush()
}

// flush writes the operations that wait. One that fails takes no other with it.
func (w *Writer) flush() (goOn bool) {
	ops, indexes := w.ops, w.indexes
	for size := len(ops); len(ops) > 0; {
		size = min(size, len(ops))
		_, err := applyOnce(w.o, w.c, ops[:size], w.tell(indexes[:size]))
		var e *store.BatchError
		switch {
		case err == session.ErrDone:
			ops, indexes = w.remaining(ops, indexes)
		case err == nil:
			w.n += size
			ops, indexes = ops[size:], indexes[size:]
			// Errors often come together. After one, batches start small and grow while they succeed.
			size *= 2
		case !errors.As(err, &e):
			if !w.again(err) {
				w.failed = err
				return false
			}
		case e.Index > 0 && w.o.Transaction == nil:
			// A batch is all or nothing. So the documents before the bad one go in a batch of their own, then the bad
			// one fails alone.
			size = e.Index // those before it
		default:
			w.n += e.Index
			if !w.Fail(indexes[e.Index], Duplicate(w.c, ops[e.Index].Body, e.Err)) {
				return false
			}
			ops, indexes = ops[e.Index+1:], indexes[e.Index+1:]
			size = 1 // where one fails, more may
			w.o.DeferSyncs()
		}
	}
	w.ops, w.indexes, w.bytes = w.ops[:0], w.indexes[:0], 0
	return true
}

// tell says that the statements of indexes are done, for a retry; nil if nobody wants to know.
func (w *Writer) tell(indexes []int) func() []session.Done {
	if w.o.Retry == nil {
		return nil
	}
	return func() (list []session.Done) {
		for _, i := range indexes {
			if n := len(list); n > 0 && list[n-1].Last == i-1 {
				list[n-1].Last = i
				continue
			}
			list = append(list, session.Done{First: i, Last: i})
		}
		return list
	}
}

// remaining are the operations that no other attempt has done.
func (w *Writer) remaining(ops []store.Op, indexes []int) (_ []store.Op, _ []int) {
	left := ops[:0:0]
	var of []int
	for i, index := range indexes {
		if _, ok := w.o.Retry.Find(index); ok {
			w.n++
			continue
		}
		left, of = append(left, ops[i]), append(of, index)
	}
	return left, of
}

// again makes the container that is inserted into once more when it was dropped during the write.
func (w *Writer) again(err error) bool {
	if w.name == "" || w.o.Transaction != nil || fault.KindOf(err) != fault.NotFound || w.lost >= maxLooks {
		return false
	}
	w.lost++
	// An insert creates a missing container, also one that went missing just now.
	w.c, err = FindOrCreate(w.o, w.db, w.name)
	return err == nil
}

// prepareDocument makes a document ready to be stored: it has an _id, which comes first, and empty
// timestamps become the present.
func prepareDocument(o *session.Operation, d doc.Doc) (doc.Doc, error) {
	if err := update.Check(d); err != nil {
		if code.Is(err, 17420) {
			return nil, code.New(code.BadValue, "object to insert too large. size in bytes: %d, max size: %d", len(d),
				update.MaxBytes)
		}
		return nil, err
	}
	first, hasID, stamps := true, false, false
	inPlace := false
	for name, v := range doc.Members(d) {
		if name == "_id" {
			if hasID {
				return nil, code.New(code.BadValue, "can't have multiple _id fields in one document")
			}
			hasID, inPlace = true, first
		}
		stamps = stamps || isEmptyStamp(v)
		first = false
	}
	// Most drivers send the _id first and no empty timestamps. Then the body is stored as it is, without a copy.
	if inPlace && !stamps {
		return d, nil
	}
	start, out := bsoncore.AppendDocumentStart(make([]byte, 0, len(d)+21))
	if !hasID {
		out = bsoncore.AppendObjectIDElement(out, "_id", o.Node.NewObjectID(o.At))
	} else {
		out = doc.AppendElement(out, "_id", doc.Lookup(d, "_id"))
	}
	for name, v := range doc.Members(d) {
		if name == "_id" {
			continue
		}
		if isEmptyStamp(v) && !o.Host.Option("bypassEmptyTsReplacement") {
			v = o.Node.Timestamp(o.At)
		}
		out = doc.AppendElement(out, name, v)
	}
	out, _ = bsoncore.AppendDocumentEnd(out, start)
	return out, nil
}

func isEmptyStamp(v doc.Value) bool {
	return v.Type == bsoncore.TypeTimestamp && len(v.Data) == 8 && [8]byte(v.Data) == [8]byte{}
}

// Duplicate makes MongoDB's error of a unique value that another document has.
func Duplicate(c *catalog.Container, body doc.Doc, err error) error {
	// An error that has MongoDB's code already was translated where it arose.
	if e := code.Of(err); e != nil || fault.KindOf(err) != fault.Exists {
		return err
	}
	name, pattern, values := "_id_", doc.Doc(nil), []doc.Value{doc.Lookup(body, "_id")}
	paths := []string{"_id"}
	var d *store.Duplicate
	if errors.As(err, &d) {
		name, values, paths = d.Index.Name, d.Values, nil
		for _, column := range d.Index.Columns {
			paths = append(paths, column.Path)
		}
		pattern = bytes.Clone(doc.Lookup(d.Index.Spec, "key").Data)
	}
	if pattern == nil {
		pattern = bsoncore.NewDocumentBuilder().AppendInt32("_id", 1).Build()
	}
	w := doc.NewWriter(nil)
	for i, v := range values {
		if i < len(paths) {
			w.Value(paths[i], v)
		}
	}
	value := w.End()
	e := code.New(code.DuplicateKey, "E11000 duplicate key error collection: %s.%s index: %s dup key: %s",
		c.Database.Name, c.State().Name, name, code.Show(doc.Object(value)))
	e.Info = bsoncore.NewDocumentBuilder().
		AppendDocument("keyPattern", bsoncore.Document(pattern)).
		AppendDocument("keyValue", value).
		Build()
	e.Info = slices.Clone(e.Info)
	return e
}

// writeError writes an element of writeErrors.
func writeError(a *doc.Writer, index int, err error) {
	e := session.CodeOf(err)
	a.Object(a.Index())
	a.Int32("index", index)
	a.Int32("code", int(e.Code))
	a.String("errmsg", e.Message)
	a.Members(e.Info)
	a.Close()
}

// first is why the writer has stopped.
func (w *Writer) first() error {
	if w.failed == nil && len(w.errors) > 0 {
		return w.errors[0].err
	}
	return w.failed
}
