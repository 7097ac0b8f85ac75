package command_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// indexOn is a TTL index.
func indexOn(field string, seconds int32) mongo.IndexModel {
	return mongo.IndexModel{Keys: eq(field, 1), Options: options.Index().SetExpireAfterSeconds(seconds)}
}

// status reads serverStatus.
func (d *testServer) status() bson.Raw {
	d.t.Helper()
	raw, err := d.Database("admin").RunCommand(d.t.Context(), bson.D{{Key: "serverStatus", Value: 1}}).Raw()
	must(d.t, err)
	return raw
}

// metric is one of metrics.ttl.
func (d *testServer) metric(name string) int64 {
	d.t.Helper()
	v := d.status().Lookup("metrics", "ttl", name)
	n, ok := v.Int64OK()
	if !ok {
		d.t.Fatalf("metrics.ttl.%s is %s", name, v)
	}
	return n
}

func TestParameters(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	cases := []struct{ name, cmd, want string }{
		{"one", `{"getParameter":1,"ttlMonitorSleepSecs":1}`, `{ttlMonitorSleepSecs: 60}`},
		{"several", `{"getParameter":1,"ttlMonitorEnabled":1,"ttlMonitorBatchDeletes":1}`, `{ttlMonitorEnabled: true, ttlMonitorBatchDeletes: true}`},
		{"all", `{"getParameter":"*"}`, `~transactionLifetimeLimitSeconds: 60, ttlIndexDeleteTargetDocs: 50000, ttlIndexDeleteTargetTimeMS: 1000, ` +
			`ttlMonitorBatchDeletes: true, ttlMonitorEnabled: true, ttlMonitorSleepSecs: 60, ttlMonitorSubPassTargetSecs: 60}`},
		{"details", `{"getParameter":{"showDetails":true},"ttlMonitorSleepSecs":1}`, `{ttlMonitorSleepSecs: {value: 60, settableAtRuntime: true, settableAtStartup: true}}`},
		{"version", `{"getParameter":1,"featureCompatibilityVersion":1}`,
			`{featureCompatibilityVersion: {version: "7.0"}}`},
		{"unknown", `{"getParameter":1,"colour":1}`, `72 InvalidOptions: no option found to get`},
		{"none", `{"getParameter":1}`, `72 InvalidOptions: no option found to get`},
		{"set", `{"setParameter":1,"ttlMonitorSleepSecs":5}`, `{was: 60}`},
		{"is set", `{"getParameter":1,"ttlMonitorSleepSecs":1}`, `{ttlMonitorSleepSecs: 5}`},
		{"double", `{"setParameter":1,"ttlMonitorSleepSecs":7.0}`, `{was: 5}`},
		{"zero", `{"setParameter":1,"ttlMonitorSleepSecs":0}`, `2 BadValue: Invalid value for parameter ttlMonitorSleepSecs: 0 is not greater than 0`},
		{"negative", `{"setParameter":1,"ttlMonitorSleepSecs":-1}`, `~2 BadValue`},
		{"string", `{"setParameter":1,"ttlMonitorSleepSecs":"x"}`, `~2 BadValue`},
		{"too large", `{"setParameter":1,"ttlMonitorSleepSecs":2147483648}`, `~2 BadValue`},
		{"batch", `{"setParameter":1,"ttlMonitorBatchDeletes":false}`, `{was: true}`},
		{"docs", `{"setParameter":1,"ttlIndexDeleteTargetDocs":0}`, `{was: 50000}`},
		{"time", `{"setParameter":1,"ttlIndexDeleteTargetTimeMS":-1}`, `~2 BadValue`},
		{"sub-pass", `{"setParameter":1,"ttlMonitorSubPassTargetSecs":30}`, `{was: 60}`},
		{"enabled by a number", `{"setParameter":1,"ttlMonitorEnabled":0}`, `{was: true}`},
		{"is off", `{"getParameter":1,"ttlMonitorEnabled":1}`, `{ttlMonitorEnabled: false}`},
		{"unknown to set", `{"setParameter":1,"colour":1}`, `72 InvalidOptions: attempted to set unrecognized parameter [colour], use help:true to see options `},
		{"none to set", `{"setParameter":1}`, `~72 InvalidOptions: no option found to set`},
		{"one bad of two", `{"setParameter":1,"ttlMonitorSleepSecs":9,"colour":1}`, `~72 InvalidOptions`},
		{"sets neither", `{"getParameter":1,"ttlMonitorSleepSecs":1}`, `{ttlMonitorSleepSecs: 7}`},
		{"what cannot be set", `{"setParameter":1,"featureCompatibilityVersion":"8.0"}`, `~20 IllegalOperation: not allowed to change [featureCompatibilityVersion] at runtime`},
		{"transactions", `{"setParameter":1,"transactionLifetimeLimitSeconds":5}`, `{was: 60}`},
	}
	for _, c := range cases {
		d.expect(c.cmd, c.want)
	}
	_, err := d.run(bson.D{{Key: "getParameter", Value: "*"}})
	if e, ok := err.(mongo.CommandError); !ok || e.Code != 13 {
		t.Errorf("on another database than admin: %v", err)
	}
}

