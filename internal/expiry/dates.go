package expiry

import (
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A DateRule ends documents Seconds after the earliest date under Path: MongoDB's TTL index, whose documents are due
// when date <= now - seconds. Values that are no date end nothing.
// https://www.mongodb.com/docs/manual/core/index-ttl/
type DateRule struct {
	Index   uint32  `json:"-"`    // the number of the index that has the rule
	Path    string  `json:"path"` // dotted, through arrays too
	Seconds int32   `json:"seconds"`
	Partial doc.Doc `json:"partial,omitempty"` // the rule holds for documents that match it, nil for all

	steps   []string           // of Path
	matches func(doc.Doc) bool // Partial compiled, nil for all
}

// A PastDates is a rule of dates that is closed: it has ended what was due by Until, and holds for documents with a
// sequence up to Sequence.
type PastDates struct {
	DateRule
	Until    Stamp  `json:"until"`
	Sequence uint64 `json:"sequence"`
}

func (r *DateRule) compile(filter func(doc.Doc) (func(doc.Doc) bool, error)) (err error) {
	r.steps, r.matches = strings.Split(r.Path, "."), nil
	if r.Partial != nil {
		r.matches, err = filter(r.Partial)
	}
	return err
}

// Deadline is the first second at which a document with that date, in milliseconds since 1970, does not exist. The rule
// of lifetime has seconds, so it is the first whole second that is not before the exact instant.
func (r *DateRule) Deadline(ms int64) Stamp {
	whole := ms / 1000
	if ms%1000 > 0 {
		whole++
	}
	return whole + Stamp(r.Seconds)
}

// LastDue is the greatest date, in milliseconds, that is due at now.
func (r *DateRule) LastDue(now Stamp) (ms int64) {
	if at := now - Stamp(r.Seconds); at > math.MinInt64/1000 {
		return at * 1000
	}
	return math.MinInt64
}

// Earliest is the date of a document that the rule counts from, in milliseconds; false if it has none.
func (r *DateRule) Earliest(body doc.Doc) (ms int64, ok bool) {
	return earliestDate(doc.Object(body), r.steps)
}

// deadline is the first second at which the rule ends a document, false if it never does.
func (r *DateRule) deadline(body doc.Doc) (at Stamp, ok bool) {
	ms, ok := earliestDate(doc.Object(body), r.steps)
	if !ok || r.matches != nil && !r.matches(body) {
		return 0, false
	}
	return r.Deadline(ms), true
}

// DateDeadline is the first second at which a rule in force ends a document, false if none does. It is never below 1,
// so that callers may use 0 for none.
func (p *Policy) DateDeadline(body doc.Doc) (at Stamp, ok bool) {
	for i := range p.Dates {
		if date, dated := p.Dates[i].deadline(body); dated && (!ok || date < at) {
			at, ok = max(date, 1), true
		}
	}
	return at, ok
}

// deadByDate reports whether a rule of dates, in force or closed, has ended a document.
func (p *Policy) deadByDate(d Document, now Stamp) bool {
	for i := range p.Dates {
		if at, ok := p.Dates[i].deadline(d.Body); ok && at <= now {
			return true
		}
	}
	for i := range p.PastDates {
		past := &p.PastDates[i]
		if d.Sequence > past.Sequence {
			continue
		}
		if at, ok := past.deadline(d.Body); ok && at <= past.Until {
			return true
		}
	}
	return false
}

// covers reports whether q has ended nothing that the newer rule p has not.
func (p PastDates) covers(q PastDates) bool {
	return p.Path == q.Path && string(p.Partial) == string(q.Partial) && p.Sequence >= q.Sequence &&
		p.Until-Stamp(p.Seconds) >= q.Until-Stamp(q.Seconds)
}

// Equal reports whether p and q say the same.
func (p PastDates) Equal(q PastDates) bool {
	return p.Path == q.Path && p.Seconds == q.Seconds && string(p.Partial) == string(q.Partial) &&
		p.Until == q.Until && p.Sequence == q.Sequence
}

// earliestDate finds the least date, in milliseconds, that a document has under a path. Like a query, a path goes
// through the elements of arrays, and a number in it names one element.
func earliestDate(v doc.Value, path []string) (ms int64, ok bool) {
	note := func(found int64, there bool) {
		if there && (!ok || found < ms) {
			ms, ok = found, true
		}
	}
	if len(path) == 0 {
		if v.Type != bsoncore.TypeArray {
			return doc.AsDate(v)
		}
		for element := range doc.Elements(v) {
			note(doc.AsDate(element))
		}
		return ms, ok
	}
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		return earliestDate(doc.Lookup(doc.Doc(v.Data), path[0]), path[1:])
	case bsoncore.TypeArray:
		if at, ok := doc.ElementIndex(path[0]); ok {
			return earliestDate(element(v, at), path[1:])
		}
		for element := range doc.Elements(v) {
			if element.Type == bsoncore.TypeEmbeddedDocument {
				note(earliestDate(element, path))
			}
		}
	}
	return ms, ok
}

// element is the element of an array at an index, the zero Value if there is none.
func element(array doc.Value, at int) doc.Value {
	i := 0
	for element := range doc.Elements(array) {
		if i == at {
			return element
		}
		i++
	}
	return doc.Value{}
}
