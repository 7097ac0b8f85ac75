package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A view is a container that has no documents: a pipeline over another one.
type view struct {
	on     string
	stages []doc.Value
}

// viewOf is the view that a container is, nil when it is none.
func viewOf(c *catalog.Container) *view {
	options := c.State().Echo
	if len(options) == 0 {
		return nil
	}
	on, ok := doc.AsString(doc.Lookup(options, "viewOn"))
	if !ok {
		return nil
	}
	v := &view{on: on}
	for stage := range doc.Elements(doc.Lookup(options, "pipeline")) {
		v.stages = append(v.stages, stage)
	}
	return v
}

// countView counts the rows of a view.
func (r *request) countView(a *answer, c *catalog.Container, q *selection, skip, limit int64) error {
	rows, err := r.viewRows(c, q.query)
	if err != nil {
		return err
	}
	counted := selection{skip: skip, limit: limit}
	n := int64(0)
	for _, err := range counted.cut(rows) {
		if err != nil {
			return err
		}
		n++
	}
	a.count("n", n)
	return nil
}
