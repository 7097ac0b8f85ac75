package command

// doNothing is testDeprecation and testVersion2, with which the tests of drivers check what the Stable API says about
// commands that are deprecated, and about commands of another version.
// https://github.com/mongodb/specifications/tree/master/source/versioned-api/tests
func doNothing(*request, *answer) error { return nil }
