package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func runDelete(r *request, a *answer) error {
	name := r.Collection()
	statements := r.Documents("deletes")
	ordered := r.Bool("ordered", true)
	if r.Err != nil {
		return r.Err
	}
	if err := checkBatch(len(statements)); err != nil {
		return err
	}
	r.s.monitor.Writes.Delete.Add(int64(len(statements)))
	w := write.NewWriter(&r.Operation, ordered)
	n := int64(0)
	shapes := make([]write.DeleteStatement, len(statements))
	for i, d := range statements {
		if err := shapes[i].Read(d); err != nil {
			return err
		}
	}
	if len(statements) > 1 {
		r.DeferSyncs()
	}
	for i := range shapes {
		r.Retry.Go(i)
		x, err := shapes[i].Compile(&r.Request, name)
		if err == nil {
			err = x.Run(&r.Operation)
		}
		if err == nil {
			n += x.Deleted
		} else if !w.Fail(i, err) {
			break
		}
	}
	if err := w.Err(); err != nil {
		return err
	}
	a.Count("n", n)
	w.Report(&a.Writer)
	return nil
}
