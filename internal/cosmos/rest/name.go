package rest

import (
	"strings"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// maxName is the longest name of a resource in characters.
const maxName = 255

var errNameless = fault.New(fault.Invalid, "The input content is invalid because the required properties - 'id; ' - are missing. Give it an id, a string that is not empty.")

// nameOf is the id in the body of a database, container or other named resource.
func nameOf(d doc.Doc) (string, error) {
	v := doc.Lookup(d, "id")
	if doc.IsUndefined(v) || doc.IsNull(v) {
		return "", errNameless
	}
	name, ok := doc.AsString(v)
	if !ok {
		return "", fault.New(fault.Invalid, "The input name '%s' is invalid. The id has to be a string: put it in quotes.", clip(string(doc.AppendJSONValue(nil, v))))
	}
	if !validName(name) {
		return "", fault.New(fault.Invalid, "The input name '%s' is invalid. Ensure to provide a unique non-empty string of at most %d characters, without / \\ ? # and control characters, and with no space at its end.", clip(name), maxName)
	}
	return strings.Clone(name), nil
}

func validName(name string) bool {
	if name == "" || utf8.RuneCountInString(name) > maxName || strings.HasSuffix(name, " ") {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r < ' ' || r == 0x7f || strings.ContainsRune(`/\?#`, r)
	}) < 0
}

// object reads the request's body as one JSON object, in memory of its own, and the
// clock after it: the request is now when its body is there.
func (e *exchange) object() (doc.Doc, error) {
	text, err := e.lateBody()
	if err != nil {
		return nil, err
	}
	d, err := doc.FromJSON(nil, text, doc.ParseOptions{})
	if err != nil {
		return nil, docFault(err)
	}
	return d, nil
}
