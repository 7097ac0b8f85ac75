package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A document is an item in an answer: its own properties as text, and the system properties.
type document struct {
	own       []string
	id, pk    string
	etag, rid string
	stamp     int64
}

// parse parses an item, keeping the order of members.
func parse(body []byte) document {
	var d document
	in := json.NewDecoder(bytes.NewReader(body))
	if token, err := in.Token(); err != nil || token != json.Delim('{') {
		return d
	}
	for in.More() {
		name, err := in.Token()
		var value json.RawMessage
		if err != nil || in.Decode(&value) != nil {
			return d
		}
		text, _ := strconv.Unquote(string(value))
		switch name {
		case "id":
			d.id = text
		case "pk":
			d.pk = text
		case "_etag":
			d.etag = text
		case "_rid":
			d.rid = text
		case "_ts":
			d.stamp, _ = strconv.ParseInt(string(value), 10, 64)
		case "_self", "_attachments", "_lsn":
		default:
			d.own = append(d.own, fmt.Sprintf("%s=%s", name, value))
		}
	}
	return d
}

// remember records an item's version and reports whether it is another document under the same name. A version must
// never occur twice.
func (w *storyRunner) remember(i *item, d document) (another bool) {
	w.t.Helper()
	if slices.Contains(i.etags, d.etag) && i.etags[len(i.etags)-1] != d.etag {
		w.t.Errorf("%s has an ETag that it had before", i.name())
	}
	if !slices.Contains(i.etags, d.etag) {
		i.etags = append(i.etags, d.etag)
	}
	another = len(i.rids) > 0 && i.rids[len(i.rids)-1] != d.rid
	if another && slices.Contains(i.rids, d.rid) {
		w.t.Errorf("%s has a RID that it had before", i.name())
	}
	if !slices.Contains(i.rids, d.rid) {
		i.rids = append(i.rids, d.rid)
	}
	return another
}

// written describes the answer to a write and remembers it.
func (w *storyRunner) written(i *item, a answer) string {
	w.t.Helper()
	said := w.say(a)
	if a.status != 200 && a.status != 201 {
		return said
	}
	before := len(i.etags)
	another := w.remember(i, parse(a.body))
	if len(i.etags) == before {
		w.t.Errorf("%s was written and kept its ETag", i.name())
	}
	if another {
		said += ", another _rid"
	}
	return said
}

// say describes an answer about an item.
func (w *storyRunner) say(a answer) string {
	if a.status != 200 && a.status != 201 {
		return failure(a)
	}
	d := parse(a.body)
	parts := []string{strings.Join(append([]string{strconv.Itoa(a.status)}, d.own...), " ")}
	parts = append(parts, "_ts "+w.clock.sinceStart(time.Unix(d.stamp, 0)))
	if text := a.header.Get("x-mayfly-expires-at"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		must(w.t, err)
		parts = append(parts, "until "+w.clock.sinceStart(at))
	}
	if hint, _, _ := strings.Cut(a.header.Get("x-mayfly-hint"), ","); hint != "" {
		parts = append(parts, "hint: "+strings.TrimSuffix(strings.SplitAfter(hint, ". ")[0], ". "))
	}
	return strings.Join(parts, ", ")
}

// failure describes an error: its status, its substatus, and the message of a 400.
func failure(a answer) string {
	said := strconv.Itoa(a.status)
	if sub := a.header.Get("x-ms-substatus"); sub != "" && sub != "0" {
		said += "/" + sub
	}
	if a.status == 400 || a.status == 403 {
		said += " " + message(a)
	}
	return said
}

var backendError = regexp.MustCompile(`(?s)^Message: (\{.*\})\r\nActivityId`)

// message is the text of an error without its wrapping.
func message(a answer) string {
	var outer struct{ Message string }
	var inner struct{ Errors []string }
	if json.Unmarshal(a.body, &outer) != nil {
		return string(a.body)
	}
	m := backendError.FindStringSubmatch(outer.Message)
	if m == nil || json.Unmarshal([]byte(m[1]), &inner) != nil {
		return outer.Message
	}
	return strings.Join(inner.Errors, "; ")
}

// outcomes describes the results of several operations.
func (w *storyRunner) outcomes(a answer, of []*item) string {
	w.t.Helper()
	var list []struct {
		StatusCode   int
		Message      string
		ResourceBody json.RawMessage
	}
	if json.Unmarshal(a.body, &list) != nil {
		return message(a)
	}
	var said []string
	for i, entry := range list {
		text := strconv.Itoa(entry.StatusCode)
		if entry.StatusCode == 400 {
			text += " " + entry.Message
		}
		if entry.StatusCode < 300 && len(entry.ResourceBody) > 0 {
			w.remember(of[i], parse(entry.ResourceBody))
		}
		said = append(said, text)
	}
	return "[" + strings.Join(said, ", ") + "]"
}
