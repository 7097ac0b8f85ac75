package parameter

import (
	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// Set sets all parameters that a setParameter gives, or none if one value is wrong.
func (p *Parameters) Set(r *call.Request, a *doc.Writer) error {
	var sets []func() error
	var events []audit.Event
	given := map[string]doc.Value{}
	last := ""
	first := true
	for name, v := range doc.Members(r.Body) {
		if first || call.GenericFields[name] {
			first = false
			continue
		}
		x, known := table[name]
		switch {
		case !known:
			return code.New(code.InvalidOptions,
				"attempted to set unrecognized parameter [%.200s], use help:true to see options ", name)
		case x.parse == nil && x.fixed != "":
			return code.New(code.IllegalOperation, "not allowed to change [%s] at runtime: %s", name, x.fixed)
		case x.parse == nil:
			return code.New(code.IllegalOperation, "not allowed to change [%s] at runtime", name)
		}
		if before, twice := given[name]; twice {
			return code.New(code.InvalidOptions, "attempted to set parameter [%s] twice in the same setParameter "+
				"command, once to value: [%s], and once to value: [%s]",
				name, code.Show(before), code.Show(v))
		}
		given[name] = v
		set, err := x.parse(p, r, name, v)
		if err != nil {
			return err
		}
		sets, last = append(sets, set), name
		if c := p.change(name, v); name != datesName && c.Before != c.After {
			events = append(events, audit.Event{
				Action: "set", Kind: "parameter", Target: name, Changes: []audit.Change{c},
			})
		}
	}
	if last == "" {
		return code.New(code.InvalidOptions, "no option found to set, use help:true to see options ")
	}
	was := doc.NewWriter(nil)
	table[last].value(p, was, "was")
	if len(events) > 0 {
		if err := p.node.Catalog.Audit(r.Context, events...); err != nil {
			return err
		}
	}
	for _, set := range sets {
		if err := set(); err != nil {
			return err
		}
	}
	a.Members(was.End())
	return nil
}

// datesName is the parameter whose changes the catalog notes itself.
const datesName = "ttlMonitorEnabled"

// change is what setting a parameter to a value changes, for the audit trail.
func (p *Parameters) change(name string, to doc.Value) audit.Change {
	a := doc.NewWriter(nil)
	table[name].value(p, a, name)
	is := doc.Lookup(a.End(), name)
	if on, ok := doc.AsBool(is); ok {
		return audit.Change{Name: "value", Before: on, After: expression.Truthy(to)}
	}
	before, isNumber := call.WholeOf(is)
	if after, err := coerced(name, to); isNumber && err == nil {
		return audit.Change{Name: "value", Before: before, After: after}
	}
	return audit.Change{Name: "value", After: code.Show(to)}
}
