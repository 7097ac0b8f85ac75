package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/backup"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	kvmemory "github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
)

func reopen(_ context.Context, dir string) (kv.Engine, error) {
	return pebble.Open(pebble.Options{Dir: dir, NoSync: true})
}

// startOn starts a node on a data folder, with a virtual clock; in memory if dir is empty.
func startOn(t *testing.T, dir string, at time.Time) *Node {
	t.Helper()
	o := Options{Dir: dir, Reopen: reopen, Admin: "127.0.0.1:0", Virtual: true, VirtualStart: at,
		Engine: kvmemory.New()}
	if dir != "" {
		engine, err := reopen(t.Context(), EngineDir(dir))
		if err != nil {
			t.Fatal(err)
		}
		o.Engine = engine
	}
	return start(t, o)
}

// call sends a request to the API for NoSQL, and returns its status.
func call(t *testing.T, n *Node, method, path, body string, header ...string) int {
	r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := n.local.RoundTrip(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

func put(t *testing.T, n *Node, id, members string) {
	status := call(t, n, "POST", "/dbs/d/colls/c/docs", `{"id":"`+id+`"`+members+`}`,
		"x-ms-documentdb-partitionkey", `["`+id+`"]`)
	if status != 201 {
		t.Errorf("%s: %d", id, status)
	}
}

func has(t *testing.T, n *Node, id string) bool {
	return call(t, n, "GET", "/dbs/d/colls/c/docs/"+id, "", "x-ms-documentdb-partitionkey", `["`+id+`"]`) == 200
}

func makeContainer(t *testing.T, n *Node, ttl string) {
	t.Helper()
	if s := call(t, n, "POST", "/dbs", `{"id":"d"}`); s != 201 {
		t.Fatal(s)
	}
	s := call(t, n, "POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/id"],"kind":"Hash"}`+ttl+`}`)
	if s != 201 {
		t.Fatal(s)
	}
}

// sound opens the data folder, and fails if something does not agree.
func sound(t *testing.T, dir string) {
	t.Helper()
	engine, err := reopen(t.Context(), EngineDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	report, err := Check(t.Context(), engine)
	if err != nil || report.Found > 0 {
		t.Errorf("%d problems, %v: %v", report.Found, err, report.Problems)
	}
}

// A backup under write load has every write that was acknowledged before it, and is consistent; a later one sends less.
func TestBackupUnderLoad(t *testing.T) {
	n := startOn(t, t.TempDir(), noon)
	makeContainer(t, n, `,"defaultTtl":-1`)
	var written atomic.Int64 // ids below are acknowledged
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	var mu sync.Mutex
	next := 0
	for range 4 {
		work.Go(func() {
			for ctx.Err() == nil {
				mu.Lock()
				i := next
				next++
				put(t, n, fmt.Sprint("i", i), `,"ttl":3600,"text":"`+strings.Repeat("x", 500)+`"`)
				written.Store(int64(i + 1))
				mu.Unlock()
				call(t, n, "POST", "/dbs/d/colls/c/docs", fmt.Sprintf(`{"id":"other%d"}`, i),
					"x-ms-documentdb-partitionkey", fmt.Sprintf(`["other%d"]`, i), "x-ms-documentdb-is-upsert", "true")
			}
		})
	}
	root, earlier := t.TempDir(), ""
	for round := range 3 {
		for written.Load() < int64(200*(round+1)) && !t.Failed() {
			clock.Pause(t.Context(), time.Millisecond)
		}
		promised := written.Load()
		var have []string
		if earlier != "" {
			m, err := backup.Open(earlier)
			if err != nil {
				t.Fatal(err)
			}
			have = m.Tables()
		}
		var sent bytes.Buffer
		if err := n.Backup(t.Context(), &sent, have); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(root, fmt.Sprint(round))
		m, err := backup.Read(t.Context(), &sent, dir, earlier)
		if err != nil || !m.Clock.Equal(noon) {
			t.Fatalf("%v, clock %v", err, m.Clock)
		}
		data := filepath.Join(root, fmt.Sprint("data", round))
		if _, err := backup.Copy(t.Context(), dir, data); err != nil {
			t.Fatal(err)
		}
		sound(t, data)
		restored := startOn(t, data, time.Time{})
		for i := range promised {
			if id := fmt.Sprint("i", i); !has(t, restored, id) {
				t.Fatalf("round %d: %s was acknowledged before the backup, and is not in it", round, id)
			}
		}
		earlier = dir
	}
	stop()
	work.Wait()
}

// A backup of data in memory is one of an engine on disk.
func TestBackupInMemory(t *testing.T) {
	n := startOn(t, "", noon)
	makeContainer(t, n, "")
	for i := range 50 {
		put(t, n, fmt.Sprint("i", i), "")
	}
	var sent bytes.Buffer
	if err := n.Backup(t.Context(), &sent, nil); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	if _, err := backup.Unpack(t.Context(), &sent, data); err != nil {
		t.Fatal(err)
	}
	sound(t, data)
	if restored := startOn(t, data, time.Time{}); !has(t, restored, "i0") || !has(t, restored, "i49") {
		t.Error("items are missing")
	}
	without := start(t, Options{Engine: kvmemory.New()})
	if err := without.Backup(t.Context(), io.Discard, nil); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("without an engine for disks: %v", err)
	}
}

// With a clock that is moved, each item lives as long as remained when the backup was made.
func TestRebase(t *testing.T) {
	n := startOn(t, t.TempDir(), noon)
	makeContainer(t, n, `,"defaultTtl":100`)
	rest := map[string]int{} // seconds that each item has left at the backup
	add := func(id, members string, left int) {
		put(t, n, id, members)
		rest[id] = left
	}
	move := func(d time.Duration) {
		t.Helper()
		if _, err := n.Move(t.Context(), func(now time.Time) time.Time { return now.Add(d) }); err != nil {
			t.Fatal(err)
		}
	}
	add("inherits-early", "", 100-50)
	add("own-early", `,"ttl":200`, 200-50)
	add("own-brief", `,"ttl":50`, 0)
	add("never", `,"ttl":-1`, -1)
	for i := range 20 {
		add(fmt.Sprint("own", i), fmt.Sprintf(`,"ttl":%d`, 60+i), 10+i)
	}
	move(30 * time.Second)
	add("inherits-late", "", 100-20)
	add("own-late", `,"ttl":21`, 1)
	for _, command := range []bson.D{
		{{Key: "createIndexes", Value: "m"}, {Key: "indexes", Value: bson.A{bson.D{{Key: "name", Value: "at"},
			{Key: "key", Value: bson.D{{Key: "at", Value: 1}}}, {Key: "expireAfterSeconds", Value: 3600}}}},
			{Key: "$db", Value: "d"}},
		{{Key: "insert", Value: "m"}, {Key: "documents", Value: bson.A{
			bson.D{{Key: "at", Value: noon}}, bson.D{{Key: "at", Value: noon.AddDate(1, 0, 0)}}, bson.D{},
		}}, {Key: "$db", Value: "d"}},
	} {
		raw, err := bson.Marshal(command)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := n.runMongo(t.Context(), raw)
		if ok := bson.Raw(answer).Lookup("ok"); err != nil || ok.Double() != 1 {
			t.Fatal(err, bson.Raw(answer))
		}
	}
	move(20*time.Second + 300*time.Millisecond)
	var sent bytes.Buffer
	if err := n.Backup(t.Context(), &sent, nil); err != nil {
		t.Fatal(err)
	}
	whole := sent.Bytes()
	later := noon.AddDate(0, 0, 3)

	for _, rebased := range []bool{true, false} {
		data := filepath.Join(t.TempDir(), "data")
		if _, err := backup.Unpack(t.Context(), bytes.NewReader(whole), data); err != nil {
			t.Fatal(err)
		}
		engine, err := reopen(t.Context(), EngineDir(data))
		if err != nil {
			t.Fatal(err)
		}
		r, err := OpenRestored(t.Context(), engine)
		if err != nil {
			t.Fatal(err)
		}
		if rebased {
			kept, dated, err := r.Rebase(t.Context(), later)
			if err != nil || kept != 24 || dated != 2 {
				t.Errorf("%d kept, %d dated, %v", kept, dated, err)
			}
		} else if overdue, alive, err := r.Overdue(t.Context(), later); err != nil || overdue != 25 || alive != 28 {
			t.Errorf("%d of %d overdue, %v", overdue, alive, err)
		}
		if err := r.Finish(t.Context(), later); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		sound(t, data)
		n = startOn(t, data, later)
		for second := range 160 {
			for id, left := range rest {
				alive := left < 0 || rebased && second < left
				if got := has(t, n, id); got != alive {
					t.Errorf("rebased %v: %s is there after %d of %d s: %v", rebased, id, second, left, got)
				}
			}
			if t.Failed() || !rebased {
				break
			}
			move(time.Second)
		}
		put(t, n, "new", "")
		if err := n.ReclaimNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		sound(t, data)
	}
}

// What a closed policy has ended stays dead with a clock that is moved, also where the policy counted from a property
// and the item has none.
func TestRebaseBringsNothingBack(t *testing.T) {
	n := startOn(t, t.TempDir(), noon)
	makeContainer(t, n, `,"defaultTtl":100,"ttlPropertyPath":"/at"`)
	n.reaper.Pause()
	put(t, n, "dead", "")
	if _, err := n.Move(t.Context(), func(now time.Time) time.Time { return now.Add(200 * time.Second) }); err != nil {
		t.Fatal(err)
	}
	put(t, n, "alive", "")
	if s := call(t, n, "PUT", "/dbs/d/colls/c", `{"id":"c","partitionKey":{"paths":["/id"],"kind":"Hash"}}`); s != 200 {
		t.Fatal(s)
	}
	if has(t, n, "dead") {
		t.Fatal("the item was not dead before")
	}
	var sent bytes.Buffer
	if err := n.Backup(t.Context(), &sent, nil); err != nil {
		t.Fatal(err)
	}
	data, later := filepath.Join(t.TempDir(), "data"), noon.AddDate(0, 0, 3)
	if _, err := backup.Unpack(t.Context(), &sent, data); err != nil {
		t.Fatal(err)
	}
	engine, err := reopen(t.Context(), EngineDir(data))
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenRestored(t.Context(), engine)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Rebase(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Finish(t.Context(), later), r.Close()); err != nil {
		t.Fatal(err)
	}
	sound(t, data)
	n = startOn(t, data, later)
	if has(t, n, "dead") || !has(t, n, "alive") {
		t.Errorf("the dead item is there: %v, the living one: %v", has(t, n, "dead"), has(t, n, "alive"))
	}
}
