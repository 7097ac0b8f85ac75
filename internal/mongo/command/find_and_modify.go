package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func findAndModify(r *request, a *answer) error {
	m, err := write.ReadFindAndModify(&r.Request)
	if err != nil {
		return err
	}
	if err := m.Run(&r.Operation); err != nil {
		return within("Plan executor error during findAndModify", err)
	}
	a.Object("lastErrorObject")
	switch {
	case m.Remove:
		a.Count("n", m.Matched)
	default:
		n := m.Matched
		if m.Upserted.Type != 0 {
			n++
		}
		a.Count("n", n)
		a.Bool("updatedExisting", m.Matched > 0)
		a.Value("upserted", m.Upserted)
	}
	a.Close()
	if m.Value == nil {
		a.Null("value")
		return nil
	}
	value, err := m.Projected(&r.Operation)
	if err != nil {
		return err
	}
	a.Doc("value", value)
	return nil
}
