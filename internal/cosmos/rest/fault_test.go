package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

func TestEveryKindHasAnOutcome(t *testing.T) {
	for k := range fault.Kinds() {
		o, ok := outcomes[k]
		if !ok || o.status < 300 || o.code == "" {
			t.Errorf("%s becomes %+v", k, o)
		}
		switch o.status {
		case http.StatusGone, http.StatusTooManyRequests:
			if k != fault.Busy { // which means it
				t.Errorf("%s becomes %d, on which SDKs retry for long", k, o.status)
			}
		}
	}
}

// answering sends a request to a handler that runs run, and returns what the client sees.
func answering(t *testing.T, d *testAPI, run handler) answer {
	t.Helper()
	old := routes
	defer func() { routes = old }()
	routes = buildRoutes([]route{{http.MethodGet, "dbs", run}})
	return d.do("GET", "/dbs", "")
}

func TestErrorBodies(t *testing.T) {
	d := newTestAPI(t)
	secret := errors.New("secret: /var/lib/data is full")
	for _, c := range []struct {
		name      string
		err       error
		status    int
		substatus string
		code      string
		message   string
	}{
		{"unclassified", secret, 500, "", "InternalServerError", "An internal error occurred"},
		{"corrupt", fault.Wrap(fault.Corrupt, secret, "key 17 of container 3"), 500, "", "InternalServerError",
			"An internal error occurred"},
		{"undetermined", fault.Wrap(fault.Undetermined, secret, "It may be stored."), 408, "", "RequestTimeout",
			"It may be stored."},
		{"undetermined when time is over",
			fault.Wrap(fault.Undetermined, context.DeadlineExceeded, "It may be stored."), 408, "", "RequestTimeout",
			"It may be stored."},
		{"not found", fault.New(fault.NotFound, "Entity"), 404, "", "NotFound",
			`Message: {"Errors":["Entity"]}` + "\r\nActivityId: "},
		{"no owner", fault.New(fault.OwnerNotFound, "Owner"), 404, "1003", "NotFound", "Owner"},
		{"cause", fault.Wrap(fault.Invalid, secret, "Bad \"thing\""), 400, "", "BadRequest",
			`{"Errors":["Bad \"thing\""]}`},
		{"partition", fault.New(fault.PartitionMismatch, "pk"), 400, "1001", "BadRequest", "pk"},
		{"patch condition", fault.New(fault.PatchCondition, "no"), 412, "1110", "PreconditionFailed", "no"},
		{"race", fault.New(fault.Conflict, "again"), 449, "", "RetryWith", "again"},
		{"gateway", gatewayFault(fault.Invalid, "Request url is invalid"), 400, "", "BadRequest",
			"Request url is invalid\r\nActivityId: "},
		{"coded", fmt.Errorf("wrapped: %w", coded{fault.New(fault.Invalid, "rid"), 1024}), 400, "1024", "BadRequest",
			"rid"},
		{"not finite", fmt.Errorf("wrapped: %w", exec.ErrNotFinite), 400, "4001", "BadRequest",
			"cannot be represented in JSON"},
		{"client gone", fmt.Errorf("scan: %w", context.Canceled), 408, "", "RequestTimeout", "cancelled"},
		{"text that is no JSON", &doc.Error{Message: "A brace was expected"}, 400, "", "BadRequest",
			"A brace was expected"},
		{"large text", &doc.Error{Message: "Too many bytes.", TooLarge: true}, 413, "", "RequestEntityTooLarge",
			"Request size is too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := answering(t, d, func(e *exchange) (int, error) {
				e.reply = append(e.reply, "half an answer"...)
				return 200, c.err
			}).want(c.status)
			if a.str("code") != c.code || a.header.Get("x-ms-substatus") != c.substatus {
				t.Errorf("code %s, substatus %s", a.str("code"), a.header.Get("x-ms-substatus"))
			}
			if !strings.Contains(a.str("message"), c.message) || strings.Contains(a.text, "secret") {
				t.Errorf("the message is %q", a.str("message"))
			}
			if !strings.Contains(a.str("message"), "ActivityId: "+a.header.Get("x-ms-activity-id")) ||
				!strings.HasSuffix(a.str("message"), sdkName) {
				t.Errorf("the message ends in another form: %q", a.str("message"))
			}
		})
	}
	if strings.Count(d.log.String(), "secret") != 2 {
		t.Errorf("the log has not each cause once:\n%s", d.log)
	}
}

func TestNotModifiedHasNoBody(t *testing.T) {
	a := answering(t, newTestAPI(t), func(*exchange) (int, error) { return 0, errNotModified }).want(304)
	if a.text != "" || a.header.Get("Content-Type") != "" {
		t.Errorf("body %q, headers %v", a.text, a.header)
	}
}

func TestPanicBecomes500(t *testing.T) {
	d := newTestAPI(t)
	a := answering(t, d, func(*exchange) (int, error) { panic("secret") }).want(500)
	if strings.Contains(a.text, "secret") || !strings.Contains(d.log.String(), "panic: secret") {
		t.Errorf("body %s, log %s", a.text, d.log)
	}
	d.do("GET", "/dbs", "").want(200)
}

func TestErrorsEscapeTheirText(t *testing.T) {
	nasty := "a\"b\\c\r\n\x00<&>\u2028\xff"
	var back struct{ Code, Message string }
	must(t, json.Unmarshal(appendError(nil, "BadRequest", nasty), &back))
	if !strings.HasPrefix(back.Message, "a\"b\\c\r\n\x00<&>\u2028") {
		t.Errorf("the message came back as %q", back.Message)
	}
}
