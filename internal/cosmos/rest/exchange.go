package rest

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

// An exchange is one request and its answer: what authentication, routing and the clock have found out for the
// handler. It and its buffers are pooled, so nothing in it may be kept after the handler has returned.
type exchange struct {
	*http.Request
	api *API
	now expiry.Stamp // the time of the request, read once
	at  time.Time    // the same with fractions of a second

	// What the path names, as far as it goes. Names are decoded and checked; databases and containers are found by
	// name or RID.
	route     *route
	path      path
	database  *catalog.Database
	container *catalog.Container
	name      string            // the last segment of a path to one resource, "" for a feed
	owner     string            // the parent's segment of a nested feed: the user of permissions
	user      *catalog.Resource // that user, once found
	byRID     bool              // the container was addressed by its RID, so name may be a RID too

	grant grant // what the credentials allow

	moment catalog.Moment // in which the catalog was up to date

	header http.Header // of the answer; send adds the common ones
	reply  []byte      // the body of the answer
	buffer *pageBuffer // that reply shares with other queries; see openPage
	feed   feed        // describes the body if it is a feed

	share budget.Share    // the request's share of memory and processors
	bound *budget.Context // the request's context with its share; see Context

	functions *functionSet // user-defined functions, once a query has called one
	trace     queryTrace   // for the log of slow requests

	writer     http.ResponseWriter
	sent       *url.URL // the URL as the client sent it, see collapseSlashes
	watch      clock.Stopwatch
	request    []byte // the body of the request
	read       bool   // request has been read
	writesItem bool   // the body of the request is one item

	// Values of the common headers, see send.
	version   access.Version
	versioned bool
	ru        float64
	served    uint16   // the number of a range, see serve
	serves    bool     // served is set
	activity  [36]byte // see identify
	text      []byte   // scratch for header values
}

// A handler answers an exchange. It returns the status and leaves the body in e.reply. ServeHTTP turns an error into
// the service's status, substatus and JSON body.
type handler func(e *exchange) (status int, err error)

// maxPooled is the largest buffer that a pooled exchange keeps. With two such buffers a request still needs nothing
// from the budget.
const maxPooled = budget.FreeBytes / 2

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func newExchange(a *API, w http.ResponseWriter, r *http.Request) *exchange {
	e := exchanges.Get().(*exchange)
	e.Request, e.api, e.writer, e.header = r, a, w, w.Header()
	a.budget.Open(&e.share)
	e.watch = clock.Start()
	e.begins(a.clock.Now())
	return e
}

// readClock reads the clock again. Where several processes share the data no clock matters: the instant is that of the
// view in which the request is answered.
func (e *exchange) readClock() {
	if !e.api.catalog.Shared() {
		e.begins(e.api.clock.Now())
	}
}

// refresh brings the catalog up to date. Where several processes share the data, it also takes the instant from there.
func (e *exchange) refresh() error {
	var guess *catalog.Container
	if e.api.catalog.Shared() {
		if e.lookUp() == nil {
			guess = e.container
		}
		e.database, e.container = nil, nil // until they are known to be there
	}
	var err error
	if e.moment, err = e.api.catalog.Begin(e.Context(), e.at, guess); err == nil {
		e.begins(e.moment.Time)
	}
	return err
}

// begins sets the instant of the request.
func (e *exchange) begins(at time.Time) { e.at, e.now = at, at.Unix() }

// instantIn is the instant of what is done in a view.
func (e *exchange) instantIn(v catalog.View) time.Time {
	if v.Read == nil {
		return e.at
	}
	return v.Read.Time
}

// timeFrom is the time for a program that begins at an instant: that of the clock, or where several processes share the
// data the instant and what has passed since.
func (a *API) timeFrom(at time.Time) func() time.Time {
	if !a.catalog.Shared() {
		return a.clock.Now
	}
	watch := clock.Start()
	return func() time.Time { return at.Add(watch.Elapsed()) }
}

