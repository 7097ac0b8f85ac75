package admin

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/fault"
)

// mongoTime is how long a command may take, in milliseconds.
const mongoTime = 60_000

// mongo runs a command of the API for MongoDB on a database. An answer that is an error becomes one.
func (a *admin) mongo(ctx context.Context, db string, command bson.D) (bson.Raw, error) {
	command = append(command, bson.E{Key: "$db", Value: db})
	text, err := bson.Marshal(command)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the request cannot be a command of the API for MongoDB")
	}
	answer, err := a.Mongo(ctx, text)
	switch {
	case ctx.Err() != nil:
		return nil, ended(ctx.Err())
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "the API for MongoDB does not answer at present")
	}
	return answer, mongoError(answer)
}

// mongoKinds are the kinds of fault of codes of the API for MongoDB; all others are the sender's mistake.
var mongoKinds = map[int32]fault.Kind{
	1: fault.Internal, 13: fault.Forbidden, 20: fault.Forbidden, 26: fault.NotFound, 43: fault.NotFound,
	48: fault.Exists, 50: fault.Timeout, 64: fault.Undetermined, 68: fault.Exists, 85: fault.Exists, 86: fault.Exists,
	91: fault.Unavailable, 112: fault.Conflict, 115: fault.Unsupported, 146: fault.TooLarge,
	166: fault.Unsupported, 238: fault.Unsupported, 262: fault.Busy, 10334: fault.TooLarge, 11000: fault.Exists,
	11600: fault.Unavailable, 11601: fault.Timeout, 14031: fault.OutOfSpace,
}

// mongoError is the error in an answer: of the command, of its first write that failed, or of its write concern.
func mongoError(answer bson.Raw) error {
	var sent struct {
		OK          float64 `bson:"ok"`
		Code        int32   `bson:"code"`
		Errmsg      string  `bson:"errmsg"`
		WriteErrors []struct {
			Code   int32  `bson:"code"`
			Errmsg string `bson:"errmsg"`
		} `bson:"writeErrors"`
		Concern struct {
			Code   int32  `bson:"code"`
			Errmsg string `bson:"errmsg"`
		} `bson:"writeConcernError"`
	}
	switch err := bson.Unmarshal(answer, &sent); {
	case err != nil:
		return err
	case sent.OK != 1:
		return faultOf(sent.Code, sent.Errmsg)
	case len(sent.WriteErrors) > 0:
		return faultOf(sent.WriteErrors[0].Code, sent.WriteErrors[0].Errmsg)
	case sent.Concern.Code != 0:
		return faultOf(sent.Concern.Code, sent.Concern.Errmsg)
	}
	return nil
}

func faultOf(code int32, message string) error {
	kind, known := mongoKinds[code]
	if !known {
		kind = fault.Invalid
	}
	return fault.New(kind, "%s", message)
}

// A mongoPage is a batch of a cursor.
type mongoPage struct {
	ID    int64
	Batch []bson.Raw
}

// cursorOf is the batch in the answer of find, aggregate, getMore and of lists.
func cursorOf(answer bson.Raw) (page mongoPage, err error) {
	var sent struct {
		Cursor struct {
			ID         int64      `bson:"id"`
			FirstBatch []bson.Raw `bson:"firstBatch"`
			NextBatch  []bson.Raw `bson:"nextBatch"`
		} `bson:"cursor"`
	}
	if err := bson.Unmarshal(answer, &sent); err != nil {
		return page, err
	}
	return mongoPage{sent.Cursor.ID, append(sent.Cursor.FirstBatch, sent.Cursor.NextBatch...)}, nil
}

// bsonOf converts extended JSON, relaxed or canonical: an object. what names it in errors.
func bsonOf(text []byte, what string) (bson.Raw, error) {
	var d bson.Raw
	if err := bson.UnmarshalExtJSON(text, false, &d); err != nil {
		return nil, fault.New(fault.Invalid, "%s is not an object in extended JSON: %s", what, parseText(err))
	}
	return d, nil
}

// parseText is the first cause of an error: the parser wraps it in what is its own.
func parseText(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// valueOf converts extended JSON of any value.
func valueOf(text []byte, what string) (bson.RawValue, error) {
	wrapped := append(append([]byte(`{"v":`), text...), '}')
	d, err := bsonOf(wrapped, what)
	if err != nil {
		return bson.RawValue{}, err
	}
	return d.LookupErr("v")
}

// extendedJSON is a document as extended JSON, relaxed or canonical.
func extendedJSON(d bson.Raw, canonical bool) ([]byte, error) {
	text, err := bson.MarshalExtJSON(d, canonical, false)
	if err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "a document cannot be shown as extended JSON")
	}
	return text, nil
}
