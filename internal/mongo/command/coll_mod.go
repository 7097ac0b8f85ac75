package command

import "github.com/mayflydb/mayfly/internal/mongo/call"

var collModFields = call.FieldSet(`index validator validationLevel validationAction viewOn pipeline
	changeStreamPreAndPostImages expireAfterSeconds cappedSize cappedMax dryRun`)

func collMod(r *request, a *answer) error {
	name := r.Collection()
	index := r.Document("index")
	dry := r.Bool("dryRun", false)
	if r.Err != nil {
		return r.Err
	}
	s := r.schema()
	changed, err := s.Modify(name, index, dry)
	if changed == nil || err != nil {
		return err
	}
	changed.Write(&a.Writer)
	s.WriteNote(&a.Writer)
	return nil
}
