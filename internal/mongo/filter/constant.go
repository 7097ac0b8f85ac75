package filter

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// alwaysBoolean is {$alwaysTrue: 1} and {$alwaysFalse: 1}.
func alwaysBoolean(_ *compiler, name string, arg doc.Value, _ spot) (condition, error) {
	n, err := wholeNumber(name, arg)
	if err != nil {
		return condition{}, err
	}
	if n != 1 {
		return condition{}, code.New(code.FailedToParse, "%s must be an integer value of 1", name)
	}
	return constant(name == "$alwaysTrue"), nil
}

// comment is {$comment: anything}.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/comment/
func comment(*compiler, string, doc.Value, spot) (condition, error) { return condition{}, nil }
