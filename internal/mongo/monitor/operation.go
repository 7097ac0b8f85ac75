package monitor

import (
	"strconv"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A Connection is a client, and what it is doing.
type Connection struct {
	Number   int32
	Remote   string            // its address
	AppName  string            // "" for none
	Metadata doc.Doc           // what it says of itself, nil for nothing
	User     *account.Identity // nil for nobody
	Running  *call.Request     // nil while there is none
}

// Describe shows a connection on this host. whole shows more of long commands. The running request must not end
// before.
func (c *Connection) Describe(host string, whole bool) doc.Doc {
	a := doc.NewWriter(nil)
	a.String("type", "op")
	a.String("host", host)
	a.String("desc", "conn"+strconv.Itoa(int(c.Number)))
	a.Int32("connectionId", int(c.Number))
	a.String("client", c.Remote)
	if c.AppName != "" {
		a.String("appName", c.AppName)
	}
	if c.Metadata != nil {
		a.Doc("clientMetadata", c.Metadata)
	}
	a.Bool("active", c.Running != nil)
	a.String("currentOpTime", clock.Wall().UTC().Format(wallTime))
	if c.User != nil {
		a.Array("effectiveUsers")
		a.Object(a.Index())
		a.String("user", c.User.Name)
		a.String("db", c.User.Database)
		a.Close()
		a.Close()
	}
	if c.Running != nil {
		describeRequest(c.Running, a, whole)
	}
	return a.End()
}

// describeRequest writes what a running request does.
func describeRequest(r *call.Request, a *doc.Writer, whole bool) {
	took := r.Since.Elapsed()
	a.Int32("opid", int(r.Number))
	a.Int64("secs_running", int64(took/time.Second))
	a.Int64("microsecs_running", took.Microseconds())
	if r.LSID.Type != 0 {
		a.Value("lsid", r.LSID)
	}
	a.String("op", kindOfRequest(r))
	a.String("ns", code.Cut(r.Namespace(), maxLoggedName))
	a.Bool("redacted", r.Traits.Secret)
	limit := maxShownCommand
	if whole {
		limit = maxProfiledShown
	}
	writeCommand(a, r, limit)
	if p := r.Planned.Load(); p != nil {
		a.String("planSummary", summaryOf(p))
	}
	writeTransaction(r, a)
	if id, ok := doc.AsInt64Exact(r.Arg); ok && r.Name == "getMore" {
		a.Object("cursor")
		a.Int64("cursorId", id)
		a.Close()
	}
	a.Int32("numYields", 0)
	a.Object("locks") // mayfly has none that a request waits for
	a.Close()
	a.Bool("waitingForLock", false)
}

// writeTransaction shows in which transaction a request runs, if any. It reads what the client has said, which does not
// change, unlike the state of the transaction.
func writeTransaction(r *call.Request, a *doc.Writer) {
	if !r.HasTxn {
		return
	}
	a.Object("transaction")
	a.Object("parameters")
	a.Int64("txnNumber", r.TxnNumber)
	if r.Autocommit.Type != 0 {
		a.Value("autocommit", r.Autocommit)
	}
	if concern, ok := doc.AsDoc(r.ReadConcern); ok && len(concern) <= maxShownCommand {
		a.Doc("readConcern", concern)
	}
	a.Close()
	a.Close()
}

// kindOfRequest is MongoDB's name of the operation.
func kindOfRequest(r *call.Request) string {
	switch r.Name {
	case "find":
		return "query"
	case "getMore":
		return "getmore"
	case "delete":
		return "remove"
	case "insert", "update":
		return r.Name
	}
	return "command"
}

// DescribeCursor shows a cursor that no request reads at the moment.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/currentOp/#mongodb-data--currentOp.cursor
func DescribeCursor(x *session.Cursor, host string) doc.Doc {
	a := doc.NewWriter(nil)
	a.String("type", "idleCursor")
	a.String("host", host)
	a.String("ns", x.Namespace)
	if x.Owner.Name != "" {
		a.Array("effectiveUsers")
		a.Object(a.Index())
		a.String("user", x.Owner.Name)
		a.String("db", x.Owner.Database)
		a.Close()
		a.Close()
	}
	a.Object("cursor")
	a.Int64("cursorId", x.ID)
	a.Date("lastAccessDate", x.Used().UnixMilli())
	a.Bool("tailable", x.Awaits)
	a.Bool("awaitData", x.Awaits)
	a.Bool("noCursorTimeout", x.NoTimeout)
	a.Close()
	return a.End()
}

// DescribeTransaction shows a transaction in which no operation runs at the moment.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/currentOp/#mongodb-data--currentOp.transaction
func (m *Monitor) DescribeTransaction(x *session.Transaction, host string) doc.Doc {
	a := doc.NewWriter(nil)
	a.String("type", "idleSession")
	a.String("host", host)
	a.String("desc", "inactive transaction")
	a.Bool("active", false)
	if owner := x.Owner(); owner.Name != "" {
		a.Array("effectiveUsers")
		a.Object(a.Index())
		a.String("user", owner.Name)
		a.String("db", owner.Database)
		a.Close()
		a.Close()
	}
	a.Object("lsid")
	x.DescribeSession(a)
	a.Close()
	open := x.Open()
	begun := clock.Wall().Add(-open)
	a.Object("transaction")
	a.Object("parameters")
	a.Int64("txnNumber", x.Number())
	a.Bool("autocommit", false)
	a.Close()
	a.String("startWallClockTime", begun.UTC().Format(wallTime))
	a.Int64("timeOpenMicros", open.Microseconds())
	a.String("expiryTime", begun.Add(m.Node.Lifetime()).UTC().Format(wallTime))
	a.Close()
	a.Int32("numYields", 0)
	a.Object("locks")
	a.Close()
	a.Bool("waitingForLock", false)
	return a.End()
}

// wallTime is how operations show a time of the real clock.
const wallTime = "2006-01-02T15:04:05.000-07:00"
