package catalog

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Compile prepares a policy that is not in force for questions about it: it parses its paths and compiles the filters
// of its rules of dates, as they would be if a container had it. What cannot be parsed is fault.Invalid.
func (c *Catalog) Compile(p *expiry.Policy) error {
	condition := c.condition
	if condition == nil {
		condition = noCondition
	}
	filter := func(d doc.Doc) (func(doc.Doc) bool, error) {
		matches, err := condition(d)
		if err != nil && fault.KindOf(err) != fault.Invalid { // in the words of a language
			err = fault.Wrap(fault.Invalid, err, "The filter of the partial index is not valid: %s", err)
		}
		return matches, err
	}
	if p.Property != "" {
		if _, err := parsePath(p.Property); err != nil {
			return err
		}
	}
	return p.Compile(filter)
}
