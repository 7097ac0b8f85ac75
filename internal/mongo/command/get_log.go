package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func getLog(r *request, a *answer) error {
	name, ok := doc.AsString(r.Arg)
	if !ok {
		return call.WrongMember("getLog.getLog", r.Arg, "string")
	}
	switch name {
	case "*":
		a.Strings("names", []string{"global", "startupWarnings"})
	case "global":
		lines, total := r.s.monitor.Log.Lines()
		a.Int32("totalLinesWritten", total)
		a.Strings("log", lines)
	case "startupWarnings": // mayfly has none
		a.Int32("totalLinesWritten", 0)
		a.Strings("log", nil)
	default:
		return code.New(code.OperationFailed, "No log named '%.50s'", name)
	}
	return nil
}
