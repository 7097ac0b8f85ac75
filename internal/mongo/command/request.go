package command

import (
	"context"
	"math"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
	"github.com/mayflydb/mayfly/internal/mongo/work"
	"github.com/mayflydb/mayfly/internal/store"
)

// A request is one command on its way. Methods that read arguments note the first
// mistake in err and give zero values then, so that a command asks for all it wants and
// looks at err once. Arguments share the connection's memory: what outlives the
// request is copied. Strings are copies already.
type request struct {
	s       *Server
	c       *connection
	ctx     context.Context
	msg     *wire.Message
	body    doc.Doc
	name    string // of the command, aliases resolved
	arg     doc.Value
	db      string
	command command
	counted *counted // nil until the command is known

	at  time.Time    // the instant of the request
	now expiry.Stamp // the same

	maxTime    time.Duration
	lsid       doc.Value
	txnNumber  int64
	hasTxn     bool
	autocommit doc.Value
	startsTxn  doc.Value

	readConcern, writeConcern doc.Value
	gossiped                  doc.Value // $clusterTime
	api                       apiParameters
	membership

	done     bool // it has its answer
	edited   int  // bytes that the edits of a write hold
	reserved int  // bytes that are held for the writes to come
	spoilt   bool // what it has read cannot be read again

	answered bool // the command has written ok itself
	more     bool // another answer follows unasked
	help     bool // it asks what the command is, and does not want it run

	meter work.Meter       // see work
	plain expression.Scope // of filters that evaluate nothing

	cancel  context.CancelFunc // of ctx
	watched func()             // ends the watch over the client, nil while there is none

	effect *store.Effect // what it did to lifetimes, nil for nothing

	following bool // it reads a change stream

	since  clock.Stopwatch // since the request arrived
	waited time.Duration   // of that, for something to happen
	opid   int32

	status code.Code // of the error, or of the first one among the statements; 0 for none
	traced traced    // for the log of slow requests

	err error
}

// wrongType says that a member has a type that it must not have.
func (r *request) wrongType(name string, v doc.Value, want string) error {
	return wrongTypeOf(r.name+"."+name, v, want)
}

func wrongTypeOf(field string, v doc.Value, want string) error {
	form := "expected type '%s'"
	if list, ok := strings.CutSuffix(want, "]"); ok {
		form, want = "expected types '%s']", list // version 7.0 puts the quote there: src/mongo/idl/idl_parser.cpp
	}
	return code.New(code.TypeMismatch, "BSON field '%s' is the wrong type '%s', "+form, field, code.TypeName(v), want)
}

func (r *request) fault(err error) {
	if r.err == nil {
		r.err = err
	}
}

// get gives a member of the command; null counts as missing.
func (r *request) get(name string) doc.Value {
	v := doc.Lookup(r.body, name)
	if v.Type == bsoncore.TypeNull {
		return doc.Value{}
	}
	return v
}

// string gives an optional string.
func (r *request) string(name string) string {
	v := r.get(name)
	s, ok := doc.AsString(v)
	if v.Type != 0 && !ok {
		r.fault(r.wrongType(name, v, "string"))
	}
	return strings.Clone(s)
}

// document gives an optional document, nil if there is none.
func (r *request) document(name string) doc.Doc {
	v := r.get(name)
	d, ok := doc.AsDoc(v)
	if v.Type != 0 && !ok {
		r.fault(r.wrongType(name, v, "object"))
	}
	return d
}

// list gives the elements of an optional array.
func (r *request) list(name string) []doc.Value {
	v := r.get(name)
	if v.Type == 0 {
		return nil
	}
	if v.Type != bsoncore.TypeArray {
		r.fault(r.wrongType(name, v, "array"))
		return nil
	}
	var list []doc.Value
	for element := range doc.Elements(v) {
		list = append(list, element)
	}
	return list
}

// documents gives the documents of a required array, which may have come as a sequence.
func (r *request) documents(name string) []doc.Doc {
	if list, ok := r.msg.Sequence(name); ok {
		return list
	}
	v := doc.Lookup(r.body, name)
	if v.Type == 0 {
		r.fault(code.New(code.MissingFieldOfCommand, "BSON field '%s.%s' is missing but a required field", r.name, name))
		return nil
	}
	if v.Type != bsoncore.TypeArray {
		r.fault(r.wrongType(name, v, "array"))
		return nil
	}
	var list []doc.Doc
	i := 0
	for element := range doc.Elements(v) {
		d, ok := doc.AsDoc(element)
		if !ok {
			r.fault(wrongTypeOf(r.name+"."+name+"."+indexName(i), element, "object"))
			return nil
		}
		list = append(list, d)
		i++
	}
	return list
}

// bool gives an optional boolean; numbers count as one.
func (r *request) bool(name string, otherwise bool) bool {
	v := r.get(name)
	if v.Type == 0 {
		return otherwise
	}
	if b, ok := doc.AsBool(v); ok {
		return b
	}
	if f, ok := doc.AsFloat(v); ok {
		return f != 0
	}
	r.fault(r.wrongType(name, v, "[bool, long, int, decimal, double]"))
	return false
}

// valueTooSmall is the code of a number below the least one that a member may have.
const valueTooSmall code.Code = 51024

// int gives an optional whole number of at least low.
func (r *request) int(name string, low int64, otherwise int64) int64 {
	v := r.get(name)
	if v.Type == 0 {
		return otherwise
	}
	n, ok := wholeOf(v)
	if !ok {
		r.fault(r.wrongType(name, v, "[long, int, decimal, double]"))
		return otherwise
	}
	if n < low {
		r.fault(code.New(valueTooSmall, "BSON field '%s' value must be >= %d, actual value '%d'", name, low, n))
		return otherwise
	}
	return n
}

// wholeOf reads a number as MongoDB's long: fractions are cut off.
func wholeOf(v doc.Value) (int64, bool) {
	if n, ok := doc.AsInt64Exact(v); ok {
		return n, true
	}
	f, ok := doc.AsFloat(v)
	switch {
	case !ok:
		return 0, false
	case math.IsNaN(f):
		return 0, true
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(f), true
}
