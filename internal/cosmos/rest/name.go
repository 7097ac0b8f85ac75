package rest

import (
	"strings"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// maxName is the longest name of a resource in characters.
const maxName = 255

var errNameless = fault.New(fault.Invalid, "The input content is invalid because the required properties - 'id; ' - "+
	"are missing. Give it an id, a string that is not empty.")

// nameOf is the id in the body of a database, container or other named resource.
func nameOf(d doc.Doc) (string, error) {
	v := doc.Lookup(d, "id")
	if doc.IsUndefined(v) || doc.IsNull(v) {
		if _, query := doc.AsString(doc.Lookup(d, "query")); query {
			return "", withQueryAdvice(errNameless)
		}
		return "", errNameless
	}
	name, ok := doc.AsString(v)
	if !ok {
		return "", wrongID(v, maxName)
	}
	if !validName(name) {
		return "", fault.New(fault.Invalid,
			"The input name '%s' is invalid. Ensure to provide a unique non-empty string less than '%d' characters. "+
				"It cannot contain / \\ ? # or control characters, or end with a space.", clip(name), maxName)
	}
	return strings.Clone(name), nil
}

// wrongID is the error of an id that is not a string.
func wrongID(v doc.Value, most int) error {
	return fault.New(fault.Invalid,
		"The input name '%s' is invalid. Ensure to provide a unique non-empty string less than '%d' characters. "+
			"The id must be a string: put it in quotes.", clip(string(doc.AppendJSONValue(nil, v))), most)
}

// adviseQuery adds advice to the error of a body that is not a resource but looks like a query.
func adviseQuery(text []byte, err error) error {
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
	return withQueryAdvice(err)
}

func withQueryAdvice(err error) error {
	return fault.New(fault.KindOf(err), "%s The body is a query: send it with the content type application/query+json "+
		"and the header x-ms-documentdb-isquery: True.", fault.Message(err))
}

func validName(name string) bool {
	if name == "" || utf8.RuneCountInString(name) > maxName || strings.HasSuffix(name, " ") {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r < ' ' || r == 0x7f || strings.ContainsRune(`/\?#`, r)
	}) < 0
}

// object parses the request's body as one JSON object in its own memory, and reads the clock after the body has
// arrived.
func (e *exchange) object() (doc.Doc, error) {
	text, err := e.bodyThenClock()
	if err != nil {
		return nil, err
	}
	return parseDoc(nil, text, doc.ParseOptions{})
}
