package mayfly_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly"
	"github.com/mayflydb/mayfly/disk"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/mayflytest"
)

// both runs a test on an engine in memory and on one on disk.
func both(t *testing.T, test func(t *testing.T, db *mayfly.DB), opts ...mayfly.Option) {
	opts = append([]mayfly.Option{mayfly.VirtualClock(noon), mayfly.Mongo("127.0.0.1:0")}, opts...)
	t.Run("memory", func(t *testing.T) { test(t, mayflytest.New(t, opts...)) })
	t.Run("disk", func(t *testing.T) {
		test(t, mayflytest.New(t, append(opts, disk.Dir(t.TempDir()), disk.NoSync())...))
	})
}

// An answer is one of the API for NoSQL.
type answer struct {
	status int
	header http.Header
	body   map[string]any
}

// send sends a signed request to the API for NoSQL.
func send(t testing.TB, db *mayfly.DB, method, path, partition, body string, header ...string) answer {
	t.Helper()
	a, err := trySend(t.Context(), db, method, path, partition, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func trySend(
	ctx context.Context, db *mayfly.DB, method, path, partition, body string, header ...string,
) (a answer, err error) {
	r, err := http.NewRequestWithContext(ctx, method, db.Endpoint()+path, strings.NewReader(body))
	if err != nil {
		return a, err
	}
	segments := strings.Split(path, "/")
	kind, link := segments[len(segments)-1], path
	if len(segments)%2 == 0 {
		kind = segments[len(segments)-2]
	} else {
		link = strings.TrimSuffix(strings.TrimSuffix(path, kind), "/")
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	secret, _ := base64.StdEncoding.DecodeString(db.Key())
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.ToLower(method) + "\n" + kind + "\n" + link + "\n" + strings.ToLower(date) + "\n\n"))
	r.Header.Set("Authorization",
		url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
	r.Header.Set("x-ms-date", date)
	r.Header.Set("x-ms-version", "2020-11-05")
	if partition != "" {
		r.Header.Set("x-ms-documentdb-partitionkey", partition)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	a.status, a.header = response.StatusCode, response.Header
	_ = json.Unmarshal(text, &a.body)
	return a, err
}

func connect(t testing.TB, db *mayfly.DB) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(db.MongoURI()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	return client
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const carts = `{"id":"carts","partitionKey":{"paths":["/id"],"kind":"Hash"},"defaultTtl":3600}`

// Everything that changed after a snapshot is undone, in both APIs, and again; the clock goes back, and lives are as
// long as they were.
func TestRestoreGoesBack(t *testing.T) {
	both(t, func(t *testing.T, db *mayfly.DB) {
		send(t, db, "POST", "dbs", "", `{"id":"shop"}`)
		send(t, db, "POST", "dbs/shop/colls", "", carts)
		send(t, db, "POST", "dbs/shop/colls/carts/docs", `["ann"]`, `{"id":"ann","items":3}`)
		client := connect(t, db)
		logs := client.Database("app").Collection("logs")
		_, err := logs.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
		must(t, err)
		must(t, db.Clock().Advance(time.Minute))
		must(t, db.Snapshot(t.Context(), "seeded"))
		for round := range 3 {
			ann := send(t, db, "GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, "")
			n, err := logs.CountDocuments(t.Context(), bson.D{})
			bob := send(t, db, "GET", "dbs/shop/colls/carts/docs/bob", `["bob"]`, "")
			if ann.status != 200 || ann.body["items"] != 3.0 || bob.status != 404 || n != 1 || err != nil {
				t.Fatalf("round %d: ann %d %v, bob %d, %d logs, %v", round, ann.status, ann.body, bob.status, n, err)
			}
			if now := db.Clock().Now(); !now.Equal(noon.Add(time.Minute)) {
				t.Fatalf("round %d: the clock shows %v", round, now)
			}
			send(t, db, "PUT", "dbs/shop/colls/carts/docs/ann", `["ann"]`, `{"id":"ann","items":9}`)
			send(t, db, "POST", "dbs/shop/colls/carts/docs", `["bob"]`, `{"id":"bob"}`)
			send(t, db, "POST", "dbs/shop/colls", "", strings.Replace(carts, "carts", "other", 1))
			_, err = logs.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 2}})
			must(t, err)
			must(t, db.Clock().Advance(24*time.Hour))
			must(t, db.ReclaimNow(t.Context()))
			if round == 1 {
				send(t, db, "DELETE", "dbs/shop", "", "")
			}
			must(t, db.Restore(t.Context(), "seeded"))
		}
		if other := send(t, db, "GET", "dbs/shop/colls/other", "", ""); other.status != 404 {
			t.Errorf("a container from after the snapshot: %d", other.status)
		}
		must(t, db.Clock().Advance(59*time.Minute-time.Second))
		if ann := send(t, db, "GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); ann.status != 200 {
			t.Errorf("a second before its end: %d", ann.status)
		}
		must(t, db.Clock().Advance(time.Second))
		if ann := send(t, db, "GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); ann.status != 404 {
			t.Errorf("at its end: %d", ann.status)
		}
	})
}

// What a client knows of the time after a snapshot names nothing that is written after the restore.
func TestRestoreGivesNothingOutTwice(t *testing.T) {
	both(t, func(t *testing.T, db *mayfly.DB) {
		send(t, db, "POST", "dbs", "", `{"id":"shop"}`)
		send(t, db, "POST", "dbs/shop/colls", "", carts)
		must(t, db.Snapshot(t.Context(), "empty"))
		tags, rids := map[string]bool{}, map[string]bool{}
		for round := range 3 {
			other := send(t, db, "POST", "dbs/shop/colls", "", strings.Replace(carts, "carts", "other", 1))
			if rid := fmt.Sprint(other.body["_rid"]); other.status != 201 || rids[rid] {
				t.Errorf("round %d: the container is %d %v", round, other.status, other.body)
			} else {
				rids[rid] = true
			}
			for i := range 5 {
				id := fmt.Sprint("i", i)
				a := send(t, db, "POST", "dbs/shop/colls/carts/docs", `["`+id+`"]`, `{"id":"`+id+`"}`)
				tag := fmt.Sprint(a.body["_etag"])
				if a.status != 201 || tags[tag] {
					t.Errorf("round %d: %d, the ETag %s, of %d", round, a.status, tag, len(tags))
				}
				tags[tag] = true
			}
			must(t, db.Restore(t.Context(), "empty"))
		}
		send(t, db, "POST", "dbs/shop/colls/carts/docs", `["i0"]`, `{"id":"i0"}`)
		for tag := range tags {
			a := send(t, db, "PUT", "dbs/shop/colls/carts/docs/i0", `["i0"]`, `{"id":"i0","x":1}`, "If-Match", tag)
			if a.status != 412 {
				t.Errorf("a replace with the ETag %s of another time: %d", tag, a.status)
			}
		}
	})
}

// Connections stay; cursors, transactions and change streams of MongoDB end with an error, and a stream does not resume
// across a restore.
func TestRestoreEndsWhatIsOpen(t *testing.T) {
	both(t, func(t *testing.T, db *mayfly.DB) {
		client := connect(t, db)
		logs := client.Database("app").Collection("logs")
		for i := range 10 {
			_, err := logs.InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}})
			must(t, err)
		}
		must(t, db.Snapshot(t.Context(), "ten"))
		cursor, err := logs.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(2))
		must(t, err)
		defer cursor.Close(context.Background())
		stream, err := logs.Watch(t.Context(), mongo.Pipeline{}, options.ChangeStream().SetMaxAwaitTime(time.Minute))
		must(t, err)
		defer stream.Close(context.Background())
		_, err = logs.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 10}})
		must(t, err)
		if !stream.Next(t.Context()) {
			t.Fatal(stream.Err())
		}
		token := stream.ResumeToken()
		ended := make(chan error, 1)
		go func() { stream.Next(t.Context()); ended <- stream.Err() }()
		session, err := client.StartSession()
		must(t, err)
		defer session.EndSession(context.Background())
		must(t, session.StartTransaction())
		in := mongo.NewSessionContext(t.Context(), session)
		_, err = logs.InsertOne(in, bson.D{{Key: "_id", Value: 11}})
		must(t, err)

		must(t, db.Restore(t.Context(), "ten"))
		if err := <-ended; err == nil {
			t.Error("the change stream has no error")
		}
		for cursor.Next(t.Context()) {
		}
		if e := (mongo.CommandError{}); !errors.As(cursor.Err(), &e) || e.Code != 43 {
			t.Errorf("the cursor: %v, want code 43", cursor.Err())
		}
		if e := (mongo.CommandError{}); !errors.As(session.CommitTransaction(in), &e) || e.Code != 251 {
			t.Errorf("the commit: %v, want code 251", session.CommitTransaction(in))
		}
		again, err := logs.Watch(t.Context(), mongo.Pipeline{}, options.ChangeStream().SetResumeAfter(token))
		if err == nil {
			again.TryNext(t.Context())
			err = again.Err()
		}
		if e := (mongo.CommandError{}); !errors.As(err, &e) || e.Code != 286 && e.Code != 280 {
			t.Errorf("the stream resumed: %v, want code 286", err)
		}
		fresh, err := logs.Watch(t.Context(), mongo.Pipeline{})
		must(t, err)
		defer fresh.Close(context.Background())
		_, err = logs.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 10}})
		must(t, err)
		if !fresh.Next(t.Context()) {
			t.Errorf("a new stream: %v", fresh.Err())
		}
		if n, err := logs.CountDocuments(t.Context(), bson.D{}); n != 11 || err != nil {
			t.Errorf("%d documents, %v", n, err)
		}
	})
}

