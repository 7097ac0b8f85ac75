package command

// Tests of drivers see by this command what the Stable API refuses.
// https://github.com/mongodb/specifications/blob/master/source/versioned-api/tests/test-commands-strict-mode.yml
func init() {
	register("testVersion2", command{run: doNothing, help: "Is not in the Stable API.", needs: anyAction, loose: true, test: true})
}
