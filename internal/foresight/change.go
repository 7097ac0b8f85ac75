package foresight

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Change is a policy that somebody thinks about. What it leaves out stays as it is.
type Change struct {
	Default  *expiry.TTL // Unset is off
	Property *string     // ttlPropertyPath, "" for the stamp
	Dates    []DateChange
}

// A DateChange adds, changes or drops a rule of dates: a TTL index of the API for MongoDB. The rule is that of the
// index named Index, or the one for Path and Partial, which is added if there is none.
type DateChange struct {
	Index   string
	Path    string
	Partial doc.Doc
	Seconds *int32 // nil drops the rule
}

// maxDates is how many rules of dates one change may name: no container has more indexes.
const maxDates = catalog.MaxNamedIndexes

// ParseChange reads a Change from JSON. Each member may be left out:
//
//	{"defaultTtl": 90, "ttlPropertyPath": "/from",
//	 "dates": [{"index": "seen_1", "expireAfterSeconds": 60}, {"field": "at", "expireAfterSeconds": null}]}
//
// A defaultTtl of null is off, a ttlPropertyPath of null is none, and expireAfterSeconds of null drops the rule. A
// defaultTtl without a ttlPropertyPath means that there is none, as where the lifetime is set.
func ParseChange(text []byte) (ch Change, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return ch, nil
	}
	body, err := doc.FromJSON(nil, text, doc.ParseOptions{})
	if err != nil {
		return ch, fault.Wrap(fault.Invalid, err, "The policy is not a JSON object: %s", err)
	}
	for name, v := range doc.Members(body) {
		switch name {
		case "defaultTtl":
			ch.Default, err = parseDefault(v)
		case "ttlPropertyPath":
			path, ok := doc.AsString(v)
			if !ok && !doc.IsNull(v) {
				err = fault.New(fault.Invalid, "ttlPropertyPath must be a path such as /from, or null.")
			}
			ch.Property = &path
		case "dates":
			ch.Dates, err = parseDates(v)
		default:
			err = fault.New(fault.Invalid, "A policy has no member '%s', only defaultTtl, ttlPropertyPath "+
				"and dates.", name)
		}
		if err != nil {
			return Change{}, err
		}
	}
	if ch.Default != nil && ch.Property == nil {
		ch.Property = new(string)
	}
	return ch, nil
}

func parseDefault(v doc.Value) (*expiry.TTL, error) {
	ttl, err := expiry.ParseDefault(v)
	if bad, ok := errors.AsType[*expiry.BadTTL](err); ok {
		return nil, fault.Wrap(fault.Invalid, err, "The input defaultTtl '%s' is invalid. Ensure to provide a nonzero "+
			"positive integer less than or equal to '%d', or '-1' which means never expire.", bad.Value, expiry.MaxTTL)
	}
	return &ttl, err
}

func parseDates(v doc.Value) (list []DateChange, err error) {
	if !doc.IsArray(v) {
		return nil, fault.New(fault.Invalid, "dates must be an array of rules.")
	}
	for element := range doc.Elements(v) {
		d, ok := doc.AsDoc(element)
		if !ok {
			return nil, fault.New(fault.Invalid, "Each rule of dates must be an object.")
		}
		x, err := parseDate(d)
		if err != nil {
			return nil, err
		}
		if list = append(list, x); len(list) > maxDates {
			return nil, fault.New(fault.Invalid, "A change may name %d rules of dates at most.", maxDates)
		}
	}
	return list, nil
}

func parseDate(d doc.Doc) (x DateChange, err error) {
	given := false
	for name, v := range doc.Members(d) {
		ok := true
		switch name {
		case "index":
			x.Index, ok = doc.AsString(v)
		case "field":
			x.Path, ok = doc.AsString(v)
		case "partialFilterExpression":
			x.Partial, ok = doc.AsDoc(v)
		case "expireAfterSeconds":
			given = true
			x.Seconds, ok = parseSeconds(v)
		default:
			return x, fault.New(fault.Invalid, "A rule of dates has no member '%s', only index, field, "+
				"partialFilterExpression and expireAfterSeconds.", name)
		}
		if !ok {
			return x, fault.New(fault.Invalid, "The value of '%s' in a rule of dates is not valid.", name)
		}
	}
	switch {
	case !given:
		return x, fault.New(fault.Invalid, "A rule of dates needs expireAfterSeconds: a whole number of seconds "+
			"from 0 to %d, or null to drop the rule.", math.MaxInt32)
	case (x.Index == "") == (x.Path == ""):
		return x, fault.New(fault.Invalid, "A rule of dates needs either index or field.")
	case x.Index != "" && x.Partial != nil:
		return x, fault.New(fault.Invalid, "The filter of an index cannot be changed: "+
			"leave partialFilterExpression out.")
	case x.Path != "" && !datePath(x.Path):
		return x, fault.New(fault.Invalid, "The field '%s' of a rule of dates is not valid.", x.Path)
	}
	return x, nil
}

