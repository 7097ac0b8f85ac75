package copying_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/mayflydb/mayfly/internal/copying"
)

// A divided server is a mayfly that answers as if its containers had several partition key ranges, as large
// containers of the service have. It can split a range, refuse requests for a while, and cut connections.
type divided struct {
	testing.TB
	*httptest.Server
	behind *box
	// simple servers are as small emulators: they do not say who they are, list databases and containers and have no
	// queries for them, and do not know the function GetCurrentTimestamp.
	simple bool

	mu     sync.Mutex
	ranges []keyRange
	next   int      // id of the next range
	read   int      // pages of the change feed
	splits []int    // after so many pages the first range is split
	slow   []int    // requests for items that are answered with 429
	cut    []int    // requests for items that are answered with a closed connection
	sent   int      // requests for items
	log    []string // what has happened
}

// A keyRange has the items whose place is from min to below max.
type keyRange struct {
	id, min, max int
	parents      []string
}

func divide(b *box, starts ...int) *divided {
	d := &divided{TB: b, behind: b, next: len(starts)}
	for i, min := range starts {
		max := 256
		if i+1 < len(starts) {
			max = starts[i+1]
		}
		d.ranges = append(d.ranges, keyRange{id: i, min: min, max: max})
	}
	origin, err := url.Parse(b.n.Endpoint())
	b.ok(err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(origin)
		r.Out.Host = r.In.Host
	}}
	proxy.ModifyResponse = func(r *http.Response) error {
		if d.simple {
			r.Header.Del("x-mayfly-instance")
			r.Header.Set("Date", begin.Add(7*time.Second).Format(http.TimeFormat))
		}
		return nil
	}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) { // a client that has gone
		refuse(w, http.StatusBadGateway, "0", err.Error())
	}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.Header.Get("x-ms-documentdb-query") != ""
		switch {
		case strings.HasSuffix(r.URL.Path, "/pkranges"):
			d.listRanges(w, r)
		case d.simple && query && strings.HasSuffix(r.URL.Path, "/docs"):
			w.Header().Set("Date", begin.Add(7*time.Second).Format(http.TimeFormat))
			fmt.Fprint(w, `{"Documents":[],"_count":0}`)
		case d.simple && query:
			refuse(w, http.StatusBadRequest, "0", "BadRequest")
		case !strings.HasSuffix(r.URL.Path, "/docs") || query:
			proxy.ServeHTTP(w, r)
		case d.disturb(w):
		case r.Header.Get("A-IM") != "":
			d.changes(w, r)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	b.Cleanup(d.Close)
	return d
}

// disturb fails some requests.
func (d *divided) disturb(w http.ResponseWriter) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent++
	switch {
	case slices.Contains(d.slow, d.sent):
		d.log = append(d.log, "slow")
		w.Header().Set("x-ms-retry-after-ms", "3")
		refuse(w, http.StatusTooManyRequests, "3200", "Request rate is large")
	case slices.Contains(d.cut, d.sent):
		d.log = append(d.log, "cut")
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			d.Error(err)
			return true
		}
		_ = c.Close() // as if the network had failed
	default:
		return false
	}
	return true
}

