package command

import (
	"maps"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// parameterOptions are the members of the document that getParameter takes.
type parameterOptions struct {
	all, details bool
	at           string // "runtime" or "startup": only parameters that can be set then; "" for all
}

func getParameter(r *request, a *answer) error {
	o, err := readParameterOptions(r.arg)
	if err != nil {
		return err
	}
	names := slices.DeleteFunc(r.namedParameters(o.all), func(name string) bool {
		p := parameterTable[name]
		return o.at == "runtime" && p.parse == nil || o.at == "startup" && !p.startup
	})
	if len(names) == 0 {
		return code.New(code.InvalidOptions, "no option found to get")
	}
	for _, name := range names {
		p := parameterTable[name]
		if !o.details {
			p.value(r.s, a, name)
			continue
		}
		a.object(name)
		p.value(r.s, a, "value")
		a.bool("settableAtRuntime", p.parse != nil)
		a.bool("settableAtStartup", p.startup)
		a.close()
	}
	return nil
}

// readParameterOptions reads the argument of getParameter: "*", a document, or anything else.
func readParameterOptions(arg doc.Value) (o parameterOptions, err error) {
	word, _ := doc.AsString(arg)
	options, _ := doc.AsDoc(arg)
	o.all = word == "*" || isTrue(doc.Lookup(options, "allParameters"))
	o.details = isTrue(doc.Lookup(options, "showDetails"))
	for name, v := range doc.Members(options) {
		ok := true
		switch name {
		case "showDetails", "allParameters":
			if _, ok = truth(v); !ok {
				return o, wrongTypeOf("getParameter."+name, v, "[bool, long, int, decimal, double]")
			}
		case "setAt":
			if o.at, ok = doc.AsString(v); !ok {
				return o, wrongTypeOf("getParameter.setAt", v, "string")
			}
			if o.at != "runtime" && o.at != "startup" {
				return o, code.New(code.BadValue,
					"Enumeration value '%.200s' for field 'getParameter.setAt' is not a valid value.", o.at)
			}
		default:
			return o, code.New(code.UnknownFieldOfCommand,
				"BSON field 'getParameter.%.200s' is an unknown field.", name)
		}
	}
	return o, nil
}

// namedParameters lists the parameters that the command names, or all.
func (r *request) namedParameters(all bool) (names []string) {
	if all {
		return slices.Sorted(maps.Keys(parameterTable))
	}
	first := true
	for name := range doc.Members(r.body) {
		if _, known := parameterTable[name]; known && !first {
			names = append(names, name)
		}
		first = false
	}
	return names
}
