package update

import (
	"errors"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// compileArrayFilters compiles arrayFilters and returns them by identifier, the first name of their paths. The
// identifier of {"x.a": 1} is x.
// https://www.mongodb.com/docs/v7.0/reference/operator/update/positional-filtered/
func compileArrayFilters(list []doc.Doc, names *expression.Names) (map[string]*filter.Filter, error) {
	if len(list) == 0 {
		return nil, nil
	}
	filters := make(map[string]*filter.Filter, len(list))
	for _, d := range list {
		id, f, err := compileArrayFilter(d, names)
		if err != nil {
			return nil, inContext("Error parsing array filter", err)
		}
		if filters[id] != nil {
			return nil, code.New(code.FailedToParse,
				"Found multiple array filters with the same top-level field name %s", id)
		}
		filters[id] = f
	}
	return filters, nil
}

// inContext prefixes a message with the origin of the error, as MongoDB does.
func inContext(where string, err error) error {
	var e *code.Error
	if !errors.As(err, &e) {
		return err
	}
	placed := *e
	placed.Message = where + " :: caused by :: " + e.Message
	return &placed
}

func compileArrayFilter(d doc.Doc, names *expression.Names) (id string, f *filter.Filter, err error) {
	if f, err = filter.Compile(d, filter.Options{Names: names}); err != nil {
		return "", nil, err
	}
	if f.NeedsScope() {
		return "", nil, code.New(code.QueryFeatureNotAllowed, "$expr is not allowed in this context")
	}
	if id, err = identifier(d, "", 0); err != nil {
		return "", nil, err
	}
	switch {
	case id == "":
		return "", nil, code.New(code.FailedToParse,
			"Cannot use an expression without a top-level field name in arrayFilters")
	case !plain(id):
		return "", nil, code.New(code.BadValue,
			"The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '%s'", id)
	}
	return strings.Clone(id), f, nil
}

// identifier returns the name that all paths of a condition begin with; found is the name found so far.
func identifier(d doc.Doc, found string, level int) (string, error) {
	for name, v := range doc.Members(d) {
		switch {
		case name == "$and" || name == "$or" || name == "$nor":
			for e := range doc.Elements(v) {
				inner, ok := doc.AsDoc(e)
				if !ok || level == MaxDepth {
					continue // Compile has refused what is no object
				}
				var err error
				if found, err = identifier(inner, found, level+1); err != nil {
					return "", err
				}
			}
			continue
		case name == "$comment":
			continue
		case strings.HasPrefix(name, "$"):
			return "", code.New(code.FailedToParse, "Match expression does not support placeholders.")
		}
		first, _, _ := strings.Cut(name, ".")
		if found != "" && found != first {
			return "", code.New(code.FailedToParse, "Expected a single top-level field name, found '%s' and '%s'",
				found, first)
		}
		found = first
	}
	return found, nil
}

// plain reports whether a name has only letters and digits and begins with a lower-case letter.
func plain(name string) bool {
	for i := range len(name) {
		c := name[i]
		lower := c >= 'a' && c <= 'z'
		if !lower && (i == 0 || !(c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')) {
			return false
		}
	}
	return name != ""
}

// checkUsed fails if there is a filter whose identifier no path uses.
func (c *compiler) checkUsed(list []doc.Doc, update doc.Doc) error {
	for _, d := range list {
		if id, _ := identifier(d, "", 0); !c.used[id] {
			return code.New(code.FailedToParse, "The array filter for identifier '%s' was not used in the update %s",
				id, valueText(doc.Object(update)))
		}
	}
	return nil
}
