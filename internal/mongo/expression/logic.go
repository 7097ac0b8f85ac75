package expression

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// junction is $and or $or. It evaluates its arguments up to the first one whose truth is decisive.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#boolean-expression-operators
func junction(name string, decisive bool) operator {
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		args, err := arguments(name, arg, 0, many, names, depth)
		if err != nil {
			return nil, err
		}
		return fold(&Expression{run: func(s *Scope) (doc.Value, error) {
			for _, x := range args {
				v, err := x.run(s)
				if err != nil {
					return v, err
				}
				if err := s.spend(work.Operator); err != nil {
					return v, err
				}
				if truthy(v) == decisive {
					return boolean(decisive), nil
				}
			}
			return boolean(!decisive), nil
		}}, args...), nil
	}
}

func not(_ *Scope, v doc.Value) (doc.Value, error) { return boolean(!truthy(v)), nil }
