package expression

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func init() {
	family := map[string]operator{}
	for _, name := range []string{"$meta", "$function", "$accumulator"} {
		family[name] = func(doc.Value, *Names, int) (*Expression, error) { return nil, code.Unsupported(name) }
	}
	register(family)
}