func TestServerStatus(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.insert("c", `{"_id":1}`)
	d.expect(`{"insert":"c","documents":[{"_id":2},{"_id":3}]}`, `{n: 2}`)
	d.expect(`{"update":"c","updates":[{"q":{},"u":{"$set":{"x":1}}},{"q":{},"u":{"$set":{"x":1}}}]}`, `{n: 2, nModified: 1}`)
	d.tell(`{"delete":"c","deletes":[{"q":{"_id":1},"limit":1}]}`)
	d.tell(`{"find":"c"}`)
	s := d.status()
	for name, want := range map[string]int64{"insert": 3, "update": 2, "delete": 1, "query": 1, "getmore": 0} {
		if got := s.Lookup("opcounters", name).AsInt64(); got != want {
			t.Errorf("opcounters.%s is %d, want %d", name, got, want)
		}
	}
	if got := s.Lookup("metrics", "commands", "update", "total").AsInt64(); got != 1 {
		t.Errorf("%d updates", got)
	}
	text := func(name ...string) string { return s.Lookup(name...).StringValue() }
	if text("process") != "mayfly" || s.Lookup("pid").Int64() != int64(os.Getpid()) || text("version") == "" {
		t.Errorf("%s", s)
	}
	if got := s.Lookup("localTime").DateTime(); got != start.UnixMilli() {
		t.Errorf("it is %d", got)
	}
	connections, memory := s.Lookup("connections", "current").AsInt64(), s.Lookup("mem", "resident").AsInt64()
	if connections < 1 || memory < 1 || text("storageEngine", "name") != "mayfly" {
		t.Errorf("%s", s)
	}
	for _, name := range []string{"deletedDocuments", "passes", "subPasses", "collSubpassesIncreasedPriority"} {
		d.metric(name)
	}
	raw, err := d.Database("admin").RunCommand(t.Context(), document(t, `{serverStatus: 1, metrics: 0}`)).Raw()
	must(t, err)
	if _, err := raw.LookupErr("metrics"); err == nil {
		t.Error("metrics were not wanted")
	}
}

// TestMonitorPasses is section 1.5 with a clock that stands.
func TestMonitorPasses(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	passes := func(want int64) {
		t.Helper()
		if got := d.metric("passes"); got != want {
			t.Errorf("%d passes at %s, want %d", got, d.clock.Now().Format("15:04:05"), want)
		}
	}
	passes(0)
	d.pass(59 * time.Second)
	passes(0)
	d.pass(time.Second)
	passes(1)
	d.expect(`{"setParameter":1,"ttlMonitorSleepSecs":2}`, `{was: 60}`) // wakes it
	passes(2)
	d.pass(time.Second)
	passes(2)
	d.pass(time.Second)
	passes(3)

	d.dated("c", "at", 1, 0, "")
	d.insert("c", `{"_id":1,"at":`+dateAt(0)+`}`)
	d.alive("c", "")
	d.pass(2 * time.Second)
	passes(3) // it is under way until the document is reclaimed
	if n := d.metric("subPasses"); n != 4 {
		t.Errorf("%d sub-passes", n)
	}
	must(t, d.reclaim(t.Context()))
	d.pass(time.Second)
	passes(4)
	if n := d.metric("deletedDocuments"); n != 1 {
		t.Errorf("%d deleted", n)
	}
	d.insert("c", `{"_id":1,"at":`+dateAt(0)+`}`)
	d.pass(2 * time.Second)
	passes(4)
	d.pass(60 * time.Second) // the longest that a pass takes
	passes(5)

	d.tell(`{"setParameter":1,"ttlMonitorEnabled":false}`)
	d.pass(time.Minute)
	passes(5)
}

// TestMonitorPattern is how the tests of others wait for expiry: on the machine's clock.
func TestMonitorPattern(t *testing.T) {
	t.Parallel()
	d := newServer(t, func(o *command.Options) { o.Clock = clock.NewReal(time.Time{}) })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var reaping sync.WaitGroup
	defer reaping.Wait()
	defer cancel()
	reaping.Go(func() { // the reaper
		for clock.Pause(ctx, 100*time.Millisecond) == nil {
			for _, c := range d.catalog.AllContainers() {
				done, err := d.store.Reclaim(ctx, c, clock.Wall().Unix(), 1000)
				if err == nil {
					d.reclaimed.Add(done.Documents)
				}
			}
		}
	})
	c := d.Database("test").Collection("c")
	_, err := c.Indexes().CreateOne(ctx, indexOn("at", 0))
	must(t, err)
	_, err = c.InsertMany(ctx, []any{eq("at", clock.Wall()), eq("at", clock.Wall().Add(time.Hour))})
	must(t, err)
	before := d.metric("passes")
	d.expect(`{"setParameter":1,"ttlMonitorSleepSecs":1}`, `{was: 60}`)
	for d.metric("passes") < before+2 {
		must(t, clock.Pause(ctx, 50*time.Millisecond))
	}
	if n, err := c.CountDocuments(ctx, bson.D{}); n != 1 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
	if n := d.metric("deletedDocuments"); n != 1 {
		t.Errorf("%d deleted", n)
	}
}
