package call

import "github.com/mayflydb/mayfly/internal/mongo/code"

// NeedsSet is the error for what only a replica set has: MongoDB's text, and what to do.
func NeedsSet(c code.Code, format string, args ...any) error {
	return code.New(c, format+" This mayfly is stand-alone, because --mongo-replset is empty: "+
		"leave that setting out, or give it a name.", args...)
}
