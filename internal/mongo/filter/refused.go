package filter

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// refused is an operator of MongoDB that mayfly does not have.
func refused(_ *compiler, name string, _ doc.Value, _ spot) (condition, error) {
	return condition{}, code.Unsupported(name)
}
