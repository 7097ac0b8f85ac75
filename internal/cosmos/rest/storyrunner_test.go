package rest_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/cosmos/rest"
	"github.com/mayflydb/mayfly/internal/keyring"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/reaper"
	"github.com/mayflydb/mayfly/internal/store"
)

// A telling is a way to run a story.
type telling struct {
	reclaiming bool // everything expired is reclaimed before each step
	restarting bool // all is closed and opened again before each step of the clock
	spread     bool // three processes share the data, and each request goes to the next one
}

// A storyRunner runs one story: a whole stack in memory, a clock, and what a client remembers.
type storyRunner struct {
	t    testing.TB
	how  telling
	tale tale

	fs      vfs.FS
	cluster *kvtest.Cluster // of the processes that share the data, if there are several
	stacks  []*storyStack   // one for each process
	asked   int             // requests that they were sent
	clock   *storyClock

	unique    string // the container's unique key, which every definition must repeat
	version   string // the container's ETag
	self      string // its path by RID
	items     []*item
	last      answer
	more      string // the continuation of the page that was read last
	page      string // its size
	feedPlace string // where the change feed was left
}

// A storyStack is what one process has.
type storyStack struct {
	engine kv.Engine
	store  *store.Store
	reaper *reaper.Reaper
	api    *rest.API
}

// storySkews are by how much the machines' clocks are wrong where several processes share the data. They stand still,
// too: the time is that of the engine.
var storySkews = []time.Duration{-48 * time.Hour, time.Hour, 0}

// A tale is the output of a run: what is printed, and every answer of the API.
type tale struct {
	printed []printed
	answers []string
}

type printed struct {
	line string
	own  bool // depends on the telling, so it is not compared
}

func (x *tale) lines() (lines []string) {
	for _, p := range x.printed {
		lines = append(lines, strings.Split(p.line, "\n")...)
	}
	return lines
}

func (x *tale) mustEqual(t *testing.T, name string, y *tale) {
	t.Helper()
	shared := func(x *tale) (lines []string) {
		for _, p := range x.printed {
			if !p.own {
				lines = append(lines, p.line)
			}
		}
		return lines
	}
	if d := firstDifference(shared(y), shared(x)); d != "" {
		t.Errorf("story %s:\n%s", name, d)
	} else if d := firstDifference(y.answers, x.answers); d != "" {
		t.Errorf("story %s: the answers differ:\n%s", name, d[strings.LastIndex(d, "\ngot "):])
	}
}

// A storyClock is virtual. If tick is set, each read of the clock advances it by that much.
type storyClock struct {
	*clock.Virtual
	start time.Time
	tick  time.Duration
}

func (c *storyClock) Now() time.Time {
	now := c.Virtual.Now()
	if c.tick > 0 {
		if err := c.Virtual.Advance(c.tick); err != nil {
			panic(err)
		}
	}
	return now
}

// sinceStart prints an instant as the story counts it.
func (c *storyClock) sinceStart(at time.Time) string {
	return strconv.FormatFloat(at.Sub(c.start).Seconds(), 'f', -1, 64) + "s"
}

func tell(t testing.TB, s *story, how telling) *tale {
	t.Helper()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := &storyRunner{t: t, how: how, fs: vfs.NewMem(), clock: &storyClock{Virtual: clock.NewVirtual(start),
		start: start}}
	if how.spread {
		w.cluster = kvtest.NewCluster(memory.New(), start)
		defer func() { must(t, w.cluster.Close()) }()
	}
	w.open()
	defer w.close()
	if got := w.ask("POST", "/dbs", `{"id":"d"}`, nil); got.status != 201 {
		t.Fatalf("no database: %d %s", got.status, got.body)
	}
	for _, line := range s.steps {
		w.step(line)
	}
	return &w.tale
}

func (w *storyRunner) open() {
	if w.cluster != nil {
		for _, skew := range storySkews {
			machine := clock.NewVirtual(w.clock.start.Add(skew))
			w.stacks = append(w.stacks, w.stack(w.cluster.Process(), machine, machine))
		}
		return
	}
	engine, err := pebble.Open(pebble.Options{Dir: "data", FS: w.fs, CacheBytes: 1 << 20})
	must(w.t, err)
	w.stacks = append(w.stacks, w.stack(engine, w.clock.Virtual, w.clock))
}

// stack opens what is above an engine. The API has a clock of its own, because its reads may advance it.
func (w *storyRunner) stack(engine kv.Engine, machine *clock.Virtual, ofAPI clock.Clock) *storyStack {
	w.t.Helper()
	ctx := context.Background()
	cat, err := catalog.Open(ctx, engine, nil)
	must(w.t, err)
	s := &storyStack{engine: engine}
	s.store, err = store.Open(ctx, engine, cat)
	must(w.t, err)
	s.reaper = reaper.New(reaper.Options{Store: s.store, Clock: machine})
	ring, err := keyring.New(keyring.Options{Primary: storyKey})
	must(w.t, err)
	s.api, err = rest.New(rest.Options{Catalog: cat, Store: s.store, Clock: ofAPI, Keys: ring})
	must(w.t, err)
	return s
}

