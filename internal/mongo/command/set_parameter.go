package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// setParameter sets all parameters that it is given, or none if one value is wrong.
func setParameter(r *request, a *answer) error {
	var sets []func() error
	given := map[string]doc.Value{}
	last := ""
	first := true
	for name, v := range doc.Members(r.body) {
		if first || genericFields[name] {
			first = false
			continue
		}
		p, known := parameterTable[name]
		switch {
		case !known:
			return code.New(code.InvalidOptions,
				"attempted to set unrecognized parameter [%.200s], use help:true to see options ", name)
		case p.parse == nil && p.fixed != "":
			return code.New(code.IllegalOperation, "not allowed to change [%s] at runtime: %s", name, p.fixed)
		case p.parse == nil:
			return code.New(code.IllegalOperation, "not allowed to change [%s] at runtime", name)
		}
		if before, twice := given[name]; twice {
			return code.New(code.InvalidOptions, "attempted to set parameter [%s] twice in the same setParameter "+
				"command, once to value: [%s], and once to value: [%s]",
				name, code.Show(before), code.Show(v))
		}
		given[name] = v
		set, err := p.parse(r, name, v)
		if err != nil {
			return err
		}
		sets, last = append(sets, set), name
	}
	if last == "" {
		return code.New(code.InvalidOptions, "no option found to set, use help:true to see options ")
	}
	was := doc.NewWriter(nil)
	parameterTable[last].value(r.s, was, "was")
	for _, set := range sets {
		if err := set(); err != nil {
			return err
		}
	}
	a.Members(was.End())
	return nil
}
