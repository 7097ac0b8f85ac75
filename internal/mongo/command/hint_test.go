package command_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// logged is a log that a test reads while a server writes it.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// take returns what was logged since it was called last.
func (l *logged) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// TestChangesOfLifetimeTellWhatTheyDid: commands that begin, change and end lifetimes, and what the log and the answers
// say.
func TestChangesOfLifetimeTellWhatTheyDid(t *testing.T) {
	t.Parallel()
	log := new(logged)
	d := newServer(t, func(o *command.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	d.insert("c", `{"_id":1,"at":{"$date":"2029-12-31T23:59:00Z"}}`)
	d.insert("c", `{"_id":2,"at":{"$date":"2029-12-31T23:59:50Z"}}`)
	d.insert("c", `{"_id":3}`)
	d.pass(30 * time.Second)
	for _, step := range []struct{ command, answer, log string }{
		{`{"createIndexes":"c","indexes":[{"key":{"at":1},"name":"at_1","expireAfterSeconds":80}]}`,
			`{numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: false, note: "1 document expired by this change"}`,
			`level=WARN msg="lifetime changed, what has expired stays so" container=test.c before=off after="80 s after the date in at" expired=1 at_least=false`},
		{`{"collMod":"c","index":{"name":"at_1","expireAfterSeconds":100}}`,
			`{expireAfterSeconds_old: 80L, expireAfterSeconds_new: 100L}`,
			`level=INFO msg="lifetime changed, what has expired stays so" container=test.c before="80 s after the date in at" after="100 s after the date in at" expired=0`},
		{`{"collMod":"c","index":{"name":"at_1","expireAfterSeconds":30}}`,
			`{expireAfterSeconds_old: 100L, expireAfterSeconds_new: 30L, note: "1 document expired by this change"}`, `after="30 s after the date in at" expired=1`},
		{`{"collMod":"c","index":{"name":"at_1","hidden":true}}`, `{hidden_old: false, hidden_new: true}`, ``},
		{`{"createIndexes":"c","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":10}]}`,
			`{_t: "CreateIndexesResponse", numIndexesBefore: 2, numIndexesAfter: 3, createdCollectionAutomatically: false, note: "1 document expired by this change"}`,
			`after="10 s; 30 s after the date in at" expired=1`},
		{`{"dropIndexes":"c","index":"*"}`, `{nIndexesWas: 3, msg: "non-_id indexes dropped for collection"}`, `after=off expired=0`},
		{`{"createIndexes":"c","indexes":[{"key":{"n":1},"name":"n_1"}]}`, `{numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: false}`, ``},
		{`{"createIndexes":"new","indexes":[{"key":{"at":1},"name":"at_1","expireAfterSeconds":604800000}]}`,
			`{numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: true}`, ``},
	} {
		log.take()
		d.expect(step.command, step.answer)
		got := log.take()
		changed := strings.Contains(got, "lifetime changed") && !strings.Contains(got, "test.new")
		if !strings.Contains(got, step.log) || step.log == "" && changed {
			t.Errorf("%s\nlog  %s\nwant %s", step.command, got, step.log)
		}
	}
}

// TestHintsOfDocuments: where lifetime counts from the stamp, writes of documents that look like mistakes are told.
func TestHintsOfDocuments(t *testing.T) {
	t.Parallel()
	log := new(logged)
	var mu sync.Mutex
	counted := map[string]int{}
	count := func(kind string) {
		mu.Lock()
		defer mu.Unlock()
		counted[kind]++
	}
	hints := hint.NewTeller(slog.New(slog.NewTextHandler(log, nil)), count)
	d := newServer(t, func(o *command.Options) { o.Hints = hints })
	d.insert("plain", `{"_id":1,"ttl":"x","TTL":5}`) // a ttl means nothing there
	d.expect(`{"createIndexes":"c","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":-1}]}`,
		`{_t: "CreateIndexesResponse", numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: true}`)
	d.insert("c", `{"_id":1,"ttl":60}`)
	d.insert("c", `{"_id":2,"ttl":"60"}`)
	d.insert("c", `{"_id":3,"ttl":86400000}`)
	d.insert("c", `{"_id":4,"timeToLive":60}`)
	d.insert("c", `{"_id":5,"timeToLive":60}`)
	d.expect(`{"update":"c","updates":[{"q":{"_id":1},"u":{"$set":{"ttl":3600000}}}]}`, `{n: 1, nModified: 1}`)
	d.expect(`{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":604800000}}`, `{expireAfterSeconds_old: -1L, expireAfterSeconds_new: 604800000L}`)
	mu.Lock()
	defer mu.Unlock()
	for kind, want := range map[string]int{"dormant": 1, "milliseconds": 2, "name": 2, "default_milliseconds": 1} {
		if counted[kind] != want {
			t.Errorf("%s: %d, want %d", kind, counted[kind], want)
		}
	}
	text := log.take()
	named := strings.Contains(text, "container=test.c hint=name")
	if len(counted) != 4 || strings.Count(text, "\n") != 4 || !named {
		t.Errorf("counted %v, log\n%s", counted, text)
	}
}