// Restores under load from both APIs: no request fails but those that MongoDB's drivers may retry, and each restore
// shows the saved state at its end.
func TestRestoreUnderLoad(t *testing.T) {
	both(t, func(t *testing.T, db *mayfly.DB) {
		send(t, db, "POST", "dbs", "", `{"id":"shop"}`)
		send(t, db, "POST", "dbs/shop/colls", "", carts)
		logs := connect(t, db).Database("app").Collection("logs")
		_, err := logs.InsertOne(t.Context(), bson.D{{Key: "_id", Value: "first"}})
		must(t, err)
		must(t, db.Snapshot(t.Context(), "start"))
		ctx, stop := context.WithCancel(t.Context())
		var work sync.WaitGroup
		var count atomic.Int64
		for w := range 3 {
			work.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					id := fmt.Sprintf("%d-%d", w, i)
					a, err := trySend(t.Context(), db, "POST", "dbs/shop/colls/carts/docs", `["`+id+`"]`,
						`{"id":"`+id+`"}`)
					if err != nil || a.status != 201 {
						t.Errorf("%s: %d, %v, %v", id, a.status, err, a.body)
						return
					}
					count.Add(1)
				}
			})
			work.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					line := bson.D{{Key: "w", Value: w}, {Key: "i", Value: i}}
					if _, err := logs.InsertOne(t.Context(), line); err != nil {
						t.Error(err)
						return
					}
					count.Add(1)
				}
			})
		}
		for i := range 8 {
			for before := count.Load(); count.Load() < before+30 && !t.Failed(); {
				clock.Pause(t.Context(), time.Millisecond)
			}
			if err := db.Restore(t.Context(), "start"); err != nil {
				t.Errorf("restore %d: %v", i, err)
			}
		}
		stop()
		work.Wait()
		must(t, db.Restore(t.Context(), "start"))
		if n, err := logs.CountDocuments(t.Context(), bson.D{}); n != 1 || err != nil {
			t.Errorf("%d documents, %v", n, err)
		}
	})
}