func (w *storyRunner) close() {
	for _, s := range w.stacks {
		must(w.t, s.store.Close())
		must(w.t, s.engine.Close())
	}
	w.stacks = nil
}

// nextStack is the process that the next request goes to.
func (w *storyRunner) nextStack() *storyStack {
	w.asked++
	return w.stacks[w.asked%len(w.stacks)]
}

// step runs one line and prints the result.
func (w *storyRunner) step(line string) {
	w.t.Helper()
	rest := strings.TrimSpace(line)
	for {
		word, after, _ := strings.Cut(rest, " ")
		if word != "at" && word != "advance" {
			break
		}
		amount, after, _ := strings.Cut(strings.TrimSpace(after), " ")
		w.move(word, amount)
		rest = strings.TrimSpace(after)
	}
	if rest == "" {
		return
	}
	if w.how.reclaiming {
		must(w.t, w.nextStack().reaper.ReclaimNow(context.Background()))
	}
	at := w.clock.sinceStart(w.clock.Virtual.Now())
	if said := w.do(rest); said != "" {
		word, _, _ := strings.Cut(rest, " ")
		w.tale.printed = append(w.tale.printed, printed{at + " " + rest + ": " + said, internalSteps[word]})
	}
}

// internalSteps lists steps that do not go through the API.
var internalSteps = map[string]bool{"reclaim": true, "backlog": true}

func (w *storyRunner) move(word, amount string) {
	w.t.Helper()
	if w.how.restarting {
		w.close()
		w.open()
	}
	d, err := time.ParseDuration(amount)
	must(w.t, err)
	if word == "at" {
		d -= w.clock.Virtual.Now().Sub(w.clock.start)
	}
	must(w.t, w.clock.Advance(d))
	if w.cluster != nil {
		w.cluster.Move(d)
	}
}

// storyKey is the public key of the emulator.
const storyKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// An answer is the response to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask sends a signed request and notes the answer.
func (w *storyRunner) ask(method, path, body string, header map[string]string) answer {
	w.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, path, in)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	sign(w.t, r)
	rec := httptest.NewRecorder()
	w.nextStack().api.ServeHTTP(rec, r)
	received := http.Header{}
	for name, values := range rec.Result().Header {
		received[http.CanonicalHeaderKey(name)] = values
	}
	w.last = answer{rec.Code, received, rec.Body.Bytes()}
	if w.last.status >= 500 {
		w.t.Errorf("%s %s: %d %s", method, path, w.last.status, w.last.body)
	}
	text := w.last.text()
	if path == storyContainer || strings.HasSuffix(path, "/colls") {
		text = catalogVersion.ReplaceAllString(text, "$1") // reclaiming takes a number of the catalog
	}
	w.tale.answers = append(w.tale.answers, method+" "+path+" "+text)
	return w.last
}

// fleeting lists headers that differ in every answer, or that depend on background work.
var fleeting = []string{
	"Content-Length", "Date", "X-Ms-Activity-Id", "X-Ms-Last-State-Change-Utc", "X-Ms-Request-Duration-Ms",
	"X-Ms-Transport-Request-Id",
	"X-Ms-Documentdb-Collection-Index-Transformation-Progress",
}

var (
	activityID     = regexp.MustCompile(`ActivityId: [0-9a-f-]{36}`)
	catalogVersion = regexp.MustCompile(`(Etag: |"_etag":")\\?"[0-9a-f-]{36}\\?"`)
)

// text is the whole answer without what no two answers share.
func (a answer) text() string {
	b := fmt.Appendf(nil, "%d\n", a.status)
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		if !slices.Contains(fleeting, name) {
			b = fmt.Appendf(b, "%s: %s\n", name, a.header.Get(name))
		}
	}
	if a.status < 400 {
		return string(append(b, a.body...))
	}
	return string(append(b, activityID.ReplaceAll(a.body, nil)...))
}

// sign gives a request the master key's signature over its verb, resource and date.
func sign(t testing.TB, r *http.Request) {
	t.Helper()
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	kind, link := parts[len(parts)-1], strings.Join(parts[:len(parts)-1], "/")
	switch {
	case slices.Contains(parts, "operations"):
		kind, link = "operations", strings.Join(parts[:4], "/")
	case len(parts)%2 == 0:
		kind, link = parts[len(parts)-2], strings.Join(parts, "/")
	}
	key, err := base64.StdEncoding.DecodeString(storyKey)
	must(t, err)
	date := time.Now().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s\n\n", strings.ToLower(r.Method), kind, link, strings.ToLower(date))
	r.Header.Set("x-ms-date", date)
	r.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+
		base64.StdEncoding.EncodeToString(mac.Sum(nil))))
}