func refuse(w http.ResponseWriter, status int, substatus, text string) {
	w.Header().Set("x-ms-substatus", substatus)
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"code":"%d","message":"%s"}`, status, text)
}

func edge(place int) string {
	switch place {
	case 0:
		return ""
	case 256:
		return "FF"
	}
	return fmt.Sprintf("%02X", place)
}

func (d *divided) listRanges(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	etag := fmt.Sprintf(`"%d"`, d.next)
	w.Header().Set("etag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	var list []any
	for _, k := range d.ranges {
		list = append(list, map[string]any{
			"id": strconv.Itoa(k.id), "minInclusive": edge(k.min), "maxExclusive": edge(k.max), "parents": k.parents,
		})
	}
	d.answer(w, map[string]any{"_rid": "x", "PartitionKeyRanges": list, "_count": len(list)})
}

func (d *divided) answer(w http.ResponseWriter, body any) {
	if err := json.NewEncoder(w).Encode(body); err != nil {
		d.Error(err)
	}
}

// changes answers a page of the change feed of one range.
func (d *divided) changes(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read++; len(d.splits) > 0 && d.read > d.splits[0] {
		d.splits = d.splits[1:]
		d.split()
	}
	at := slices.IndexFunc(d.ranges, func(k keyRange) bool {
		return strconv.Itoa(k.id) == r.Header.Get("x-ms-documentdb-partitionkeyrangeid")
	})
	if at < 0 {
		d.log = append(d.log, "gone")
		refuse(w, http.StatusGone, "1002", "The requested resource is no longer available at the server.")
		return
	}
	size, err := strconv.Atoi(r.Header.Get("x-ms-max-item-count"))
	if err != nil {
		size = 100
	}
	r.Header.Set("x-ms-documentdb-partitionkeyrangeid", "0")
	r.Header.Set("x-ms-max-item-count", "1000")
	r.RequestURI = ""
	r.URL.Scheme, r.URL.Host = "http", strings.TrimSuffix(strings.TrimPrefix(d.behind.n.Endpoint(), "http://"), "/")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		d.Error(err)
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		w.Header().Set("etag", answer.Header.Get("etag"))
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body) // a client that has gone does not matter
		return
	}
	var all struct{ Documents []map[string]any }
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil {
		d.Error(err)
	}
	var page []map[string]any
	for _, item := range all.Documents {
		h := fnv.New32a()
		fmt.Fprint(h, item["id"])
		if p := int(h.Sum32()>>8) % 256; len(page) < size && p >= d.ranges[at].min && p < d.ranges[at].max {
			page = append(page, item)
		}
	}
	if len(page) == 0 {
		w.Header().Set("etag", answer.Header.Get("etag"))
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if d.simple {
		page = all.Documents
		slices.Reverse(page)
	} else {
		w.Header().Set("etag", fmt.Sprintf(`"%.0f"`, page[len(page)-1]["_lsn"]))
	}
	d.answer(w, map[string]any{"_rid": "x", "Documents": page, "_count": len(page)})
}

// split makes two ranges of the first one.
func (d *divided) split() {
	k := d.ranges[0]
	middle, parents := (k.min+k.max)/2, append(slices.Clone(k.parents), strconv.Itoa(k.id))
	d.ranges = append([]keyRange{
		{d.next, k.min, middle, parents}, {d.next + 1, middle, k.max, parents},
	}, d.ranges[1:]...)
	d.next += 2
	d.log = append(d.log, "split")
}

func (d *divided) nosql(names string) copying.Endpoint {
	e, err := copying.ParseEndpoint(d.URL + "/" + names)
	d.behind.ok(err)
	e.Key = d.behind.n.Key()
	return e
}

// many puts items into a container, a few in each second.
func many(from *box, n int, boxes ...*box) *azcosmos.ContainerClient {
	c := from.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(1000)})
	for i := range n {
		put(from, c, "k", fmt.Sprintf(`{"id":"%03d","pk":"k"}`, i))
		if i%10 == 9 {
			advance(time.Second, boxes...)
		}
	}
	return c
}

// Ranges that split, a service that is busy and connections that break lose nothing and copy nothing twice, and stamps
// are kept in their order.
func TestSeveralRanges(t *testing.T) {
	for _, admin := range []bool{false, true} {
		t.Run(fmt.Sprint("admin=", admin), func(t *testing.T) {
			t.Parallel()
			from, to := newBox(t), newBox(t)
			many(from, 120, from, to)
			source := divide(from, 0, 90, 180)
			source.splits, source.slow, source.cut = []int{4, 9}, []int{2, 3, 11}, []int{6}
			target := divide(to, 0)
			target.slow, target.cut = []int{5, 6, 7, 8}, []int{20}
			o := copying.Options{From: source.nosql("shop"), To: target.nosql("shop"), Batch: 10, Compare: true}
			if admin {
				o.ToAdmin = to.admin
			}
			result, err := copying.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err, source.log)
			}
			p := result.Containers[0]
			if p.Read != 120 || p.Written != 120 || p.Skipped != 0 || p.Compared != 120 || p.Different != 0 {
				t.Errorf("%+v", p)
			}
			if got := strings.Join(source.log, " "); strings.Count(got, "gone") < 2 ||
				strings.Count(got, "slow") != 3 || !strings.Contains(got, "cut") {
				t.Errorf("the source has seen %s", got)
			}
			if a, b := living(t, from.container("shop", "carts")), living(t, to.container("shop", "carts")); a != b {
				t.Errorf("%s in the source, %s in the target", a, b)
			}
		})
	}
}

// An interruption leaves pages of several ranges half read: what they had is neither written nor counted again, and
// what has changed since comes along.
func TestInterruptedInSeveralRanges(t *testing.T) {
	for _, admin := range []bool{false, true} {
		t.Run(fmt.Sprint("admin=", admin), func(t *testing.T) {
			t.Parallel()
			from, to := newBox(t), newBox(t)
			c := many(from, 120, from, to)
			source := divide(from, 0, 60, 120, 200)
			o := copying.Options{
				From: source.nosql("shop"), To: to.nosql("shop"), Batch: 7, Compare: true,
				Checkpoint: filepath.Join(t.TempDir(), "checkpoint"),
			}
			if admin {
				o.ToAdmin = to.admin
			}
			for runs := int64(0); ; runs++ {
				ctx, stop := context.WithCancel(t.Context())
				o.Progress = func(_ string, read, _ int64) {
					if read > runs*10 && read < 120 {
						stop()
					}
				}
				result, err := copying.Run(ctx, o)
				stop()
				if err == nil {
					p := result.Containers[0]
					if runs < 5 || p.Read != 121 || p.Written != 121 || p.Skipped != 0 || p.Different != 0 ||
						p.Compared != 120 {
						t.Errorf("after %d interruptions: %+v", runs, p)
					}
					return
				}
				if !errors.Is(err, context.Canceled) || runs > 20 {
					t.Fatal(err)
				}
				if runs == 2 {
					put(t, c, "k", `{"id":"005","pk":"k","changed":true}`)
				}
				if runs == 3 {
					source.mu.Lock()
					source.split()
					source.mu.Unlock()
				}
			}
		})
	}
}

// Emulators of other makers have fewer functions, and are copied all the same.
func TestSimpleEmulators(t *testing.T) {
	from, to := newBox(t), newBox(t)
	c := from.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(60)})
	put(t, c, "k", `{"id":"a","pk":"k"}`)
	advance(time.Second, from, to)
	put(t, c, "k", `{"id":"b","pk":"k","ttl":7}`)
	source, target := divide(from, 0), divide(to, 0)
	source.simple, target.simple = true, true
	advance(6*time.Second, from, to)
	o := copying.Options{
		From: source.nosql(""), To: target.nosql(""), Compare: true, Clients: 1, Batch: 1,
		Checkpoint: filepath.Join(t.TempDir(), "checkpoint"),
	}
	ctx, stop := context.WithCancel(t.Context())
	o.Progress = func(_ string, read, _ int64) {
		if read == 1 {
			stop()
		}
	}
	if _, err := copying.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	o.Progress = nil
	result, err := copying.Run(t.Context(), o)
	from.ok(err)
	if p := result.Containers[0]; p.Read != 2 || p.Written != 2 || p.Different != 0 {
		t.Errorf("%+v", p)
	}
	if got := living(t, to.container("shop", "carts")); got != "a b" {
		t.Errorf("there is %q", got)
	}
	advance(time.Second, from, to)
	if got := living(t, to.container("shop", "carts")); got != "a" {
		t.Errorf("at the end of one there is %q", got)
	}
	advance(51*time.Second, from, to)
	if got := living(t, to.container("shop", "carts")); got != "a" {
		t.Errorf("a second before the end there is %q", got)
	}
	advance(time.Second, from, to)
	if got := living(t, to.container("shop", "carts")); got != "" {
		t.Errorf("at the end there is %q", got)
	}
}
