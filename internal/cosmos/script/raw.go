package script

import (
	"crypto/rand"
	"fmt"
	"net/http"

	"github.com/dop251/goja"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// maxWaiting is how many characters of documents may wait to be written.
const maxWaiting = 16 << 20

// set defines a read-only member of an object that this package has created.
func (r *run) set(o *goja.Object, name string, value any) {
	if err := o.DefineDataProperty(name, r.rt.ToValue(value), goja.FLAG_FALSE, goja.FLAG_FALSE,
		goja.FLAG_TRUE); err != nil {
		panic(err) // cannot happen: a new object accepts every member
	}
}

// raw creates the object through which the prelude calls the host.
func (r *run) raw() *goja.Object {
	o := r.rt.NewObject()
	c := r.host.Collection
	r.set(o, "selfLink", c.SelfLink())
	r.set(o, "altLink", c.AltLink())
	r.set(o, "quota", r.host.Quota)
	r.set(o, "usage", r.host.Usage)
	r.set(o, "maxWaiting", maxWaiting)
	for name, f := range map[string]func(call goja.FunctionCall) goja.Value{
		"log":    r.console,
		"late":   func(goja.FunctionCall) goja.Value { return r.rt.ToValue(r.late()) },
		"fits":   func(call goja.FunctionCall) goja.Value { return r.rt.ToValue(r.fits(call.Argument(0))) },
		"newID":  func(goja.FunctionCall) goja.Value { return r.rt.ToValue(newID()) },
		"header": func(call goja.FunctionCall) goja.Value { return r.header(call.Argument(0).String()) },
		"abort":  r.abort,
		"query":  r.query,
		"read": r.answers(http.StatusOK, func(link, unless, _ string) ([]byte, error) {
			return c.Read(link, unless)
		}),
		"create": r.answers(http.StatusCreated, func(body, _, _ string) ([]byte, error) {
			return c.Create([]byte(body))
		}),
		"upsert": r.answers(http.StatusOK, func(body, match, _ string) ([]byte, error) {
			return c.Upsert([]byte(body), match)
		}),
		"replace": r.answers(http.StatusOK, func(link, body, match string) ([]byte, error) {
			return c.Replace(link, []byte(body), match)
		}),
		"delete": r.answers(http.StatusNoContent, func(link, match, _ string) ([]byte, error) {
			return nil, c.Delete(link, match)
		}),
	} {
		r.set(o, name, f)
	}
	return o
}

// console adds a line to the log. It returns false if the log is full.
func (r *run) console(call goja.FunctionCall) goja.Value {
	if !r.host.Logging {
		return r.rt.ToValue(true)
	}
	text := call.Argument(0).String()
	r.gate.Lock()
	defer r.gate.Unlock()
	if r.closed || len(r.log)+len(text) > MaxLog {
		return r.rt.ToValue(false)
	}
	r.log = append(r.log, text...)
	return r.rt.ToValue(true)
}

// late reports whether the script should finish.
func (r *run) late() bool {
	r.gate.Lock()
	defer r.gate.Unlock()
	return r.closed || r.host.Late != nil && r.host.Late()
}

func (r *run) header(name string) goja.Value {
	if r.host.Header != nil {
		if text := r.host.Header(name); text != "" {
			return r.rt.ToValue(text)
		}
	}
	return goja.Undefined()
}

// abort ends the script as if it had thrown its argument.
func (r *run) abort(call goja.FunctionCall) goja.Value {
	r.stop(r.exception(call.Argument(0), nil))
	return goja.Undefined()
}

// atHost calls f, unless the script was abandoned.
func (r *run) atHost(f func() error) error {
	r.gate.Lock()
	defer r.gate.Unlock()
	if r.closed {
		return errTime
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	return f()
}

// answers creates the prelude's function for an operation of the collection. It converts the arguments before it
// locks the host: an argument may be an object whose toString is code of the script, which may call the host itself.
func (r *run) answers(status int, f func(first, second, third string) ([]byte,
	error)) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		first, second, third := call.Argument(0).String(), call.Argument(1).String(), call.Argument(2).String()
		var body []byte
		err := r.atHost(func() (err error) {
			body, err = f(first, second, third)
			return err
		})
		answer := r.rt.NewObject()
		switch {
		case err == nil:
			r.set(answer, "status", status)
			r.set(answer, "text", string(body))
		case fault.KindOf(err) == fault.NotModified:
			r.set(answer, "status", http.StatusNotModified)
			r.set(answer, "notModified", true)
		default:
			r.refuse(answer, err)
		}
		return answer
	}
}

func (r *run) query(call goja.FunctionCall) goja.Value {
	query, size, token := call.Argument(0).String(), int(call.Argument(1).ToInteger()), call.Argument(2).String()
	var page Page
	err := r.atHost(func() (err error) {
		page, err = r.host.Collection.Query([]byte(query), size, token)
		return err
	})
	answer := r.rt.NewObject()
	if err != nil {
		r.refuse(answer, err)
		return answer
	}
	r.set(answer, "text", string(page.Rows))
	r.set(answer, "continuation", page.Continuation)
	return answer
}

// refuse reports an error to the script, or ends the script.
func (r *run) refuse(answer *goja.Object, err error) {
	status, message, ok := r.host.Status(err)
	if !ok {
		r.stop(err)
		status, message = http.StatusInternalServerError, ""
	}
	text := append([]byte(`{"Errors":[`), doc.AppendJSONString(nil, message)...)
	r.set(answer, "number", status)
	r.set(answer, "text", string(append(text, "]}"...)))
}

// newID is a random id, as the service gives to documents without one.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
