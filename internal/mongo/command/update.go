package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// An upsertion is a document that an update has made.
type upsertion struct {
	index int
	id    doc.Value
}

func runUpdate(r *request, a *answer) error {
	name := r.Collection()
	statements := r.Documents("updates")
	ordered := r.Bool("ordered", true)
	if r.Err != nil {
		return r.Err
	}
	if err := checkBatch(len(statements)); err != nil {
		return err
	}
	r.s.monitor.Writes.Update.Add(int64(len(statements)))
	w := write.NewWriter(&r.Operation, ordered)
	var modified int64
	var matched int64
	var upserts []upsertion
	shapes := make([]write.UpdateStatement, len(statements))
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
		u, err := shapes[i].Compile(&r.Request, name)
		if err == nil {
			err = u.Run(&r.Operation)
		}
		if err != nil {
			if !w.Fail(i, err) {
				break
			}
			continue
		}
		matched, modified = matched+u.Matched, modified+u.Modified
		if u.Upserted.Type != 0 {
			upserts = append(upserts, upsertion{i, u.Upserted})
		}
	}
	if err := w.Err(); err != nil {
		return err
	}
	a.Count("n", matched+int64(len(upserts)))
	if len(upserts) > 0 {
		a.Array("upserted")
		for _, u := range upserts {
			a.Object(a.Index())
			a.Int32("index", u.index)
			a.Value("_id", u.id)
			a.Close()
		}
		a.Close()
	}
	a.Count("nModified", modified)
	w.Report(&a.Writer)
	return nil
}
