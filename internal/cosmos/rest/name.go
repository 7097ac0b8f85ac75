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
		if _, query := doc.AsString(doc.Lookup(d, "query")); query {
			return "", alsoQuery(errNameless)
		}
		return "", errNameless
	}
	name, ok := doc.AsString(v)
	if !ok {
		return "", wrongID(v, maxName)
	}
	if !validName(name) {
		return "", fault.New(fault.Invalid, "The input name '%s' is invalid. Ensure to provide a unique non-empty string less than '%d' characters. "+
			"It has none of / \\ ? # and no control characters, and does not end with a space.", clip(name), maxName)
	}
	return strings.Clone(name), nil
}

// wrongID is the error of an id that is no string.
func wrongID(v doc.Value, most int) error {
	return fault.New(fault.Invalid, "The input name '%s' is invalid. Ensure to provide a unique non-empty string less than '%d' characters. "+
		"The id has to be a string: put it in quotes.", clip(string(doc.AppendJSONValue(nil, v))), most)
}

// perhapsQuery adds what to do to the error of a body that is no resource, if it is a query.
func perhapsQuery(text []byte, err error) error {
	if k := fault.KindOf(err); k != fault.Invalid && k != fault.PartitionMismatch {
		return err
	}
	d, wrong := doc.FromJSON(nil, text, doc.ParseOptions{})
	if wrong != nil || present(d, "id") {
		return err
	}
	if _, query := doc.AsString(doc.Lookup(d, "query")); !query {
		return err
	}
	return alsoQuery(err)
}

func alsoQuery(err error) error {
	return fault.New(fault.KindOf(err), "%s The body is a query: send it with the content type application/query+json and the header x-ms-documentdb-isquery: True.", fault.Message(err))
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
	return parseDoc(nil, text, doc.ParseOptions{})
}
