package monitor

import (
	"net"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
)

// recordOf makes the document of system.profile about a request.
// https://www.mongodb.com/docs/v7.0/reference/database-profiler/
func recordOf(r *call.Request, from *Connection, took time.Duration) doc.Doc {
	x, op := &r.Trace, kindOfRequest(r)
	a := doc.NewWriter(nil)
	a.String("op", op)
	namespace := r.Namespace()
	a.String("ns", code.Cut(namespace, maxLoggedName))
	writeCommand(a, r, maxProfiledShown)
	if x.CursorID != 0 {
		a.Int64("cursorid", x.CursorID)
	}
	plan := planOf(r)
	if plan != "" {
		a.Int64("keysExamined", int64(x.Stats.Keys+x.Points))
		a.Int64("docsExamined", int64(x.Stats.Documents+x.Points))
	}
	switch op {
	case "insert":
		a.Int64("ninserted", x.N)
	case "update":
		a.Int64("nMatched", x.N)
		a.Int64("nModified", x.Modified)
	case "remove":
		a.Int64("ndeleted", x.N)
	}
	a.Int32("numYield", 0)
	a.Object("locks") // mayfly has none that a request waits for
	a.Close()
	if plan != "" || op == "getmore" {
		a.Int64("nreturned", x.Returned)
	}
	if r.Status != 0 {
		a.Bool("ok", false)
		a.String("errName", statusName(int(r.Status)))
		a.Int32("errCode", int(r.Status))
	}
	a.Int64("responseLength", x.Bytes)
	a.String("protocol", "op_msg")
	a.Int64("millis", took.Milliseconds())
	if plan != "" {
		a.String("planSummary", plan)
	}
	a.Date("ts", r.At.UnixMilli())
	client := from.Remote
	if host, _, err := net.SplitHostPort(client); err == nil {
		client = host
	}
	a.String("client", client)
	a.String("appName", from.AppName)
	user := ""
	a.Array("allUsers")
	if u := from.User; u != nil {
		user = u.Name + "@" + u.Database
		a.Object(a.Index())
		a.String("user", u.Name)
		a.String("db", u.Database)
		a.Close()
	}
	a.Close()
	a.String("user", user)
	return a.End()
}

// planOf is the summary of the plan that a request has followed, "" if it needed none.
func planOf(r *call.Request) string {
	switch x := &r.Trace; {
	case x.Plan != nil:
		return summaryOf(x.Plan)
	case x.Points > 0:
		return "IDHACK"
	}
	return ""
}

// summaryBytes bounds the summary of a plan, in bytes: there may be many parts of an $or.
const summaryBytes = 1000

func summaryOf(p *plan.Plan) string { return code.Cut(p.Summary(), summaryBytes) }
