package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/store"
)

// maxBatch is the largest number of operations in a batch or bulk request, the same as the service's.
const maxBatch = 100

// hybridRow is the first byte of a body in the binary row format of the .NET SDK.
const hybridRow = 0x81

var (
	errManyOperations = fault.New(fault.Invalid,
		"Batch request has more operations than what is supported. Send at most %d in one request.", maxBatch)
	errNoOperations = fault.New(fault.Invalid, "Batch request has no operations. Send an array with at least one.")
	errHybridRow    = fault.New(fault.Unsupported, "Batch and bulk requests in the HybridRow form of the .NET SDK "+
		"are not built yet. Send a JSON array, or single requests.")
)

// postBatch runs the operations of one request: a transactional batch on one partition, or a bulk request with
// independent operations.
func postBatch(e *exchange) (status int, err error) {
	body, err := e.bodyThenClock()
	if err != nil {
		return 0, err
	}
	v, err := e.enterItems()
	if err != nil {
		return 0, err
	}
	if len(body) > 0 && body[0] == hybridRow {
		return 0, errHybridRow
	}
	text, err := payloadText(body)
	if err != nil {
		return 0, err
	}
	list, err := parseOperations(e.Context(), v, text)
	if err != nil {
		return 0, err
	}
	if strings.EqualFold(strings.TrimSpace(e.given(hBatchAtomic)), "false") {
		return bulk(e, v, list)
	}
	partition, err := e.onePartition(v.State)
	if err != nil {
		return 0, err
	}
	return transact(e, v, partition, list)
}

// An operation is one entry of a batch or bulk request.
type operation struct {
	store.Op
	partition string // bulk only: the text of the partition key
	err       error  // a mistake found before the store was asked
	status    int    // the result and its cost
	ru        float64
	hint      hint.Hint // bulk only: about the item that was written
}

// parseOperations parses the array of a request. A malformed entry fails the whole request; an entry with invalid
// content fails only its own operation.
func parseOperations(ctx context.Context, v catalog.View, text []byte) ([]operation, error) {
	var list []operation
	for entry, err := range doc.ArrayFromJSON(text, doc.ParseOptions{}) {
		if err != nil {
			return nil, docFault(err)
		}
		if len(list) == maxBatch {
			return nil, errManyOperations
		}
		op, err := parseOperation(ctx, v, entry)
		if err != nil {
			return nil, err
		}
		list = append(list, op)
	}
	if len(list) == 0 {
		return nil, errNoOperations
	}
	return list, nil
}

var verbs = map[string]store.Verb{
	"create": store.Create, "upsert": store.Upsert, "read": store.Read,
	"delete": store.Delete, "replace": store.Replace, "patch": store.Patch,
}

func parseOperation(ctx context.Context, v catalog.View, entry doc.Value) (op operation, err error) {
	fields, ok := doc.AsDoc(entry)
	if !ok {
		return op, fault.New(fault.Invalid,
			"The request payload is invalid. Each operation of a batch is a JSON object.")
	}
	kind, _ := doc.AsString(doc.Lookup(fields, "operationType"))
	if op.Verb, ok = verbs[strings.ToLower(kind)]; !ok {
		return op, fault.New(fault.Invalid, "The operationType '%s' of a batch operation is not one of Create, "+
			"Upsert, Read, Delete, Replace and Patch.", clip(kind))
	}
	op.IfMatch = entryETag(fields, "ifMatch")
	op.IfNoneMatch = entryETag(fields, "ifNoneMatch")
	op.partition = partitionText(doc.Lookup(fields, "partitionKey"))
	if id := doc.Lookup(fields, "id"); present(fields, "id") {
		if op.Key.ID, ok = doc.AsString(id); !ok {
			op.err = wrongID(id, maxID+1)
			return op, nil
		}
	}
	op.err = op.readBody(ctx, v, doc.Lookup(fields, "resourceBody"))
	return op, nil
}

// entryETag parses an ETag of an entry. It is nil if there is none.
func entryETag(fields doc.Doc, name string) *access.Version {
	text, _ := doc.AsString(doc.Lookup(fields, name))
	return parseETag(text)
}

// partitionText is a partition key as JSON text. SDKs send that text in a string.
func partitionText(v doc.Value) string {
	if text, ok := doc.AsString(v); ok || doc.IsUndefined(v) {
		return text
	}
	return string(doc.AppendJSONValue(nil, v))
}

// readBody parses the body of an entry and checks its id.
func (op *operation) readBody(ctx context.Context, view catalog.View, v doc.Value) (err error) {
	switch op.Verb {
	case store.Create, store.Upsert, store.Replace:
		body, ok := doc.AsDoc(v)
		if !ok {
			return fault.New(fault.Invalid, "The resourceBody of the operation is not a JSON object.")
		}
		op.Body = doc.Without(body, systemMembers...)
		id, err := idOf(op.Body)
		if err == nil && op.Verb == store.Replace && op.Key.ID != "" && op.Key.ID != id {
			err = errOtherID
		}
		op.Key.ID = id
		return err
	case store.Patch:
		p, err := parsePatch(ctx, view, v)
		if err != nil {
			return err
		}
		op.Edit = p.edit
	}
	switch {
	case op.Key.ID == "":
		return errNoID
	case len(op.Key.ID) > maxID:
		return errLongID
	}
	return nil
}

