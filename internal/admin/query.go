package admin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
)

// queryBody is the largest request with a query: the API for NoSQL takes as much.
const queryBody = 4 << 20

// A queryRequest is a query in one of the two languages: exactly one of SQL, Pipeline and Find. Each container can be
// queried in both.
type queryRequest struct {
	SQL          string
	Parameters   json.RawMessage // [{"name": "@a", "value": 1}]
	PartitionKey json.RawMessage // of SQL
	Pipeline     json.RawMessage // the stages of an aggregate, in extended JSON
	Find         json.RawMessage // the options of a find, in extended JSON: filter, projection, sort and others
	Max          int             // rows in a page
	Continuation string
	Explain      bool // the plan alone
	Lifetimes    bool // the deadline of each row, too
}

// A queryAnswer is a page of rows, or a plan.
type queryAnswer struct {
	Items        []json.RawMessage `json:"items"`
	Continuation string            `json:"continuation,omitempty"`
	Plan         json.RawMessage   `json:"plan,omitempty"`

	Lifetimes []foresight.RowLife `json:"lifetimes,omitzero"`
	// RequestCharge is what the API for NoSQL charges for the query.
	RequestCharge *float64 `json:"requestCharge,omitempty"`
	ElapsedMs     float64  `json:"elapsedMs"`
	Now           int64    `json:"now"` // the instant at which every row lives

	rows []foresight.Row // of MongoDB: what each row names
}

// queryItems answers a page of a query. A pipeline that writes needs a key that may.
func (a *admin) queryItems(w http.ResponseWriter, r *http.Request) error {
	c, err := a.container(r)
	if err != nil {
		return err
	}
	q, err := read[queryRequest](r,
		`{"sql": "SELECT * FROM c"}, {"pipeline": [{"$match": {}}]} or {"find": {"filter": {}}}`)
	if err != nil {
		return err
	}
	if err := q.check(); err != nil {
		return err
	}
	present, err := a.present(r)
	if err != nil {
		return err
	}
	asked := present.Unix()
	var answer queryAnswer
	watch := clock.Start()
	if q.SQL != "" {
		answer, err = a.runSQL(r, c, q)
	} else {
		answer, err = a.runMongo(r, c, q)
	}
	answer.ElapsedMs, answer.Now = float64(watch.Elapsed().Microseconds())/1000, asked
	if err == nil && q.Lifetimes {
		page := itemPage{Items: answer.Items, rows: answer.rows}
		answer.Items, answer.Lifetimes, answer.Now, err = a.lifetimes(r, c, asked, page)
	}
	return a.reply(w, answer, err)
}

func (q *queryRequest) check() error {
	given := 0
	for _, is := range []bool{q.SQL != "", q.Pipeline != nil, q.Find != nil} {
		if is {
			given++
		}
	}
	q.Max = cmp.Or(q.Max, pageItems)
	switch {
	case given != 1:
		return fault.New(fault.Invalid, "a query has exactly one of sql, pipeline and find")
	case q.Max < 1 || q.Max > maxItems:
		return fault.New(fault.Invalid, "max is a number from 1 to %d, not %d", maxItems, q.Max)
	case q.SQL == "" && (q.Parameters != nil || q.PartitionKey != nil):
		return fault.New(fault.Invalid, "parameters and partitionKey belong to sql")
	}
	return nil
}

// queryCall asks the API for NoSQL for a page of a query.
func queryCall(c *catalog.Container, body []byte, most int) nosqlCall {
	return nosqlCall{method: http.MethodPost, steps: stepsOf(c, "docs"), body: body, header: http.Header{
		"Content-Type":                               {"application/query+json"},
		"X-Ms-Documentdb-Isquery":                    {"True"},
		"X-Ms-Documentdb-Query-Enablecrosspartition": {"True"},
		"X-Ms-Max-Item-Count":                        {strconv.Itoa(most)},
	}}
}

