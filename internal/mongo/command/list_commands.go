package command

import (
	"maps"
	"slices"
)

func listCommands(r *request, a *answer) error {
	a.object("commands")
	for _, name := range slices.Sorted(maps.Keys(r.s.commands)) {
		c := r.s.commands[name]
		if c.test && !r.s.o.TestCommands {
			continue
		}
		a.object(name)
		a.string("help", c.help)
		a.bool("requiresAuth", !c.open)
		a.bool("secondaryOk", false)
		a.bool("adminOnly", c.admin)
		a.strings("apiVersions", versionsIf(stableCommands[name]))
		a.strings("deprecatedApiVersions", versionsIf(c.deprecated))
		a.close()
	}
	a.close()
	return nil
}

// versionsIf lists the versions of the Stable API in which something is so: the one that there is, or none.
func versionsIf(is bool) []string {
	if is {
		return []string{"1"}
	}
	return nil
}
