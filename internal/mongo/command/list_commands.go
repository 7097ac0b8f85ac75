package command

import (
	"maps"
	"slices"

	"github.com/mayflydb/mayfly/internal/mongo/call"
)

func listCommands(r *request, a *answer) error {
	a.Object("commands")
	for _, name := range slices.Sorted(maps.Keys(r.s.commands)) {
		c := r.s.commands[name]
		if c.test && !r.s.o.TestCommands {
			continue
		}
		a.Object(name)
		a.String("help", c.help)
		a.Bool("requiresAuth", !c.open)
		a.Bool("secondaryOk", false)
		a.Bool("adminOnly", c.admin)
		a.Strings("apiVersions", versionsIf(call.StableCommands[name]))
		a.Strings("deprecatedApiVersions", versionsIf(c.deprecated))
		a.Close()
	}
	a.Close()
	return nil
}

// versionsIf lists the versions of the Stable API in which something is so: the one that there is, or none.
func versionsIf(is bool) []string {
	if is {
		return []string{"1"}
	}
	return nil
}