func (a *admin) runSQL(r *http.Request, c *catalog.Container, q queryRequest) (answer queryAnswer, err error) {
	body, err := json.Marshal(struct {
		Query      string          `json:"query"`
		Parameters json.RawMessage `json:"parameters,omitempty"`
	}{q.SQL, q.Parameters})
	if err != nil {
		return answer, err
	}
	call := queryCall(c, body, q.Max)
	if q.Continuation != "" {
		call.header.Set("X-Ms-Continuation", q.Continuation)
	}
	if q.PartitionKey != nil {
		call.header.Set("X-Ms-Documentdb-Partitionkey", string(q.PartitionKey))
	}
	if q.Explain {
		call.header.Set("X-Mayfly-Explain", "true")
	}
	sent, err := a.nosql(r.Context(), call)
	if err != nil {
		return answer, err
	}
	page, err := pageOf(sent)
	if charge, err := strconv.ParseFloat(sent.header.Get("X-Ms-Request-Charge"), 64); err == nil {
		answer.RequestCharge = &charge
	}
	if err != nil || !q.Explain {
		answer.Items, answer.Continuation = page.Items, page.Continuation
		return answer, err
	}
	var row struct{ Plan json.RawMessage }
	if len(page.Items) == 1 {
		err = json.Unmarshal(page.Items[0], &row)
	}
	answer.Items, answer.Plan = []json.RawMessage{}, row.Plan
	return answer, err
}

func (a *admin) runMongo(r *http.Request, c *catalog.Container, q queryRequest) (answer queryAnswer, err error) {
	command, err := q.command(c.State().Name)
	if err != nil {
		return answer, err
	}
	if !mayWrite(r) && writesTo(command) {
		return answer, fault.New(fault.Forbidden, "the pipeline writes, and this key allows reading only")
	}
	if q.Explain {
		explained := bson.D{{Key: "explain", Value: command}, {Key: "verbosity", Value: "queryPlanner"}}
		sent, err := a.mongo(r.Context(), c.Database.Name, explained)
		if err != nil {
			return answer, err
		}
		text, err := extendedJSON(sent, false)
		return queryAnswer{Items: []json.RawMessage{}, Plan: text}, err
	}
	page, err := a.pageOfCursor(r, c, command, q.Max, q.Continuation)
	return queryAnswer{Items: page.Items, Continuation: page.Continuation, rows: page.rows}, err
}

// command is a query as a command of the API for MongoDB.
func (q *queryRequest) command(container string) (bson.D, error) {
	if q.Pipeline != nil {
		pipeline, err := valueOf(q.Pipeline, "pipeline")
		if err != nil {
			return nil, err
		}
		if pipeline.Type != bson.TypeArray {
			return nil, fault.New(fault.Invalid, "pipeline is an array of stages")
		}
		return bson.D{{Key: "aggregate", Value: container}, {Key: "pipeline", Value: pipeline},
			{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: q.Max}}}, {Key: "maxTimeMS", Value: mongoTime}}, nil
	}
	options, err := bsonOf(q.Find, "find")
	if err != nil {
		return nil, err
	}
	elements, err := options.Elements()
	if err != nil {
		return nil, err
	}
	command := bson.D{{Key: "find", Value: container}, {Key: "batchSize", Value: q.Max},
		{Key: "maxTimeMS", Value: mongoTime}}
	for _, e := range elements {
		if !findOptions[e.Key()] {
			return nil, fault.New(fault.Invalid, "find has no option %q here", e.Key())
		}
		command = append(command, bson.E{Key: e.Key(), Value: e.Value()})
	}
	return command, nil
}

// findOptions are the options of the command find that a query may have; max and maxTimeMS are set here.
var findOptions = map[string]bool{
	"filter": true, "projection": true, "sort": true, "skip": true, "limit": true, "hint": true, "collation": true,
	"let": true, "comment": true, "allowDiskUse": true,
}

// writesTo reports whether a command has a stage that writes. Stages that write are never inside of another one:
// mongodb.com/docs/v7.0/reference/operator/aggregation/out and merge.
func writesTo(command bson.D) bool {
	pipeline, _ := command[1].Value.(bson.RawValue)
	stages, _ := pipeline.ArrayOK()
	values, _ := stages.Values()
	for _, stage := range values {
		d, _ := stage.DocumentOK()
		for _, name := range []string{"$out", "$merge"} {
			if _, err := d.LookupErr(name); err == nil {
				return true
			}
		}
	}
	return false
}
