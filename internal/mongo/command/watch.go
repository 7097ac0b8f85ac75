package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// openStream answers with a change stream.
func (r *request) openStream(a *answer, x *aggregation, arg doc.Value, size int64) error {
	return code.New(40573, "The $changeStream stage is only supported on replica sets")
}