func TestSnapshotNames(t *testing.T) {
	both(t, func(t *testing.T, db *mayfly.DB) {
		long := strings.Repeat("a", 65)
		for _, name := range []string{"", ".", "..", ".a", "a/b", "../a", `a\b`, "a.", "a b", "ä", long} {
			if err := db.Snapshot(t.Context(), name); err == nil {
				t.Errorf("%q is accepted", name)
			}
			if err := db.Restore(t.Context(), name); err == nil {
				t.Errorf("%q is restored", name)
			}
		}
		must(t, db.Snapshot(t.Context(), "a-1_2.b"))
		must(t, db.Snapshot(t.Context(), "B"))
		if err := db.Snapshot(t.Context(), "B"); !errors.Is(err, mayfly.ErrSnapshotExists) {
			t.Errorf("twice: %v", err)
		}
		all, err := db.Snapshots(t.Context())
		if err != nil || len(all) != 2 || all[0].Name != "B" || !all[0].Clock.Equal(noon) {
			t.Errorf("%v, %v", all, err)
		}
		must(t, db.DeleteSnapshot(t.Context(), "B"))
		for _, err := range []error{db.Restore(t.Context(), "B"), db.DeleteSnapshot(t.Context(), "B")} {
			if !errors.Is(err, mayfly.ErrNoSnapshot) {
				t.Errorf("deleted: %v", err)
			}
		}
	})
}

