package rest

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Time limits for a page of a query. A query that can be continued stops after queryTime and returns a continuation
// token. One that has to see all documents before its first row fails with 408 after blockingTime.
const (
	queryTime    = 5 * time.Second
	blockingTime = 60 * time.Second
)

// A queryRequest is a query as it was sent: the text, and its parameters by name.
type queryRequest struct {
	text       string
	parameters map[string]doc.Value
	list       doc.Value // the parameters as they were sent
	parsed     *parsedQuery
	tree       *syntax.Query // the parsed one, or that with the container's computed properties
}

// shape is the part of a query that a continuation token is bound to: the whole query except its filter and its
// spelling. SDKs that merge partitions narrow the filter when they continue, but send the token of the previous page.
func (q queryRequest) shape() string {
	tree := *q.tree
	tree.Where = nil
	return syntax.Print(&tree)
}

var errQueryUTF8 = fault.New(fault.Invalid, "The text of the query is not UTF-8. Send it in that encoding.")

// ask parses the body of a query.
func (e *exchange) ask() (queryRequest, error) {
	var q queryRequest
	if e.isQueryText() {
		text, err := e.bodyThenClock()
		if err != nil {
			return q, err
		}
		if !utf8.Valid(text) {
			return q, errQueryUTF8
		}
		err = q.parse(&e.api.parsed, string(text))
		return q, err
	}
	body, err := e.object()
	if err != nil {
		return q, err
	}
	if !present(body, "query") {
		return q, required("query")
	}
	text, ok := doc.AsString(doc.Lookup(body, "query"))
	if !ok {
		return q, invalidProperty("query", "a string")
	}
	q.list = doc.Lookup(body, "parameters")
	if q.parameters, err = parseParameters(q.list); err != nil {
		return q, err
	}
	if err := q.parse(&e.api.parsed, text); err != nil {
		return q, err
	}
	if name := q.missing(); name != "" {
		e.set(outHint, "The query uses the parameter "+url.PathEscape(clip(name))+
			", which the request does not define. Its value is undefined.")
	}
	return q, nil
}

// parse sets the text and its tree.
func (q *queryRequest) parse(known *parsedQueries, text string) error {
	p, err := known.parse(text)
	q.text, q.parsed, q.tree = p.text, p, p.tree
	return err
}

// missing is the name of a parameter that the query uses and the request does not define, or "". This is not an
// error: recorded of a hosted account, "a parameter that is not passed" (xo/dbimp: docs/COSMOS.md).
func (q queryRequest) missing() string {
	for _, name := range q.parsed.uses {
		if _, given := q.parameters[name]; !given {
			return name
		}
	}
	return ""
}

// maxParameters is the largest number of parameters of a query.
const maxParameters = 10_000

// parseParameters parses [{"name":"@p","value":v}]. A parameter without a value is undefined.
func parseParameters(list doc.Value) (map[string]doc.Value, error) {
	if doc.IsUndefined(list) || doc.IsNull(list) {
		return nil, nil
	}
	if !doc.IsArray(list) {
		return nil, fault.New(fault.Invalid, "The parameters of a query are an array of objects with name and value.")
	}
	parameters := map[string]doc.Value{}
	for p := range doc.Elements(list) {
		fields, _ := doc.AsDoc(p)
		name, ok := doc.AsString(doc.Lookup(fields, "name"))
		switch _, taken := parameters[name]; {
		case !ok || len(name) < 2 || name[0] != '@':
			return nil, fault.New(fault.Invalid,
				"Parameter names should be in the format of symbol '@' followed by a valid identifier. '%s' is not.",
				clip(name))
		case taken:
			return nil, fault.New(fault.Invalid, "Specified duplicate parameter name '%s'. Give each parameter once.",
				clip(name))
		case len(parameters) == maxParameters:
			return nil, fault.New(fault.Invalid, "A query has at most %d parameters.", maxParameters)
		}
		parameters[strings.Clone(name)] = doc.Lookup(fields, "value")
	}
	return parameters, nil
}

// postQuery answers a POST that is a query, on any feed.
func (e *exchange) postQuery() (int, error) {
	if e.route.pattern == itemFeed {
		return queryItems(e)
	}
	i := slices.IndexFunc(table, func(r route) bool {
		return r.method == http.MethodGet &&
			r.pattern == e.route.pattern
	})
	if i < 0 || e.name != "" {
		return 0, errMethod(http.MethodPost)
	}
	return queryResources(e, table[i].run)
}

// itemFeed is the pattern of the route whose queries are over items.
const itemFeed = "dbs/{}/colls/{}/docs"

