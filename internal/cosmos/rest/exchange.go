package rest

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// An exchange is one request at the door: what the routes know of it when
// authentication, the path and the clock have been looked at. It and its buffers
// are pooled: nothing of it may be kept after the handler has returned.
type exchange struct {
	*http.Request
	door *Door
	now  expiry.Stamp // read once
	at   time.Time    // the same, with its fraction

	// What the path names, as far as it goes. Names are decoded and checked;
	// databases and containers are looked up by name or RID.
	route     *route
	path      path
	database  *catalog.Database
	container *catalog.Container
	name      string            // the last segment of a path to one resource, "" for a feed
	owner     string            // the segment before a nested feed (a user of permissions)
	user      *catalog.Resource // that user, once it is found
	byRID     bool              // the container was addressed by its RID, so name may be one too

	grant grant // what the credentials allow

	header http.Header // of the answer; the common ones are added when it is sent
	reply  []byte      // scratch for the body, returned to a pool after the answer
	feed   feed        // what the body is about, when it is a feed

	share budget.Share    // what it has of memory and processors
	bound *budget.Context // that of the request, with share; see Context

	functions *functionSet // user-defined ones, once a query has called one
	trace     trace        // for the log of slow requests

	writer     http.ResponseWriter
	sent       *url.URL // as the client wrote it, see collapse
	watch      clock.Stopwatch
	request    []byte // the request's body, once read
	read       bool   // whether it is
	writesItem bool   // its body is one item

	// What the common headers say, see send.
	version   store.Version
	versioned bool
	ru        float64
	activity  [36]byte // see identify
	text      []byte   // scratch of header values
}

// A handler answers an exchange: a status, and the body in e.reply. An error
// becomes the dialect's status, substatus and JSON body in one place.
type handler func(e *exchange) (status int, err error)

// maxPooled is the largest buffer that a pooled exchange keeps: with it, a request is within what it has freely.
const maxPooled = budget.FreeBytes / 2

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func newExchange(d *Door, w http.ResponseWriter, r *http.Request) *exchange {
	e := exchanges.Get().(*exchange)
	e.Request, e.door, e.writer, e.header = r, d, w, w.Header()
	d.budget.Open(&e.share)
	e.watch = clock.Start()
	e.look()
	return e
}

// look reads the clock.
func (e *exchange) look() {
	e.at = e.door.clock.Now()
	e.now = e.at.Unix()
}

// release gives the exchange back to the pool, its buffers emptied.
func (e *exchange) release() {
	e.functions.close()
	e.share.Close()
	*e = exchange{reply: recycle(e.reply), request: recycle(e.request), text: recycle(e.text)}
	exchanges.Put(e)
}

func recycle(b []byte) []byte {
	if cap(b) > maxPooled {
		return nil
	}
	return b[:0]
}

// flag reads a boolean request header: `True` and `true` alike, anything else is false.
func (e *exchange) flag(name requestHeader) bool {
	return strings.EqualFold(strings.TrimSpace(e.given(name)), "true")
}

// count reads a request header that holds a whole number; ok is false if it is absent.
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

// defaultPage is how many rows a page has when the client does not say, as the service does.
const defaultPage = 1000

// pageSize is how many rows the client wants at most: absent, 0 and -1 are the
// default, other negative numbers and what is no number are fault.Invalid.
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
		return 0, fault.New(fault.Invalid, "The input PageSize %d is invalid. Ensure to pass a valid page size which must be a positive integer or -1 for a dynamic page size.", n)
	}
	return n, nil
}

// minimal reports whether the client wants no body back from a write.
func (e *exchange) minimal() bool {
	return strings.Contains(strings.ToLower(e.given(hPrefer)), "return=minimal")
}

// ifMatch and ifNoneMatch are the request's conditions, nil if there is none.
func (e *exchange) ifMatch() *store.Version     { return parseETag(e.given(hIfMatch)) }
func (e *exchange) ifNoneMatch() *store.Version { return parseETag(e.given(hIfNoneMatch)) }

// view enters the container: what a request that touches documents begins with.
func (e *exchange) view() (catalog.View, error) { return e.container.Enter(e.Context(), e.now) }

// etag sends the version of the resource that the answer is about.
func (e *exchange) etag(v store.Version) { e.version, e.versioned = v, true }

// charge sends what the request cost, in request units. Without it an answer costs 1.
func (e *exchange) charge(ru float64) { e.ru = ru }

// addCharge adds to what the request costs.
func (e *exchange) addCharge(ru float64) { e.ru += ru }

// A feed is what is known of the feed in e.reply.
type feed struct {
	owner   rid
	key     string
	whole   bool     // wanted in one page, whatever the request says: a query is about it
	numbers []uint64 // of its rows, if whole and they have some
}

// openFeed begins the body of a feed: `{"_rid":"…","<key>":[`.
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

// closeFeed ends it, and says how many rows it had.
func (e *exchange) closeFeed(rows int) {
	e.reply = append(e.reply, `],"_count":`...)
	e.reply = strconv.AppendInt(e.reply, int64(rows), 10)
	e.reply = append(e.reply, '}')
	e.set(outItemCount, strconv.Itoa(rows))
}

// clip bounds how much of a client's text an error repeats.
func clip(text string) string {
	if len(text) > 128 {
		return strings.ToValidUTF8(text[:128], "") + "..."
	}
	return text
}
