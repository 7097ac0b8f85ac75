package command

import (
	"maps"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func getParameter(r *request, a *answer) error {
	options, _ := doc.AsDoc(r.arg)
	at := ""
	for name, v := range doc.Members(options) {
		ok := true
		switch name {
		case "showDetails", "allParameters":
			if _, ok = truth(v); !ok {
				return code.WrongType("getParameter."+name, v, "[bool, long, int, decimal, double]")
			}
		case "setAt":
			if at, ok = doc.AsString(v); !ok {
				return code.WrongType("getParameter.setAt", v, "string")
			}
			if at != "runtime" && at != "startup" {
				return code.New(code.BadValue, "Enumeration value '%.200s' for field 'getParameter.setAt' is not a valid value.", at)
			}
		default:
			return code.New(code.UnknownFieldOfCommand, "BSON field 'getParameter.%.200s' is an unknown field.", name)
		}
	}
	details := isTrue(doc.Lookup(options, "showDetails"))
	word, _ := doc.AsString(r.arg)
	var names []string
	if word == "*" || isTrue(doc.Lookup(options, "allParameters")) {
		names = slices.Sorted(maps.Keys(parameterTable))
	} else {
		first := true
		for name := range doc.Members(r.body) {
			if _, known := parameterTable[name]; known && !first {
				names = append(names, name)
			}
			first = false
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		p := parameterTable[name]
		return at == "runtime" && p.parse == nil || at == "startup" && !p.startup
	})
	if len(names) == 0 {
		return code.New(code.InvalidOptions, "no option found to get")
	}
	for _, name := range names {
		p := parameterTable[name]
		if !details {
			p.value(r.s, &a.Writer, name)
			continue
		}
		a.Object(name)
		p.value(r.s, &a.Writer, "value")
		a.Bool("settableAtRuntime", p.parse != nil)
		a.Bool("settableAtStartup", p.startup)
		a.Close()
	}
	return nil
}
