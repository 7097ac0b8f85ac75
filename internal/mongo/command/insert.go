package command

import (
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/update"
	"github.com/mayflydb/mayfly/internal/store"
)

// maxWriteBatch is how many writes one command may have.
const maxWriteBatch = 100_000

// One engine batch takes so many documents and bytes of a command at most: large ones stand in
// the way of other writers.
const (
	chunkDocuments = 500
	chunkBytes     = 2 << 20
)

func insert(r *request, a *answer) error {
	name := r.collection()
	documents := r.documents("documents")
	ordered := r.bool("ordered", true)
	if r.err != nil {
		return r.err
	}
	if err := checkBatch(len(documents)); err != nil {
		return err
	}
	c, err := r.findOrCreate(r.db, name)
	if err != nil {
		return err
	}
	r.s.ops.insert.Add(int64(len(documents)))
	w := writer{r: r, c: c, name: name, ordered: ordered}
	w.insertAll(documents)
	if w.failed != nil {
		return w.failed
	}
	a.int32("n", w.n)
	w.report(a)
	return nil
}

func checkBatch(n int) error {
	if n < 1 || n > maxWriteBatch {
		return code.New(code.InvalidLength, "Write batch sizes must be between 1 and %d. Got %d operations.", maxWriteBatch, n)
	}
	return nil
}

