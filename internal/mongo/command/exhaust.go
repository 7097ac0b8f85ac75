package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// A client that allows it gets the batches of a cursor one after the other, without asking for each: every answer but
// the last says that another one follows.
// https://github.com/mongodb/specifications/blob/master/source/message/OP_MSG.md#exhaustallowed

// streamsBatches reports whether a batch of so many documents is followed by the next one unasked. A cursor
// that awaits documents and has none waits to be asked again.
func streamsBatches(r *request, x *session.Cursor, count int64) bool {
	return r.msg.ExhaustAllowed() && (count > 0 || !x.Awaits)
}

// flagsBefore is how far before the document of an OP_MSG its flags are: 4 bytes, then the kind of the section.
const flagsBefore = 5

// promise says in an answer that another one follows.
func (a *answer) promise() { a.Buf[a.Start()-flagsBefore] |= byte(wire.MoreToCome) }
