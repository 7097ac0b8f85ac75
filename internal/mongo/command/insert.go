package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// maxWriteBatch is how many writes one command may have.
const maxWriteBatch = 100_000

func insert(r *request, a *answer) error {
	name := r.Collection()
	documents := r.Documents("documents")
	ordered := r.Bool("ordered", true)
	if r.Err != nil {
		return r.Err
	}
	if err := checkBatch(len(documents)); err != nil {
		return err
	}
	c, err := write.FindOrCreate(&r.Operation, r.DB, name)
	if err != nil {
		return err
	}
	r.s.monitor.Writes.Insert.Add(int64(len(documents)))
	w := write.NewWriter(&r.Operation, ordered)
	n, err := w.InsertAll(c, r.DB, name, documents)
	if err != nil {
		return err
	}
	a.Int32("n", n)
	w.Report(&a.Writer)
	return nil
}

func checkBatch(n int) error {
	if n < 1 || n > maxWriteBatch {
		return code.New(code.InvalidLength,
			"Write batch sizes must be between 1 and %d. Got %d operations.", maxWriteBatch, n)
	}
	return nil
}