// A writer carries out the statements of one command and collects what becomes of them.
type writer struct {
	r       *request
	c       *catalog.Container
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

// report writes the errors of statements.
func (w *writer) report(a *answer) {
	if len(w.errors) == 0 {
		return
	}
	a.array("writeErrors")
	for _, e := range w.errors {
		if err := e.err; a.size() < maxReplyErrors {
			a.writeError(e.index, err)
		} else {
			a.writeError(e.index, code.New(codeOf(err).Code, ""))
		}
	}
	a.close()
}

// maxReplyErrors is after how many bytes of errors an answer has no more than the codes of others.
const maxReplyErrors = 8 << 20

// fail notes that a statement has failed; false when the command goes no further.
func (w *writer) fail(index int, err error) (goOn bool) {
	if w.ends(err) || w.r.tx != nil && code.Is(codeOf(err), code.WriteConflict) {
		w.failed = err
		return false
	}
	w.r.doom()
	if w.r.status == 0 {
		w.r.status = codeOf(err).Code
	}
	w.errors = append(w.errors, statementError{index, err})
	return !w.ordered && w.r.tx == nil
}

// ends reports whether an error is not that of a statement but of the whole command.
func (w *writer) ends(err error) bool {
	if errors.Is(err, errHangUp) {
		return true
	}
	if busy(err) {
		return !w.r.wrote // else it is told what was done
	}
	e := codeOf(err)
	switch e.Code {
	case code.MaxTimeMSExpired, code.Interrupted, code.InterruptedAtShutdown, code.ShutdownInProgress, code.NoSuchTransaction:
		return true
	}
	return false
}

func (w *writer) insertAll(documents []doc.Doc) {
	if viewOf(w.c) != nil {
		err := code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", w.c.Database.Name, w.c.State().Name)
		for i := range documents {
			if !w.fail(i, err) {
				return
			}
		}
		return
	}
	validate, err := w.r.validator(w.c)
	if err != nil {
		w.failed = err
		return
	}
	if err := w.r.reserve(documents); err != nil {
		w.failed = err
		return
	}
	for i, d := range documents {
		body, err := w.r.prepare(d)
		if err == nil && validate != nil {
			err = validate(body)
		}
		if err != nil {
			if !w.flush() || !w.fail(i, err) {
				return
			}
			continue
		}
		w.ops = append(w.ops, store.Op{Verb: store.Create, Key: store.Identity(doc.Lookup(body, "_id")), Body: body, Lenient: true})
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
func (w *writer) flush() (goOn bool) {
	ops, indexes := w.ops, w.indexes
	for size := len(ops); len(ops) > 0; {
		size = min(size, len(ops))
		_, err := w.r.write(w.c, ops[:size])
		var e *store.BatchError
		switch {
		case err == nil:
			w.n += size
			ops, indexes = ops[size:], indexes[size:]
			size *= 2
		case !errors.As(err, &e):
			if !w.again(err) {
				w.failed = err
				return false
			}
		case e.Index > 0 && w.r.tx == nil:
			size = e.Index // those before it
		default:
			w.n += e.Index
			if !w.fail(indexes[e.Index], duplicate(w.c, ops[e.Index].Body, e.Err)) {
				return false
			}
			ops, indexes = ops[e.Index+1:], indexes[e.Index+1:]
			size = 1 // where one fails, more may
		}
	}
	w.ops, w.indexes, w.bytes = w.ops[:0], w.indexes[:0], 0
	return true
}

// again makes the container that is inserted into once more when it was dropped meanwhile.
func (w *writer) again(err error) bool {
	if w.name == "" || w.r.tx != nil || !isNotFound(err) || w.lost >= maxLooks {
		return false
	}
	w.lost++
	w.c, err = w.r.findOrCreate(w.r.db, w.name)
	return err == nil
}

// prepare makes a document ready to be stored: it has an _id, which comes first, and empty
// timestamps become the present.
func (r *request) prepare(d doc.Doc) (doc.Doc, error) {
	if err := update.Check(d); err != nil {
		if code.Is(err, 17420) {
			return nil, code.New(code.BadValue, "object to insert too large. size in bytes: %d, max size: %d", len(d), update.MaxBytes)
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
	if inPlace && !stamps {
		return d, nil
	}
	out := make([]byte, 4, len(d)+21)
	if !hasID {
		out = bsoncore.AppendObjectIDElement(out, "_id", r.s.newObjectID(r.at))
	} else {
		out = doc.AppendElement(out, "_id", doc.Lookup(d, "_id"))
	}
	for name, v := range doc.Members(d) {
		if name == "_id" {
			continue
		}
		if isEmptyStamp(v) && !r.bool("bypassEmptyTsReplacement", false) {
			v = r.s.timestamp(r.at)
		}
		out = doc.AppendElement(out, name, v)
	}
	out = append(out, 0)
	setLength(out, 0)
	return out, nil
}

func isEmptyStamp(v doc.Value) bool {
	return v.Type == bsoncore.TypeTimestamp && len(v.Data) == 8 && [8]byte(v.Data) == [8]byte{}
}

// duplicate makes MongoDB's error of a unique value that another document has.
func duplicate(c *catalog.Container, body doc.Doc, err error) error {
	if e := code.Of(err); e != nil || !isExists(err) {
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
		pattern = slices.Clone(docMember(d.Index.Spec, "key"))
	}
	if pattern == nil {
		pattern = bsoncore.NewDocumentBuilder().AppendInt32("_id", 1).Build()
	}
	value := []byte{0, 0, 0, 0}
	for i, v := range values {
		if i < len(paths) {
			value = doc.AppendElement(value, paths[i], v)
		}
	}
	value = append(value, 0)
	setLength(value, 0)
	e := code.New(code.DuplicateKey, "E11000 duplicate key error collection: %s.%s index: %s dup key: %s",
		c.Database.Name, c.State().Name, name, code.Show(doc.Object(value)))
	e.Info = bsoncore.NewDocumentBuilder().AppendDocument("keyPattern", bsoncore.Document(pattern)).AppendDocument("keyValue", value).Build()
	e.Info = slices.Clone(e.Info)
	return e
}

// isTrue reads a member that is a switch: true or a number that is not zero.
func isTrue(v doc.Value) bool {
	if b, ok := doc.AsBool(v); ok {
		return b
	}
	f, ok := doc.AsFloat(v)
	return ok && f != 0 && v.Type != bsoncore.TypeDecimal128
}

func docMember(d doc.Doc, name string) doc.Doc {
	m, _ := doc.AsDoc(doc.Lookup(d, name))
	return m
}
