package command

import (
	"bytes"
	"cmp"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

func distinct(r *request, a *answer) error {
	name, key := r.Collection(), r.String("key")
	if r.Err == nil && r.Get("key").Type == 0 {
		return code.New(code.MissingFieldOfCommand, "BSON field 'distinct.key' is missing but a required field")
	}
	if r.Err != nil {
		return r.Err
	}
	if err := r.CheckCollation("collation"); err != nil {
		return err
	}
	path, err := filter.ParsePath(key)
	if err != nil {
		return err
	}
	var q query.Selection
	if err := q.Read(&r.Request, "query"); err != nil {
		return err
	}
	if _, err = q.Find(&r.Operation, r.DB, name); err != nil {
		return err
	}
	rows := query.RowsByValue(&r.Operation, &q, key)
	if q.Container != nil && query.ViewOf(q.Container) != nil {
		if rows, err = rowsOfView(r, q.Container, q.Query); err != nil {
			return err
		}
	}
	return writeDistinct(r, a, rows, path)
}

// writeDistinct writes the different values under a path, each element of an array by itself, in the order in which
// they are met.
func writeDistinct(r *request, a *answer, rows pipeline.Rows, path *filter.Path) error {
	seen := map[string]bool{}
	var form []byte
	var failed error
	m := r.Work()
	a.Array("values")
	for d, err := range rows {
		if err != nil {
			return err
		}
		path.Walk(d, filter.Elements, m, func(v doc.Value, _ int) bool {
			if v.Type == 0 {
				return false
			}
			form = doc.AppendCanonicalBSON(form[:0], v)
			_ = m.Spend(work.Operator + work.Scanned(len(form)))
			if seen[string(form)] {
				return false
			}
			if failed = r.Take(len(form) + session.ElementBytes); failed == nil {
				failed = a.Room(len(v.Data) + session.ElementBytes)
			}
			if failed != nil {
				return true
			}
			seen[string(bytes.Clone(form))] = true
			a.Value(a.Index(), v)
			if a.Size() > session.MaxBatchBytes {
				failed = code.New(17217, "distinct too big, 16mb cap")
			}
			return failed != nil
		})
		if failed = cmp.Or(failed, m.Err()); failed != nil {
			return failed
		}
	}
	a.Close()
	return nil
}
