package admin

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/mayflydb/mayfly/internal/fault"
)

// maxBody is more than enough for the longest body, which is a time.
const maxBody = 4 << 10

// status is the only place that knows which HTTP code a fault becomes.
var status = map[fault.Kind]int{
	fault.Internal:          http.StatusInternalServerError,
	fault.Invalid:           http.StatusBadRequest,
	fault.NotFound:          http.StatusNotFound,
	fault.OwnerNotFound:     http.StatusNotFound,
	fault.Exists:            http.StatusConflict,
	fault.Precondition:      http.StatusPreconditionFailed,
	fault.NotModified:       http.StatusNotModified,
	fault.PartitionMismatch: http.StatusBadRequest,
	fault.PatchCondition:    http.StatusPreconditionFailed,
	fault.TooLarge:          http.StatusRequestEntityTooLarge,
	fault.Conflict:          http.StatusConflict,
	fault.Unauthorized:      http.StatusUnauthorized,
	fault.Forbidden:         http.StatusForbidden,
	fault.MethodNotAllowed:  http.StatusMethodNotAllowed,
	fault.Unsupported:       http.StatusNotImplemented,
	fault.Timeout:           http.StatusRequestTimeout,
	fault.Unavailable:       http.StatusServiceUnavailable,
	fault.Corrupt:           http.StatusInternalServerError,
	fault.OutOfSpace:        http.StatusInsufficientStorage,
	fault.Busy:              http.StatusTooManyRequests,
	fault.Undetermined:      http.StatusGatewayTimeout,
}

// answer turns f into a handler that answers 200 with the result of f as JSON.
func (a *admin) answer(f func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		body, err := f(r)
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		a.write(w, http.StatusOK, body)
	}
}

// aliasProblem is the body of every answer of an alias that is not a success.
type aliasProblem struct {
	Error string `json:"error"`
}

func (a *admin) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if isV1(r) {
		a.refuseV1(w, r, err)
		return
	}
	a.logFailure(r, err)
	p := newProblem(err)
	a.write(w, p.Status, aliasProblem{p.Detail})
}

func (a *admin) write(w http.ResponseWriter, code int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		a.Logger.Error("an answer of the admin API cannot be encoded as JSON", "error", err)
		code, text = http.StatusInternalServerError, []byte(`{"error":"internal error: see the log"}`)
	}
	a.writeText(w, code, text)
}

// writeText answers with JSON, or with nothing.
func (a *admin) writeText(w http.ResponseWriter, code int, text []byte) {
	w.Header().Set("Cache-Control", "no-store")
	if len(text) == 0 {
		w.WriteHeader(code)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(text) // an error means that the client has gone
	w.Write([]byte("\n"))
}

// read decodes the body of a request: one JSON object without unknown members. The error shows example.
func read[T any](r *http.Request, example string) (v T, err error) {
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	if err = in.Decode(&v); err == nil {
		if _, err = in.Token(); errors.Is(err, io.EOF) {
			return v, nil
		}
	}
	return v, bodyError(r, err, example)
}

// bodyError is the error of a body that cannot be read, or is not what it should be.
func bodyError(r *http.Request, err error, example string) error {
	if most, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.Wrap(fault.TooLarge, err, "the body is larger than %d bytes", most.Limit)
	}
	return fault.Wrap(fault.Invalid, err, "%s %s needs a JSON object as its body, such as %s",
		r.Method, r.URL.Path, example)
}