// release returns the exchange to the pool with empty buffers.
func (e *exchange) release() {
	e.functions.close()
	e.share.Close()
	e.closePage()
	*e = exchange{reply: recycle(e.reply), request: recycle(e.request), text: recycle(e.text)}
	exchanges.Put(e)
}

func recycle(b []byte) []byte {
	if cap(b) > maxPooled {
		return nil
	}
	return b[:0]
}

// flag parses a boolean request header. `True` and `true` are true, everything else is false.
func (e *exchange) flag(name requestHeader) bool {
	return strings.EqualFold(strings.TrimSpace(e.given(name)), "true")
}

// count parses a request header that is a whole number. ok is false if the header is absent.
func (e *exchange) count(name requestHeader) (n int, ok bool, err error) {
	text := strings.TrimSpace(e.given(name))
	if text == "" {
		return 0, false, nil
	}
	n64, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, false, badHeader(text, name, "Send a whole number.")
	}
	return int(n64), true, nil
}

// defaultPage is the number of rows in a page if the client does not set it, the same as the service's.
const defaultPage = 1000

// pageSize is the largest number of rows that the client wants. An absent header, 0 and -1 mean the default; other
// negative numbers and text are fault.Invalid.
func (e *exchange) pageSize() (int, error) {
	if e.feed.whole {
		return math.MaxInt, nil
	}
	n, ok, err := e.count(hMaxItemCount)
	switch {
	case err != nil:
		return 0, err
	case !ok, n == 0, n == -1:
		return defaultPage, nil
	case n < -1:
		return 0, fault.New(fault.Invalid, "The input PageSize %d is invalid. Ensure to pass a valid page size which "+
			"must be a positive integer or -1 for a dynamic page size.", n)
	}
	return n, nil
}

// minimal reports whether the client does not want the item in the answer to a write.
func (e *exchange) minimal() bool {
	return strings.Contains(strings.ToLower(e.given(hPrefer)), "return=minimal")
}

// ifMatch and ifNoneMatch are the request's conditions, nil if absent.
func (e *exchange) ifMatch() *access.Version     { return parseETag(e.given(hIfMatch)) }
func (e *exchange) ifNoneMatch() *access.Version { return parseETag(e.given(hIfNoneMatch)) }

// view enters the container. Every request that uses documents begins with it.
func (e *exchange) view() (catalog.View, error) {
	return e.container.EnterAt(e.Context(), e.now, &e.moment)
}

// etag sets the version of the resource that the answer is about.
func (e *exchange) etag(v access.Version) { e.version, e.versioned = v, true }

// charge sets the cost of the request in request units. Without it an answer costs 1.
func (e *exchange) charge(ru float64) { e.ru = ru }

// addCharge adds to the cost of the request.
func (e *exchange) addCharge(ru float64) { e.ru += ru }

// A feed describes the feed in e.reply.
type feed struct {
	owner   rid
	key     string
	whole   bool     // all rows in one page, because a query runs over them
	numbers []uint64 // the number of each row, if whole and if the resources have numbers
}

// openFeed appends the beginning of a feed: `{"_rid":"…","<key>":[`.
func (e *exchange) openFeed(owner rid, key string) {
	e.feed.owner, e.feed.key = owner, key
	e.reply = append(e.reply, `{"_rid":"`...)
	if owner != (rid{}) {
		e.reply = owner.append(e.reply)
	}
	e.reply = append(e.reply, `","`...)
	e.reply = append(e.reply, key...)
	e.reply = append(e.reply, `":[`...)
}

// closeFeed appends the end of a feed and sets the header with the number of rows.
func (e *exchange) closeFeed(rows int) {
	e.reply = append(e.reply, `],"_count":`...)
	e.reply = strconv.AppendInt(e.reply, int64(rows), 10)
	e.reply = append(e.reply, '}')
	e.set(outItemCount, strconv.Itoa(rows))
}

// clip limits how much of a client's text an error message repeats.
func clip(text string) string {
	if len(text) > 128 {
		return strings.ToValidUTF8(text[:128], "") + "..."
	}
	return text
}
