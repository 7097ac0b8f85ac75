package command

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

var findFields = call.FieldSet(`filter sort projection hint skip limit batchSize singleBatch
	max min returnKey showRecordId tailable oplogReplay noCursorTimeout awaitData allowPartialResults
	collation allowDiskUse let ntoreturn snapshot maxScan`)

func find(r *request, a *answer) error {
	name := r.Collection()
	if r.Err != nil {
		return r.Err
	}
	if done, err := findPoint(r, a, name); done || err != nil {
		return err
	}
	q, err := query.ReadFind(&r.Request, name)
	if err != nil {
		return err
	}
	size := r.BatchSize("find", r.Get("batchSize"), firstBatch)
	if n := r.Int("ntoreturn", 0, 0); n > 0 {
		size = n
	}
	if r.Err != nil {
		return r.Err
	}
	if q.Container != nil && query.ViewOf(q.Container) != nil {
		return findView(r, a, q, size)
	}
	if q.Container == nil && q.Given == nil {
		return r.reply(a, q.Namespace, &listed{}, size, nil)
	}
	err = r.reply(a, q.Namespace, q, size, r.mayStay)
	return within("Executor error during find command: "+q.Namespace, err)
}

// mayStay keeps a cursor without a limit of time if the client asks for that.
func (r *request) mayStay(x *session.Cursor) { x.NoTimeout = r.Bool("noCursorTimeout", false) }

// within says at what an error has come up, as MongoDB does.
func within(what string, err error) error {
	if err == nil {
		return nil
	}
	e := *session.CodeOf(err)
	e.Message = what + " :: caused by :: " + e.Message
	return &e
}

// findPoint answers a find of one _id and nothing else, which needs no plan.
func findPoint(r *request, a *answer, name string) (done bool, err error) {
	var id doc.Value
	for field, v := range doc.Members(r.Body) {
		switch field {
		case "filter":
			if d, ok := doc.AsDoc(v); ok {
				id = query.OnlyID(d)
			}
		case "limit", "batchSize":
			n, ok := doc.AsInt64Exact(v)
			if !ok || n < 0 || field == "batchSize" && n < 1 {
				return false, nil
			}
		case "singleBatch":
			if v.Type != bsoncore.TypeBoolean {
				return false, nil
			}
		case "find", "$db", "lsid", "maxTimeMS", "$clusterTime", "$readPreference", "readConcern",
			"txnNumber", "autocommit", "startTransaction":
		default:
			return false, nil
		}
	}
	if id.Type == 0 {
		return false, nil
	}
	c, err := r.Find(r.DB, name)
	if err != nil || c == nil || c.State().Dialect != catalog.Mongo || query.ViewOf(c) != nil {
		return false, err
	}
	a.Object("cursor")
	a.Array("firstBatch")
	v, err := r.Enter(c)
	if err != nil {
		return false, err
	}
	_, err = r.Read(v, id, func(d access.Document) error {
		if err := a.Room(len(d.Body) + session.ElementBytes); err != nil {
			return err
		}
		a.Element(d.Body)
		r.Trace.Returned++
		return nil
	})
	if err != nil {
		return false, err
	}
	a.Close()
	a.Int64("id", 0)
	a.String("ns", r.DB+"."+name)
	a.Close()
	return true, nil
}

// findView answers a find over a view.
func findView(r *request, a *answer, q *query.FindCursor, size int64) error {
	x, err := query.FindOverView(&r.Request, mayRun, q)
	if err != nil {
		return err
	}
	return within(duringAggregation, r.reply(a, q.Namespace, startPipeline(r, x), size, r.mayStay))
}
