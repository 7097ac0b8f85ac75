package call

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// ReadVariables reads `let`: constants that expressions of the command may use as $$name.
func ReadVariables(r *Request) (*expression.Names, []doc.Value, error) {
	names := r.NewNames()
	let := r.Document("let")
	if let == nil || r.Err != nil {
		return names, nil, r.Err
	}
	let = slices.Clone(let)
	s := r.Scope(names, nil)
	s.Reset(doc.Object(doc.Empty))
	var vars []doc.Value
	inner := names
	for name, v := range doc.Members(let) {
		x, err := expression.Compile(v, names)
		if err != nil {
			return nil, nil, err
		}
		value, err := x.Evaluate(s)
		if err != nil {
			return nil, nil, err
		}
		if err := inner.Full(); err != nil {
			return nil, nil, err
		}
		var slot int
		inner, slot = inner.With(name)
		for len(vars) <= slot {
			vars = append(vars, doc.Value{})
		}
		vars[slot] = doc.Clone(value)
	}
	return inner, vars, nil
}