func parseSeconds(v doc.Value) (*int32, bool) {
	if doc.IsNull(v) {
		return nil, true
	}
	n, ok := doc.AsInt(v)
	if !ok || n < 0 || n > math.MaxInt32 {
		return nil, false
	}
	seconds := int32(n)
	return &seconds, true
}

// datePath reports whether MongoDB would make a TTL index for a path: not on the _id, and not on the stamp, which is
// the default of the container.
func datePath(path string) bool {
	if path == "_id" || path == "_ts" {
		return false
	}
	for step := range strings.SplitSeq(path, ".") {
		if step == "" || step[0] == '$' {
			return false
		}
	}
	return true
}

// imagine is the policy as it would be after a change, ready for questions. It has the settings alone, without what the
// present policy has made final: that decides what is alive now, and the settings decide what becomes of it.
func (f *Foresight) imagine(v *store.Outlook, ch Change) (*expiry.Policy, error) {
	st := v.View.State
	q := &expiry.Policy{Default: st.Policy.Default, Property: st.Policy.Property, Dates: slices.Clone(st.Policy.Dates)}
	if ch.Default != nil {
		if q.Default = *ch.Default; q.Default == expiry.Unset {
			q.Property = "" // it cannot be set without a default
		}
	}
	if ch.Property != nil {
		q.Property = *ch.Property
	}
	if err := f.allowed(st, q, ch); err != nil {
		return nil, err
	}
	for i := range ch.Dates {
		if err := changeDate(st, q, &ch.Dates[i]); err != nil {
			return nil, err
		}
	}
	if err := f.catalog.Compile(q); err != nil {
		return nil, err
	}
	return q, closes(v, q)
}

// allowed refuses what the API of the container would refuse.
func (f *Foresight) allowed(st *catalog.State, q *expiry.Policy, ch Change) error {
	switch {
	case q.Property != "" && !q.On():
		return fault.New(fault.Invalid, "ttlPropertyPath needs a defaultTtl.")
	case ch.Property != nil && *ch.Property != "" && st.Dialect != catalog.NoSQL:
		return fault.New(fault.Invalid, "ttlPropertyPath belongs to containers of the API for NoSQL; "+
			"a collection of the API for MongoDB has rules of dates.")
	case q.On() && st.Indexing.None && st.Dialect == catalog.NoSQL:
		return fault.New(fault.Invalid, "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the "+
			"collection.")
	case len(ch.Dates) > 0 && st.Dialect != catalog.Mongo:
		return fault.New(fault.Invalid, "Rules of dates belong to collections of the API for MongoDB; "+
			"a container of the API for NoSQL has ttlPropertyPath.")
	case len(ch.Dates) > 0 && !f.catalog.DatesOn():
		return fault.New(fault.Invalid, "Rules of dates are switched off for all collections: "+
			"set the parameter ttlMonitorEnabled to true.")
	}
	return nil
}

// changeDate adds, changes or drops one rule.
func changeDate(st *catalog.State, q *expiry.Policy, x *DateChange) error {
	rule := expiry.DateRule{Path: x.Path, Partial: x.Partial}
	if x.Index != "" {
		at := slices.IndexFunc(st.Named, func(n catalog.NamedIndex) bool { return n.Name == x.Index })
		if at < 0 {
			return fault.New(fault.NotFound, "The collection has no index '%s'.", x.Index)
		}
		n := &st.Named[at]
		if n.Wildcard || len(n.Columns) != 1 || !datePath(n.Columns[0].Path) {
			return fault.New(fault.Invalid, "The index '%s' cannot end documents: that takes an index on one "+
				"field.", x.Index)
		}
		rule.Path, rule.Partial = n.Columns[0].Path, n.Partial
	}
	same := func(r expiry.DateRule) bool {
		return r.Path == rule.Path && string(r.Partial) == string(rule.Partial)
	}
	at := slices.IndexFunc(q.Dates, same)
	switch {
	case x.Seconds == nil && at < 0:
		return fault.New(fault.NotFound, "No rule of dates on '%s' could be dropped.", rule.Path)
	case x.Seconds == nil:
		q.Dates = slices.DeleteFunc(q.Dates, same)
		return nil
	case at >= 0:
		q.Dates[at].Seconds = *x.Seconds
		return nil
	}
	rule.Seconds = *x.Seconds
	q.Dates = append(q.Dates, rule)
	return nil
}

// closes fails as the change itself would if too many policies are closed already.
func closes(v *store.Outlook, q *expiry.Policy) error {
	was := v.View.Policy
	if q.Default != was.Default || q.Property != was.Property {
		if _, err := was.Close(v.View.Now, 0); err != nil {
			return err
		}
	}
	_, err := was.CloseDates(func(r expiry.DateRule) bool {
		return !slices.ContainsFunc(q.Dates, func(x expiry.DateRule) bool {
			return x.Index == r.Index && x.Seconds == r.Seconds
		})
	}, v.View.Now, 0)
	return err
}
