package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// maxWriteBatch is how many writes one command may have.
const maxWriteBatch = 100_000

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
	c, err := write.FindOrCreate(&r.Operation, r.db, name)
	if err != nil {
		return err
	}
	r.s.ops.insert.Add(int64(len(documents)))
	w := write.NewWriter(&r.Operation, ordered)
	n, err := w.InsertAll(c, r.db, name, documents)
	if err != nil {
		return err
	}
	a.Int32("n", n)
	w.Report(&a.Writer)
	return nil
}

func checkBatch(n int) error {
	if n < 1 || n > maxWriteBatch {
		return code.New(code.InvalidLength, "Write batch sizes must be between 1 and %d. Got %d operations.", maxWriteBatch, n)
	}
	return nil
}
