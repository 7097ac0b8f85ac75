package expression

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func typeOf(s *Scope, v doc.Value) (doc.Value, error) { return s.string(code.TypeName(v)) }

func isNumeric(_ *Scope, v doc.Value) (doc.Value, error) { return boolean(doc.IsNumberBSON(v)), nil }