// Snapshots on disk outlive the process, and so does what was restored.
func TestSnapshotsAfterReopening(t *testing.T) {
	dir := t.TempDir()
	open := func() *mayfly.DB {
		db, err := mayfly.Open(t.Context(), disk.Dir(dir), mayfly.VirtualClock(noon))
		must(t, err)
		return db
	}
	db := open()
	send(t, db, "POST", "dbs", "", `{"id":"one"}`)
	must(t, db.Snapshot(t.Context(), "one"))
	send(t, db, "POST", "dbs", "", `{"id":"two"}`)
	must(t, db.Restore(t.Context(), "one"))
	send(t, db, "POST", "dbs", "", `{"id":"three"}`)
	must(t, db.Close())
	db = open()
	for name, want := range map[string]int{"one": 200, "two": 404, "three": 200} {
		if a := send(t, db, "GET", "dbs/"+name, "", ""); a.status != want {
			t.Errorf("%s: %d, want %d", name, a.status, want)
		}
	}
	must(t, db.Restore(t.Context(), "one"))
	must(t, db.Close())
	db = open()
	defer db.Close()
	if a := send(t, db, "GET", "dbs/three", "", ""); a.status != 404 {
		t.Errorf("three after the second restore: %d", a.status)
	}
}

// On a real clock what has expired since the snapshot stays expired.
func TestRestoreOnARealClock(t *testing.T) {
	db, err := mayfly.Open(t.Context())
	must(t, err)
	defer db.Close()
	send(t, db, "POST", "dbs", "", `{"id":"shop"}`)
	send(t, db, "POST", "dbs/shop/colls", "", carts)
	send(t, db, "POST", "dbs/shop/colls/carts/docs", `["brief"]`, `{"id":"brief","ttl":1}`)
	send(t, db, "POST", "dbs/shop/colls/carts/docs", `["ann"]`, `{"id":"ann"}`)
	must(t, db.Snapshot(t.Context(), "start"))
	for send(t, db, "GET", "dbs/shop/colls/carts/docs/brief", `["brief"]`, "").status != 404 {
		clock.Pause(t.Context(), 10*time.Millisecond)
	}
	must(t, db.Restore(t.Context(), "start"))
	if a := send(t, db, "GET", "dbs/shop/colls/carts/docs/brief", `["brief"]`, ""); a.status != 404 {
		t.Errorf("what has expired is back: %d", a.status)
	}
	if a := send(t, db, "GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); a.status != 200 {
		t.Errorf("what has not expired: %d", a.status)
	}
}