// transact runs the operations in one transaction.
func transact(e *exchange, v catalog.View, partition []doc.Value, list []operation) (status int, err error) {
	ops := make([]store.Op, len(list))
	for i := range list {
		list[i].Key.Partition = partition
		if list[i].err != nil {
			return failBatch(e, len(list), i, list[i].err), nil
		}
		ops[i] = list[i].Op
	}
	results, err := e.api.store.WriteAll(e.Context(), e.container, v.Now, ops)
	if failed, ok := errors.AsType[*store.BatchError](err); ok && !isInternal(failed.Err) {
		return failBatch(e, len(list), failed.Index, batchTooLarge(failed.Err)), nil
	}
	if err != nil {
		return 0, err
	}
	setReadVersions(ops, results)
	var hints hintSummary
	e.reply = append(e.reply, '[')
	for i := range results {
		if i > 0 {
			e.reply = append(e.reply, ',')
		}
		list[i].status, list[i].ru = outcomeOf(list[i].Verb, &results[i])
		appendSuccess(e, v.Container, &list[i], &results[i])
		if writes(list[i].Verb) {
			hints.add(i, e.writeHint(v, &results[i].Document))
		}
	}
	hints.send(e)
	e.reply = append(e.reply, ']')
	return http.StatusOK, nil
}

// setReadVersions sets the version in the result of a read that follows a write of the same item in the batch: that
// version is assigned at the commit, after the read.
func setReadVersions(ops []store.Op, results []store.Result) {
	written := map[string]int{}
	for i, op := range ops {
		if op.Verb != store.Read {
			written[op.Key.ID] = i
		} else if by, ok := written[op.Key.ID]; ok {
			results[i].Document = results[by].Document
		}
	}
}

// failBatch answers a batch in which one operation failed, so that none took effect.
func failBatch(e *exchange, count, culprit int, err error) (status int) {
	e.reply = append(e.reply, '[')
	for i := range count {
		if i > 0 {
			e.reply = append(e.reply, ',')
		}
		if i == culprit {
			appendFailure(e, err)
		} else {
			appendSkipped(e)
		}
	}
	e.reply = append(e.reply, ']')
	e.charge(1)
	return http.StatusMultiStatus
}

// batchTooLarge adds the substatus answerTooLarge when a transaction holds too much data. A single item that is too
// large has no substatus.
func batchTooLarge(err error) error {
	if fault.KindOf(err) != fault.TooLarge || err == errTooLarge {
		return err
	}
	return coded{err, answerTooLarge}
}

// answerTooLarge is the substatus that makes SDKs send an operation of a bulk request again in another request.
const answerTooLarge = 3402

// appendSuccess appends the entry of a successful operation and adds its cost to the request.
func appendSuccess(e *exchange, c *catalog.Container, op *operation, result *store.Result) {
	appendEntry(e, op.status, 0, op.ru)
	e.addCharge(op.ru)
	if op.Verb != store.Delete {
		e.reply = appendQuotedETag(append(e.reply, `,"eTag":`...), result.Version)
		if showsBody(op.Verb, e.minimal()) {
			e.reply = appendItem(append(e.reply, `,"resourceBody":`...), c, &result.Document)
			e.reply = append(e.reply, '}')
		}
	}
	e.reply = append(e.reply, '}')
}

// writes reports whether an operation creates a new version of an item.
func writes(verb store.Verb) bool { return verb != store.Read && verb != store.Delete }

// showsBody reports whether the answer to an operation contains the item.
func showsBody(verb store.Verb, minimal bool) bool {
	return verb == store.Read || verb != store.Delete && !minimal
}

func outcomeOf(verb store.Verb, result *store.Result) (status int, ru float64) {
	switch verb {
	case store.Read:
		return http.StatusOK, readCharge(len(result.Body))
	case store.Delete:
		return http.StatusNoContent, deleteCharge(result.Body)
	}
	return writeStatus(result), writeCharge(result)
}

// appendFailure appends the entry of the operation that failed.
func appendFailure(e *exchange, err error) {
	err = classify(itemFault(err))
	status, substatus := errorStatus(err)
	appendEntry(e, status, substatus, 1)
	e.reply = doc.AppendJSONString(append(e.reply, `,"message":`...), fault.Message(err))
	e.reply = append(e.reply, '}')
}

// appendSkipped appends the entry of an operation that was not attempted because another one failed.
func appendSkipped(e *exchange) {
	appendEntry(e, http.StatusFailedDependency, 0, 0)
	e.reply = append(e.reply, '}')
}

// appendEntry appends the beginning of an entry, which the caller closes.
func appendEntry(e *exchange, status, substatus int, ru float64) {
	e.reply = strconv.AppendInt(append(e.reply, `{"statusCode":`...), int64(status), 10)
	if substatus != 0 {
		e.reply = strconv.AppendInt(append(e.reply, `,"subStatusCode":`...), int64(substatus), 10)
	}
	if ru > 0 {
		ru = cost(ru)
	}
	e.reply = strconv.AppendFloat(append(e.reply, `,"requestCharge":`...), ru, 'f', -1, 64)
}
