package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// An outcome is what a kind of fault looks like to a client of this dialect.
type outcome struct {
	status    int
	code      string
	substatus int // 0 is not sent
}

// outcomes is the only place that knows which HTTP status a fault becomes.
// Substatuses: 4001 tells a row with a number that JSON cannot write, 1001 a partition key mismatch, 1003 that the owner
// is missing and not the item, 1110 a patch condition, 3200 that the request may come again soon. SDKs retry for long on 404/1002, 403/3, 403/1008
// and 410, so none of them is here; on 449 they retry at once, and on 429 after x-ms-retry-after-ms, which is meant.
var outcomes = map[fault.Kind]outcome{
	fault.Internal:          {http.StatusInternalServerError, "InternalServerError", 0},
	fault.Invalid:           {http.StatusBadRequest, "BadRequest", 0},
	fault.NotFound:          {http.StatusNotFound, "NotFound", 0},
	fault.OwnerNotFound:     {http.StatusNotFound, "NotFound", 1003},
	fault.Exists:            {http.StatusConflict, "Conflict", 0},
	fault.Precondition:      {http.StatusPreconditionFailed, "PreconditionFailed", 0},
	fault.NotModified:       {http.StatusNotModified, "NotModified", 0},
	fault.PartitionMismatch: {http.StatusBadRequest, "BadRequest", 1001},
	fault.PatchCondition:    {http.StatusPreconditionFailed, "PreconditionFailed", 1110},
	fault.TooLarge:          {http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", 0},
	fault.Conflict:          {statusRetryWith, "RetryWith", 0},
	fault.Unauthorized:      {http.StatusUnauthorized, "Unauthorized", 0},
	fault.Forbidden:         {http.StatusForbidden, "Forbidden", 0},
	fault.MethodNotAllowed:  {http.StatusMethodNotAllowed, "MethodNotAllowed", 0},
	fault.Unsupported:       {http.StatusBadRequest, "BadRequest", 0},
	fault.Timeout:           {http.StatusRequestTimeout, "RequestTimeout", 0},
	fault.Unavailable:       {http.StatusServiceUnavailable, "ServiceUnavailable", 0},
	fault.Corrupt:           {http.StatusInternalServerError, "InternalServerError", 0},
	fault.OutOfSpace:        {http.StatusInsufficientStorage, "InsufficientStorage", 0},
	fault.Busy:              {http.StatusTooManyRequests, "TooManyRequests", 3200},
}

// statusRetryWith is the service's own status for a write that met another one.
const statusRetryWith = 449

// sdkName ends every error message, as SDKs show it.
const sdkName = "Microsoft.Azure.Documents.Common/2.14.0"

// classify gives a kind to errors of rooms that know none: text that doc could
// not read, an edit that it could not make, a client that went away.
func classify(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(fault.Timeout, err, "The request was given up before it was done.")
	}
	if d, ok := errors.AsType[*doc.Error](err); ok && fault.KindOf(err) == fault.Internal {
		if d.TooLarge {
			return fault.Wrap(fault.TooLarge, err, "Request size is too large. %s", d.Message)
		}
		return fault.Wrap(fault.Invalid, err, "%s", d.Message)
	}
	return inServiceTexts(err)
}

// translate finds what err looks like to a client.
func translate(err error) outcome {
	o := outcomes[fault.KindOf(err)]
	if c, ok := errors.AsType[coded](err); ok {
		o.substatus = c.substatus
	} else if errors.Is(err, exec.ErrNotFinite) {
		o.substatus = 4001
	}
	return o
}

// errorStatus is the status and substatus of an error inside a larger answer (a batch entry).
func errorStatus(err error) (status, substatus int) {
	o := translate(classify(err))
	return o.status, o.substatus
}

// A gatewayError is one that the service's gateway would report by itself,
// in a shorter form than what it passes on from a backend.
type gatewayError struct{ error }

func (e gatewayError) Unwrap() error { return e.error }

// refused makes a gatewayError.
func refused(kind fault.Kind, format string, args ...any) error {
	return gatewayError{fault.New(kind, format, args...)}
}

// fail writes the answer of a failed exchange into e.reply and returns its
// status. What no room has classified is logged and told to nobody.
func (e *exchange) fail(err error) int {
	err = classify(err)
	o := translate(err)
	message := fault.Message(err)
	if o.status == http.StatusInternalServerError {
		e.door.log.Error("request failed", "activity", e.activityID(), "method", e.Method, "path", loggedPath(e.URL.Path), "error", err)
		message = "An internal error occurred. The log of the server tells more under this activity id."
	}
	e.reply = e.reply[:0]
	if o.substatus != 0 {
		e.set(outSubstatus, strconv.Itoa(o.substatus))
	}
	if o.status == http.StatusTooManyRequests {
		e.set(outRetryAfter, retryAfter())
	}
	if o.status != http.StatusNotModified {
		e.reply = appendError(e.reply, o.code, e.explain(err, message))
		if u, ok := errors.AsType[unserved](err); ok {
			e.reply = doc.AppendJSONString(append(e.reply[:len(e.reply)-1], `,"additionalErrorInfo":`...), u.plan)
			e.reply = append(e.reply, '}')
		}
	}
	return o.status
}

// explain puts a message into the form of the service.
func (e *exchange) explain(err error, message string) string {
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		err, message = errQuery, mistakes(wrong)
	}
	if _, ok := errors.AsType[gatewayError](err); ok || gatewayKinds[fault.KindOf(err)] {
		return fmt.Sprintf("%s\r\nActivityId: %s, %s", message, e.activityID(), sdkName)
	}
	return fmt.Sprintf("Message: {\"Errors\":[%s]}\r\nActivityId: %s, Request URI: %s, RequestStats: \r\nResourceType: %s, OperationType: %s\r\n, SDK: %s",
		doc.AppendJSONString(nil, message), e.activityID(), clip(e.URL.EscapedPath()), e.resourceType(), e.operationType(), sdkName)
}

// errQuery stands for any query with mistakes: the gateway finds them.
var errQuery = gatewayError{fault.New(fault.Invalid, "the query has mistakes")}

// gatewayKinds never reach a backend of the service.
var gatewayKinds = map[fault.Kind]bool{
	fault.Internal: true, fault.Corrupt: true, fault.Unauthorized: true,
	fault.MethodNotAllowed: true, fault.Unsupported: true, fault.Timeout: true, fault.Unavailable: true, fault.OutOfSpace: true, fault.Busy: true,
}

// appendError writes `{"code":…,"message":…}`: the body of every error.
func appendError(dst []byte, code, message string) []byte {
	dst = append(dst, `{"code":"`...)
	dst = append(dst, code...)
	dst = append(dst, `","message":`...)
	dst = doc.AppendJSONString(dst, message)
	return append(dst, '}')
}

// panicked makes an error of what a handler panicked with.
func panicked(p any) error {
	return fmt.Errorf("panic: %v\n%s", p, debug.Stack())
}