// queryItems answers a query over the items of a container, or over the part of it that the headers select: with a
// page of rows, or with the query plan for clients that merge partitions themselves.
func queryItems(e *exchange) (int, error) {
	q, err := e.ask()
	if err != nil {
		return 0, err
	}
	for try := 1; ; try++ {
		status, err := e.answerQuery(q)
		if fault.KindOf(err) != fault.Conflict || try == queryTries {
			return status, err
		}
		e.reply = e.reply[:0]
	}
}

// queryTries is how often a query is planned again after the index that it chose was dropped, or a range was split.
const queryTries = 3

func (e *exchange) answerQuery(q queryRequest) (int, error) {
	v, err := e.enterQuery()
	if err != nil {
		return 0, err
	}
	part, err := e.selected(v.State)
	if err != nil {
		return 0, err
	}
	env := e.environment(v, part.scope, q)
	if q.tree, err = plan.WithComputed(q.tree, computed(v.State)); err != nil {
		return 0, err
	}
	if e.flag(hIsQueryPlan) {
		return e.queryPlan(v, q, env)
	}
	var token []byte
	if text := e.given(hContinuation); text != "" {
		if token, err = part.resume(text, v.Container, q.shape()); err != nil {
			return 0, err
		}
	}
	ended := bytes.Equal(token, atEnd)
	if ended {
		token = nil
	}
	prepared, again := (*exec.Query)(nil), false
	known, short := q.plannedRequest(v.State, part.scope)
	if short && token == nil && !env.NoIndex && q.tree == q.parsed.tree {
		prepared, again = e.api.planned.take(known)
	}
	if prepared == nil {
		if again {
			env = owned(env)
		}
		if prepared, err = exec.Prepare(q.tree, env, token); err != nil {
			return 0, err
		}
	}
	crossing, err := e.checkCrossPartition(v, part, q, env, prepared.Plan())
	if err != nil {
		return 0, err
	}
	if e.flag(hExplain) {
		return e.explainQuery(prepared.Plan())
	}
	compiled := e.watch.Elapsed()
	e.trace.plan = prepared.Plan()
	e.openPage()
	e.openFeed(containerRID(v.Container), "Documents")
	var page exec.Page
	if ended {
		e.closeFeed(0)
	} else if page, err = e.run(prepared, &itemSource{api: e.api, view: v, part: &part}); err != nil {
		return 0, err
	}
	if again && prepared.Release() {
		e.api.planned.give(known, prepared)
	}
	e.trace.seen = page.Metrics
	if size, _ := e.pageSize(); crossing && page.Next == nil && page.Rows == size {
		page.Next = atEnd
	}
	if page.Next != nil {
		e.set(outContinuation, continuation(v.Container, part.token, page.Next, q.shape()))
	}
	e.sendMetrics(prepared.Plan(), page.Metrics, compiled)
	e.charge(queryCharge(page.Metrics))
	return http.StatusOK, nil
}

// atEnd is the token of an empty last page. The service's gateway does not read ahead when a query spans several
// partitions, so a full page has a continuation token even if nothing follows. A strict answer does the same.
var atEnd = []byte{0}

// explainQuery answers with the plan of the query as its only row, and reads no items.
func (e *exchange) explainQuery(p *plan.Plan) (int, error) {
	e.openFeed(containerRID(e.container), "Documents")
	e.reply = doc.AppendJSONString(append(e.reply, `{"plan":`...), p.Explain())
	e.reply = append(e.reply, '}')
	e.closeFeed(1)
	return http.StatusOK, nil
}

// enterQuery is the view for a query over items.
func (e *exchange) enterQuery() (catalog.View, error) {
	if err := e.checkIntendedRID(); err != nil {
		return catalog.View{}, err
	}
	return e.itemView()
}

// environment is what a query over items is prepared with.
func (e *exchange) environment(v catalog.View, scope access.Scope, q queryRequest) exec.Environment {
	return exec.Environment{
		Schema:     e.api.store.Schema(v),
		Base:       scope,
		Parameters: q.parameters,
		Now:        e.instantIn(v),
		Function:   e.function,
		Distance:   vectorDistance(v.State),
		NoIndex:    e.flag(hForceScan),
		Stop:       e.stop(queryTime),
	}
}

// stop returns the function that a query calls about once per millisecond. It fails once the query has taken longer
// than most or the client has gone away, and otherwise lets other requests use the processor.
func (e *exchange) stop(most time.Duration) func() error {
	return stopAfter(e.Context(), e.watch, most)
}

// stopAfter is stop for a given context and start time.
func stopAfter(ctx context.Context, watch clock.Stopwatch, most time.Duration) func() error {
	share := budget.Of(ctx)
	return func() error {
		if watch.Elapsed() > most {
			return exec.ErrLate
		}
		return share.Yield(ctx)
	}
}

