package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A nosqlCall is a request to the API for NoSQL.
type nosqlCall struct {
	method string
	steps  []string // of the path: "dbs", its name, and so on
	header http.Header
	body   []byte
}

// A nosqlAnswer is its answer.
type nosqlAnswer struct {
	status int
	header http.Header
	body   []byte
}

// nosql asks the API for NoSQL. An answer that is not a success becomes an error with the same status.
func (a *admin) nosql(ctx context.Context, c nosqlCall) (*nosqlAnswer, error) {
	r, err := http.NewRequestWithContext(ctx, c.method, "http://localhost"+escape(c.steps), bytes.NewReader(c.body))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "this name cannot be in a path")
	}
	for name, values := range c.header {
		r.Header[name] = values
	}
	answer, err := a.NoSQL.RoundTrip(r)
	if err != nil {
		return nil, ended(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		return nil, nosqlError(answer.StatusCode, answer.Header.Get("X-Ms-Substatus"), body)
	}
	return &nosqlAnswer{answer.StatusCode, answer.Header, body}, nil
}

// escape is a path of the steps, in which no step is more than one. A single dot is a step, not the folder.
func escape(steps []string) string {
	var path strings.Builder
	for _, step := range steps {
		path.WriteByte('/')
		path.WriteString(strings.ReplaceAll(url.PathEscape(step), ".", "%2E"))
	}
	return path.String()
}

// nosqlKinds are the kinds of fault that the API for NoSQL reports with a status.
var nosqlKinds = map[int]fault.Kind{
	http.StatusNotModified:           fault.NotModified,
	http.StatusBadRequest:            fault.Invalid,
	http.StatusUnauthorized:          fault.Internal, // the request was ours
	http.StatusForbidden:             fault.Forbidden,
	http.StatusNotFound:              fault.NotFound,
	http.StatusMethodNotAllowed:      fault.MethodNotAllowed,
	http.StatusRequestTimeout:        fault.Timeout,
	http.StatusConflict:              fault.Exists,
	http.StatusPreconditionFailed:    fault.Precondition,
	http.StatusRequestEntityTooLarge: fault.TooLarge,
	http.StatusTooManyRequests:       fault.Busy,
	449:                              fault.Conflict,
	http.StatusServiceUnavailable:    fault.Unavailable,
	http.StatusInsufficientStorage:   fault.OutOfSpace,
}

func nosqlError(status int, substatus string, body []byte) error {
	var sent struct{ Message string }
	_ = json.Unmarshal(body, &sent) // without a message there is still the status
	kind := nosqlKinds[status]
	switch substatus {
	case "1003":
		kind = fault.OwnerNotFound
	case "1001":
		kind = fault.PartitionMismatch
	}
	return fault.New(kind, "%s", plainMessage(sent.Message))
}

// plainMessage is a message of the API for NoSQL without what it adds for SDKs: the frames {"Errors":["..."]} and
// {"errors":[{"message":"..."}]}, and the lines about the activity.
func plainMessage(text string) string {
	text, _, _ = strings.Cut(text, "\r\nActivityId:")
	text, _, _ = strings.Cut(text, "\r\nRequestStartTime:")
	text = strings.TrimPrefix(text, "Message: ")
	var framed struct{ Errors []json.RawMessage }
	if json.Unmarshal([]byte(text), &framed) != nil || len(framed.Errors) == 0 {
		return strings.TrimSpace(text)
	}
	var messages []string
	for _, raw := range framed.Errors {
		var message string
		var wrong struct { // with a query
			Message  string
			Location struct{ Start, End int }
		}
		if json.Unmarshal(raw, &message) != nil && json.Unmarshal(raw, &wrong) == nil {
			message = fmt.Sprintf("%s (from character %d to %d)", wrong.Message, wrong.Location.Start,
				wrong.Location.End)
		}
		messages = append(messages, message)
	}
	return strings.Join(messages, " ")
}

// ended is the error of a request whose sender has gone or whose time is over.
func ended(err error) error {
	if fault.KindOf(err) == fault.Unavailable { // a snapshot is being loaded
		return err
	}
	return fault.Wrap(fault.Timeout, err, "the request was cancelled before it was done")
}
