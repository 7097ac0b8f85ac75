package expression

import "github.com/mayflydb/mayfly/internal/doc"

func typeOf(s *Scope, v doc.Value) (doc.Value, error) { return s.string(typeName(v)) }

func isNumeric(_ *Scope, v doc.Value) (doc.Value, error) { return boolean(isNumber(v)), nil }