// A timedContext reports that it has ended once the request has taken longer than most. It has no timer: callers
// poll it. It stops a scan that finds no documents, which cannot end a page early.
type timedContext struct {
	context.Context
	watch clock.Stopwatch
	most  time.Duration
}

func (t *timedContext) Err() error {
	if err := t.Context.Err(); err != nil || t.watch.Elapsed() <= t.most {
		return err
	}
	return context.DeadlineExceeded
}

// run appends one page of rows to the open feed in e.reply, and closes the feed.
func (e *exchange) run(prepared *exec.Query, source exec.Source) (page exec.Page, err error) {
	size, err := e.pageSize()
	if err != nil {
		return page, err
	}
	most := queryTime
	if prepared.Blocking() {
		most = blockingTime
	}
	limit := exec.Limit{
		Rows:  size,
		Bytes: maxPage,
		Stop:  e.stop(most),
		Hold:  func(n int) error { return e.share.Take(e.Context(), int64(n)) },
	}
	if e.flag(hPopulateMetrics) {
		limit.Clock = e.watch.Elapsed
	}
	ctx := &timedContext{e.Context(), e.watch, blockingTime}
	if e.reply, page, err = prepared.Run(ctx, source, limit, e.reply); err != nil {
		return page, err
	}
	e.closeFeed(page.Rows)
	return page, nil
}

// queryCharge is the cost of a page of a query, for the documents it read and the rows it returned.
func queryCharge(m exec.Metrics) float64 {
	return 2.2 + 0.03*float64(m.Documents) + 0.02*kilobytes(int(m.DocumentBytes)) +
		0.02*float64(m.Rows) + 0.03*kilobytes(int(m.RowBytes))
}

var (
	errCrossing = gatewayFault(fault.Invalid, "Cross partition query is required but disabled. Please set "+
		"x-ms-documentdb-query-enablecrosspartition to true, "+
		"specify x-ms-documentdb-partitionkey, or revise your query to avoid this exception.")
	errOnlyValue = gatewayFault(fault.Invalid, "%s", plan.NeedsValue.Message())
)

// crosses refuses queries over several partitions that the client did not allow and, when
// they are answered as the service does, those that the service leaves to clients to merge. It
// reports whether a strict answer has several partitions to go over.
func (e *exchange) checkCrossPartition(
	v catalog.View, part selection, q queryRequest, env exec.Environment, p *plan.Plan,
) (bool, error) {
	one := part.scope != nil || part.named || hasSystemKey(v.State)
	if !one {
		_, one = access.ScopeOf(p.Access.Of).(access.Partition)
	}
	switch {
	case one:
		return false, nil
	case !e.flag(hCrossPartition):
		return false, errCrossing
	case !e.strict():
		return false, nil
	}
	switch plan.ServedByGateway(q.tree) {
	case plan.NeedsClient:
		merged, err := gatewayPlan(v, q, env, 0)
		if err != nil {
			return false, err
		}
		return false, clientMergeError{plan: string(merged.AppendJSON(nil))}
	case plan.NeedsValue:
		return false, errOnlyValue
	}
	return true, nil
}

// strict reports whether a query over several partitions is answered as the service does. @azure/cosmos 3.x always
// gets such answers: it treats the request charge of a page from the server as text, so that programs concatenate
// charges instead of adding them. The charges of pages that it merges itself are numbers (FeedResponse.requestCharge
// in dist/index.js of 3.17.3; 4.x has numbers in both cases).
func (e *exchange) strict() bool {
	return e.api.strict || strings.Contains(e.given(hUserAgent), "azure-cosmos-js/3.")
}

// A clientMergeError is the error of a query whose partitions the client has to merge, with the plan for it.
type clientMergeError struct{ plan string }

func (u clientMergeError) Error() string { return fault.Message(u.Unwrap()) }

func (u clientMergeError) Unwrap() error { return errClientMerge }

var errClientMerge = coded{gatewayFault(fault.Invalid, "%s", plan.NeedsClient.Message()), 1004}

// queryErrors lists the mistakes in a query as the service does.
func queryErrors(err *syntax.Error) string {
	b := []byte(`{"errors":[`)
	for i, m := range err.Mistakes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"severity":"Error","location":{"start":`...)
		b = strconv.AppendInt(b, int64(m.Span.Start), 10)
		b = append(b, `,"end":`...)
		b = strconv.AppendInt(b, int64(m.Span.End), 10)
		b = append(b, '}')
		if m.Code != "" {
			b = doc.AppendJSONString(append(b, `,"code":`...), m.Code)
		}
		b = doc.AppendJSONString(append(b, `,"message":`...), m.Message)
		b = append(b, '}')
	}
	return string(append(b, "]}"...))
}
