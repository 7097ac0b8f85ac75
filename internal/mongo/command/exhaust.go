package command

import "github.com/mayflydb/mayfly/internal/mongo/wire"

// A client that allows it gets the batches of a cursor one after the other, without asking for each: every answer but
// the last says that another one follows.
// https://github.com/mongodb/specifications/blob/master/source/message/OP_MSG.md#exhaustallowed

// streams reports whether the next batch is sent unasked, after one of count documents. A cursor that awaits documents,
// and has none, waits for the next getMore instead.
func (r *request) streams(x *cursor, count int64) bool {
	return r.msg.ExhaustAllowed() && (count > 0 || !x.await)
}

// flagsBefore is how far before the document of an OP_MSG its flags are: 4 bytes, then the kind of the section.
const flagsBefore = 5

// promise marks an answer: another one follows.
func (a *answer) promise() { a.buf[a.start-flagsBefore] |= byte(wire.MoreToCome) }
