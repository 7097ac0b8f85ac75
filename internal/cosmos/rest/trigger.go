package rest

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/script"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// maxTriggers is the largest number of triggers in one header. The service allows one.
const maxTriggers = 10

// itemPattern is the pattern of the route of single items.
const itemPattern = itemFeed + "/{}"

var errNoTriggers = fault.New(fault.Unsupported,
	"Triggers run when single items are created, upserted, replaced or deleted. "+
		"Leave the headers x-ms-documentdb-pre-trigger-include and x-ms-documentdb-post-trigger-include out of all "+
		"other "+
		"requests.")

// triggered reports whether the request names triggers.
func (e *exchange) triggered() bool { return e.given(hPreTrigger) != "" || e.given(hPostTrigger) != "" }

// takesTriggers reports whether triggers can run with the request.
func (e *exchange) takesTriggers() bool {
	switch e.Method {
	case http.MethodPost:
		return e.route.pattern == itemFeed && !e.flag(hBatch)
	case http.MethodPut, http.MethodDelete:
		return e.route.pattern == itemPattern
	}
	return false
}

// operations are the names of the operations that triggers run with, as scripts see them.
var operations = map[store.Verb]string{
	store.Create: "Create", store.Upsert: "Upsert", store.Replace: "Replace", store.Delete: "Delete",
}

// A triggeredWrite is a write with its triggers.
type triggeredWrite struct {
	op        store.Op
	text      []byte // the request's body
	pre, post []*script.Program

	// The outcome of one run. A repeated run overwrites it.
	result int    // the index of the write among the operations of the transaction
	answer []byte // the body set by a post-trigger, or nil
	log    string
}

// writeTriggered runs an operation with the triggers that the request names, all in one transaction.
func (e *exchange) writeTriggered(op store.Op, body []byte) (status int, err error) {
	text, err := payloadText(body)
	if err != nil {
		return 0, err
	}
	t := triggeredWrite{op: op, text: bytes.Clone(text)}
	if t.pre, err = e.triggers(hPreTrigger, "Pre", operations[op.Verb]); err != nil {
		return 0, err
	}
	if t.post, err = e.triggers(hPostTrigger, "Post", operations[op.Verb]); err != nil {
		return 0, err
	}
	done, err := e.transactScripts(op.Key.Partition, slices.Concat(t.pre, t.post), t.run)
	e.sendLog(t.log)
	if err != nil {
		return 0, err
	}
	return e.answerTriggered(&t, done), nil
}

// answerTriggered answers with the item that the transaction has written.
func (e *exchange) answerTriggered(t *triggeredWrite, done scriptOutcome) (status int) {
	result := &done.results[t.result]
	e.charge(done.ru)
	if t.op.Verb == store.Delete {
		return http.StatusNoContent
	}
	e.etag(result.Version)
	e.sendNewLifetime(done.view, &result.Document)
	switch {
	case e.minimal():
	case t.answer != nil:
		e.reply = append(e.reply, done.withCommitted(t.answer, done.results)...)
	default:
		e.reply = append(appendItem(e.reply, done.view.Container, &result.Document), '}')
	}
	return writeStatus(result)
}

// triggers finds the triggers that a header names, and checks their type and operation.
func (e *exchange) triggers(header requestHeader, kind, operation string) (list []*script.Program, err error) {
	for name := range strings.SplitSeq(e.given(header), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if len(list) == maxTriggers {
			return nil, fault.New(fault.Invalid, "The header '%s' names more than %d triggers.",
				strings.ToLower(string(header)), maxTriggers)
		}
		r, err := e.api.catalog.Resource(catalog.Trigger, e.containerOwner(), name)
		if err != nil {
			return nil, fault.New(fault.Invalid,
				"Trigger '%s' specified in the request does not exist in the container.", clip(name))
		}
		if err := fits(r, kind, operation); err != nil {
			return nil, err
		}
		p, err := e.compiled(r)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// fits checks that a trigger may run with an operation. An upsert is neither
// create nor replace: https://github.com/Azure/azure-cosmos-dotnet-v3/issues/4104.
func fits(r *catalog.Resource, kind, operation string) error {
	if have := textOf(r.Body, "triggerType"); !strings.EqualFold(have, kind) {
		return fault.New(fault.Invalid,
			"Trigger '%s' was defined with trigger type '%s', and therefore is invalid for '%s'.", r.Name, have, kind)
	}
	have := textOf(r.Body, "triggerOperation")
	switch {
	case strings.EqualFold(have, "All"), strings.EqualFold(have, operation):
		return nil
	case strings.EqualFold(have, "Update") && operation == "Replace":
		return nil
	}
	return fault.New(fault.Invalid,
		"Trigger '%s' was defined with operation type '%s', and therefore is invalid for '%s'.", r.Name, have,
		operation)
}

// run runs the write and its triggers once.
func (t *triggeredWrite) run(c *scriptCollection, host script.Host) (err error) {
	t.answer, t.log = nil, ""
	request := script.Request{Operation: operations[t.op.Verb]}
	if request.Body, err = t.shownRequest(c); err != nil {
		return err
	}
	for _, p := range t.pre {
		log, err := p.RunTrigger(c.ctx, &request, nil, host)
		t.log += log
		if err != nil {
			return err
		}
	}
	response, err := t.write(c, request.Body)
	if err != nil {
		return err
	}
	for _, p := range t.post {
		before := response
		log, err := p.RunTrigger(c.ctx, &request, &response, host)
		t.log += log
		if err != nil {
			return err
		}
		if !bytes.Equal(before, response) {
			t.answer = response
		}
	}
	return nil
}

// shownRequest is the body of the request as triggers see it. In a replacement it has the system properties of the
// existing item; in a delete it is the existing item.
func (t *triggeredWrite) shownRequest(c *scriptCollection) ([]byte, error) {
	if t.op.Verb == store.Create || t.op.Verb == store.Upsert {
		if _, err := doc.FromJSON(nil, t.text, doc.ParseOptions{}); err != nil {
			return nil, docFault(err)
		}
		return t.text, nil
	}
	there, err := c.do(store.Op{Verb: store.Read, Key: t.op.Key})
	if err != nil {
		return nil, err
	}
	if t.op.Verb == store.Replace {
		if there.Body, err = parseReplacement(t.text, t.op.Key.ID); err != nil {
			return nil, err
		}
	}
	return c.item(&there.Document), nil
}

// write runs the operation and returns the response body.
func (t *triggeredWrite) write(c *scriptCollection, text []byte) (response []byte, err error) {
	op := t.op
	switch op.Verb {
	case store.Create, store.Upsert:
		op.Body, op.Key.ID, err = parseItem(text)
	case store.Replace:
		op.Body, err = parseReplacement(text, op.Key.ID)
	}
	if err != nil {
		return nil, err
	}
	t.result = len(c.shown)
	result, err := c.tx.Do(c.ctx, op)
	if err != nil {
		return nil, itemFault(err)
	}
	c.record(op, result)
	if op.Verb == store.Delete {
		return nil, nil
	}
	return c.item(&result.Document), nil
}
