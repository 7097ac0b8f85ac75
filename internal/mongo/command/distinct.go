package command

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

func distinct(r *request, a *answer) error {
	name, key := r.collection(), r.string("key")
	if r.err == nil && r.get("key").Type == 0 {
		return code.New(code.MissingFieldOfCommand, "BSON field 'distinct.key' is missing but a required field")
	}
	if r.err != nil {
		return r.err
	}
	if err := r.checkCollation("collation"); err != nil {
		return err
	}
	path, err := filter.ParsePath(key)
	if err != nil {
		return err
	}
	var q selection
	if err := r.readSelection(&q, "query"); err != nil {
		return err
	}
	if q.container, err = r.find(r.db, name); err != nil {
		return err
	}
	rows := r.rows(&q)
	if q.container != nil && viewOf(q.container) != nil {
		if rows, err = r.viewRows(q.container, q.query); err != nil {
			return err
		}
	}
	return r.distinct(a, rows, path)
}

// distinct writes the different values under a path, each element of an array by itself, in the order in which
// they are met.
func (r *request) distinct(a *answer, rows pipeline.Rows, path *filter.Path) error {
	seen := map[string]bool{}
	var form []byte
	var failed error
	m := r.work()
	a.array("values")
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
			if failed = r.take(len(form) + elementBytes); failed == nil {
				failed = a.makeRoom(len(v.Data) + elementBytes)
			}
			if failed != nil {
				return true
			}
			seen[string(bytes.Clone(form))] = true
			a.value(a.index(), v)
			if a.size() > maxBatchBytes {
				failed = code.New(17217, "distinct too big, 16mb cap")
			}
			return failed != nil
		})
		if failed = cmpOr(failed, m.Err()); failed != nil {
			return failed
		}
	}
	a.close()
	return nil
}
