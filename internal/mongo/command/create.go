package command

import "github.com/mayflydb/mayfly/internal/mongo/call"

var createFields = call.FieldSet(`capped autoIndexId idIndex size max validator validationLevel validationAction viewOn
	pipeline collation storageEngine indexOptionDefaults timeseries expireAfterSeconds clusteredIndex encryptedFields
	changeStreamPreAndPostImages recordPreImages flags temp`)

func create(r *request, a *answer) error {
	name, s := r.Collection(), r.schema()
	options, err := s.ReadOptions(name)
	if err != nil {
		return err
	}
	return s.Create(name, options)
}
