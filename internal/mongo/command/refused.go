package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

// The help of commands that exist in MongoDB or Cosmos DB and not in mayfly (D-60). They answer CommandNotSupported,
// where a name that nobody knows answers CommandNotFound.
const (
	refused      = "Is not supported by mayfly."
	refusedRoles = "Is refused: there are only built-in roles."
)

func refuse(r *request, _ *answer) error { return code.Unsupported("the command " + r.Name) }

// refuseRoles refuses commands about roles other than the built-in ones.
func refuseRoles(r *request, _ *answer) error { return code.Unsupported(r.Name) }

// refuseSearch refuses the commands of Atlas Search.
func refuseSearch(*request, *answer) error { return code.NoSearchIndexes() }
