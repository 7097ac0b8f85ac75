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

// An outcome is how a kind of fault is reported to a client.
type outcome struct {
	status    int
	code      string
	substatus int // 0 is not sent
}

// outcomes is the only place that maps faults to HTTP statuses. Substatuses: 4001 is a row with a number that JSON
// cannot represent, 1001 a partition key mismatch, 1003 a missing owner (not a missing item), 1110 a false patch
// condition, 3200 a request that may soon be repeated. SDKs retry for a long time on 404/1002, 403/3 and 403/1008, so
// none of these is used. They retry at once on 449, and after x-ms-retry-after-ms on 429, as intended. 410 with 1002
// is for requests to ranges that the container does not have, see rangeGone: SDKs then read the ranges again.
//
// A write whose outcome is unknown is 408 and not 503: SDKs take a 503 for a write that was not processed, and some
// send it again, but return a 408 of a write to their caller, since it "may or may not have been processed":
// azcosmos v1.5.0 attemptRetryOnRequestTimeout; azure_data_cosmos_driver 0.5.0 docs/ErrorCodesAndRetries.md;
// https://learn.microsoft.com/azure/cosmos-db/nosql/conceptual-resilient-sdk-applications
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
	fault.Undetermined:      {http.StatusRequestTimeout, "RequestTimeout", 0},
}

// statusRetryWith is the service's own status for a write that conflicted with another one.
const statusRetryWith = 449

// sdkName is at the end of every error message, as SDKs show it.
const sdkName = "Microsoft.Azure.Documents.Common/2.14.0"

// classify gives a kind to errors of packages that do not use faults: documents that cannot be parsed or edited, and
// contexts of clients that have gone away.
func classify(err error) error {
	if fault.KindOf(err) == fault.Undetermined {
		return err // whatever ended it
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(fault.Timeout, err, "The request was cancelled before it was done.")
	}
	if d, ok := errors.AsType[*doc.Error](err); ok && fault.KindOf(err) == fault.Internal {
		if d.TooLarge {
			return fault.Wrap(fault.TooLarge, err, "Request size is too large. %s", d.Message)
		}
		return fault.Wrap(fault.Invalid, err, "%s", d.Message)
	}
	return inServiceTexts(err)
}

// translate returns how err is reported to a client.
func translate(err error) outcome {
	o := outcomes[fault.KindOf(err)]
	if _, ok := errors.AsType[rangeGone](err); ok {
		o = outcome{http.StatusGone, "Gone", 1002}
	} else if c, ok := errors.AsType[coded](err); ok {
		o.substatus = c.substatus
	} else if errors.Is(err, exec.ErrNotFinite) {
		o.substatus = 4001
	}
	return o
}

// errorStatus is the status and substatus of an error inside a larger answer, such as a batch entry.
func errorStatus(err error) (status, substatus int) {
	o := translate(classify(err))
	return o.status, o.substatus
}

// A gatewayError is an error that the service's gateway reports itself, in a shorter form than errors of a backend.
type gatewayError struct{ error }

func (e gatewayError) Unwrap() error { return e.error }

// gatewayFault makes a gatewayError.
func gatewayFault(kind fault.Kind, format string, args ...any) error {
	return gatewayError{fault.New(kind, format, args...)}
}

// fail writes the error into e.reply and returns its status. An error without a kind is logged, and the client learns
// nothing about it.
func (e *exchange) fail(err error) int {
	err = classify(err)
	o := translate(err)
	message := fault.Message(err)
	if o.status == http.StatusInternalServerError {
		e.api.log.Error("request failed", "activity", e.activityID(), "method", e.Method, "path",
			loggedPath(e.URL.Path), "error", err)
		message = "An internal error occurred. The server's log has details under this activity id."
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
		if u, ok := errors.AsType[clientMergeError](err); ok {
			e.reply = doc.AppendJSONString(append(e.reply[:len(e.reply)-1], `,"additionalErrorInfo":`...), u.plan)
			e.reply = append(e.reply, '}')
		}
	}
	return o.status
}

// explain formats a message as the service does.
func (e *exchange) explain(err error, message string) string {
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		err, message = errQuery, queryErrors(wrong)
	}
	if _, ok := errors.AsType[gatewayError](err); ok || gatewayKinds[fault.KindOf(err)] {
		return fmt.Sprintf("%s\r\nActivityId: %s, %s", message, e.activityID(), sdkName)
	}
	return fmt.Sprintf("Message: {\"Errors\":[%s]}\r\nActivityId: %s, Request URI: %s, RequestStats: "+
		"\r\nResourceType: %s, OperationType: %s\r\n, SDK: %s",
		doc.AppendJSONString(nil, message), e.activityID(), clip(e.URL.EscapedPath()), e.resourceType(),
		e.operationType(), sdkName)
}

// errQuery replaces every query error in explain: the service's gateway reports those itself.
var errQuery = gatewayError{fault.New(fault.Invalid, "the query has mistakes")}

// gatewayKinds are reported by the service's gateway, because such requests never reach a backend.
var gatewayKinds = map[fault.Kind]bool{
	fault.Internal: true, fault.Corrupt: true, fault.Unauthorized: true,
	fault.MethodNotAllowed: true, fault.Unsupported: true, fault.Timeout: true, fault.Unavailable: true,
	fault.OutOfSpace: true, fault.Busy: true, fault.Undetermined: true,
}

// appendError appends `{"code":…,"message":…}`, the body of every error.
func appendError(dst []byte, code, message string) []byte {
	dst = append(dst, `{"code":"`...)
	dst = append(dst, code...)
	dst = append(dst, `","message":`...)
	dst = doc.AppendJSONString(dst, message)
	return append(dst, '}')
}

// panicked makes an error from the value of a panic.
func panicked(p any) error {
	return fmt.Errorf("panic: %v\n%s", p, debug.Stack())
}
