package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxProblem is the most that is read of an answer about a failure.
const maxProblem = 1 << 20

// An Unreachable is the error of a request that no server answered.
type Unreachable struct {
	Address string
	Err     error
}

func (u *Unreachable) Error() string {
	return fmt.Sprintf("no mayfly answers at %s: %s", u.Address, u.Err)
}

func (u *Unreachable) Unwrap() error { return u.Err }

// A Problem is an answer about a failure, in the form of RFC 9457 (Problem Details for HTTP APIs).
type Problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	// Kind is the kind of the fault in mayfly's terms, such as "not-found".
	Kind string `json:"kind"`
}

func (p *Problem) Error() string {
	text := cmp.Or(p.Detail, p.Title, "the server gives no reason")
	return fmt.Sprintf("%s (%d %s)", strings.TrimSuffix(text, "."), p.Status, http.StatusText(p.Status))
}

// Refused reports whether err is the answer of a server that does not allow the request.
func Refused(err error) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && (p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden)
}

// NotFound reports whether err is the answer of a server that does not have what the request names.
func NotFound(err error) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && p.Status == http.StatusNotFound
}

// problemOf reads the failure that a response tells about. A server that is not mayfly, or an old one, may tell it in
// any form.
func problemOf(response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	if err != nil {
		text = nil
	}
	var body struct {
		Problem
		Error string `json:"error"` // of the paths without a version
	}
	if json.Unmarshal(text, &body) != nil {
		body.Detail = short(string(text))
	}
	p := body.Problem
	p.Detail = cmp.Or(p.Detail, body.Error)
	p.Status = response.StatusCode
	if p.Status == http.StatusUnauthorized {
		p.Detail = "this mayfly needs the account key: give it with --key or MAYFLY_KEY; " +
			"a key that mayfly made is in DATA/account.key"
	}
	return &p
}

// longestText is how much of a text is shown that is not a problem of mayfly.
const longestText = 500

func short(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "") + "…"
	}
	return text
}
