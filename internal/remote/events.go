package remote

import (
	"bytes"
	"context"
	"iter"
	"net/http"
)

// An Event is one event of a stream of server-sent events.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
type Event struct {
	Name string // "message" if the server gives none
	Data []byte // valid until the next event
}

// Events requests a path whose answer is a stream of server-sent events, and yields them. It yields an error last if
// the stream breaks off. It does not connect again.
func (c *Client) Events(ctx context.Context, path string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		response, err := c.Stream(ctx, http.MethodGet, path, "", nil)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer response.Body.Close()
		e, some := Event{Name: "message"}, false
		for line, err := range lines(response.Body) {
			switch {
			case err != nil:
				yield(Event{}, err)
				return
			case len(line) > 0:
				some = e.add(line) || some
			case some && !yield(e, nil):
				return
			default:
				e, some = Event{Name: "message", Data: e.Data[:0]}, false
			}
		}
	}
}

// add takes a line of an event, and reports whether the event has data now.
func (e *Event) add(line []byte) bool {
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		e.Name = string(value)
	case "data":
		if len(e.Data) > 0 {
			e.Data = append(e.Data, '\n')
		}
		e.Data = append(e.Data, value...)
		return true
	}
	return false
}
