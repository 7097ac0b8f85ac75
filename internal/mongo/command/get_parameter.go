package command

import (
	"maps"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func init() {
	register("getParameter", command{run: getParameter, help: "Shows settings of the server.", loose: true, admin: true, needs: monitorAction})
}

func getParameter(r *request, a *answer) error {
	options, _ := doc.AsDoc(r.arg)
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
	if len(names) == 0 {
		return code.New(code.InvalidOptions, "no option found to get")
	}
	for _, name := range names {
		p := parameterTable[name]
		if !details {
			p.value(r.s, a, name)
			continue
		}
		a.object(name)
		p.value(r.s, a, "value")
		a.bool("settableAtRuntime", p.parse != nil)
		a.bool("settableAtStartup", false)
		a.close()
	}
	return nil
}
