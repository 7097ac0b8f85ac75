package parameter

import (
	"maps"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Get writes the parameters that a getParameter asks for.
func (p *Parameters) Get(r *call.Request, a *doc.Writer) error {
	options, _ := doc.AsDoc(r.Arg)
	at := ""
	for name, v := range doc.Members(options) {
		ok := true
		switch name {
		case "showDetails", "allParameters":
			if _, ok = call.Truth(v); !ok {
				return code.WrongType("getParameter."+name, v, "[bool, long, int, decimal, double]")
			}
		case "setAt":
			if at, ok = doc.AsString(v); !ok {
				return code.WrongType("getParameter.setAt", v, "string")
			}
			if at != "runtime" && at != "startup" {
				return code.New(code.BadValue,
					"Enumeration value '%.200s' for field 'getParameter.setAt' is not a valid value.", at)
			}
		default:
			return code.New(code.UnknownFieldOfCommand, "BSON field 'getParameter.%.200s' is an unknown field.", name)
		}
	}
	details := call.IsTrue(doc.Lookup(options, "showDetails"))
	word, _ := doc.AsString(r.Arg)
	var names []string
	if word == "*" || call.IsTrue(doc.Lookup(options, "allParameters")) {
		names = slices.Sorted(maps.Keys(table))
	} else {
		first := true
		for name := range doc.Members(r.Body) {
			if _, known := table[name]; known && !first {
				names = append(names, name)
			}
			first = false
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		x := table[name]
		return at == "runtime" && x.parse == nil || at == "startup" && !x.startup
	})
	if len(names) == 0 {
		return code.New(code.InvalidOptions, "no option found to get")
	}
	for _, name := range names {
		x := table[name]
		if !details {
			x.value(p, a, name)
			continue
		}
		a.Object(name)
		x.value(p, a, "value")
		a.Bool("settableAtRuntime", x.parse != nil)
		a.Bool("settableAtStartup", x.startup)
		a.Close()
	}
	return nil
}
