package command

// Tests of drivers see by this command what the Stable API tells of those that are deprecated.
// https://github.com/mongodb/specifications/tree/master/source/versioned-api/tests
func init() {
	register("testDeprecation", command{run: doNothing, help: "Is deprecated in the Stable API.", needs: anyAction, loose: true, test: true, deprecated: true})
}

func doNothing(*request, *answer) error { return nil }
