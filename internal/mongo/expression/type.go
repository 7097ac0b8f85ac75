package expression

import "github.com/mayflydb/mayfly/internal/doc"

func init() {
	register(map[string]operator{
		"$type":     one("$type", func(s *Scope, v doc.Value) (doc.Value, error) { return s.string(typeName(v)) }),
		"$isNumber": one("$isNumber", func(_ *Scope, v doc.Value) (doc.Value, error) { return boolean(isNumber(v)), nil }),
	})
}
