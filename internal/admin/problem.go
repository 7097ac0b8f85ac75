package admin

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A problem is the body of an answer that is not a success, in the form of RFC 9457. Its type is about:blank: the
// status says what has happened (4.2.1), and kind says it in mayfly's own words.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Kind   string `json:"kind"`
}

func newProblem(err error) problem {
	kind := fault.KindOf(err)
	p := problem{
		Type: "about:blank", Title: http.StatusText(status[kind]), Status: status[kind], Detail: fault.Message(err),
		Kind: kind.String(),
	}
	if p.Detail == "" {
		p.Detail = "internal error: see the log"
	}
	return p
}

// refuseV1 answers with a problem.
func (a *admin) refuseV1(w http.ResponseWriter, r *http.Request, err error) {
	a.logFailure(r, err)
	if errors.Is(err, errCut) {
		panic(http.ErrAbortHandler) // the status has been sent: only a broken connection tells the client
	}
	p := newProblem(err)
	switch p.Status {
	case http.StatusNotModified:
		w.WriteHeader(p.Status)
		return
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	text, _ := json.Marshal(p) // it consists of texts and a number
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	w.Write(append(text, '\n')) // an error means that the client has gone
}

func (a *admin) logFailure(r *http.Request, err error) {
	if kind := fault.KindOf(err); kind == fault.Internal || kind == fault.Corrupt {
		a.Logger.Error("admin request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
}

// errCut is the error of a handler that has failed in the middle of its answer.
var errCut = errors.New("the answer was cut off")
