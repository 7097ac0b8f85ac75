package mayfly_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly"
	"github.com/mayflydb/mayfly/disk"
	"github.com/mayflydb/mayfly/mayflytest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestVirtualClock(t *testing.T) {
	db := mayflytest.New(t, mayfly.VirtualClock(noon))
	if got := db.Clock().Now(); !got.Equal(noon) {
		t.Errorf("starts at %v, want %v", got, noon)
	}
	if err := db.Clock().Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := db.Clock().Set(noon); !errors.Is(err, mayfly.ErrBackwards) {
		t.Errorf("back: error %v, want %v", err, mayfly.ErrBackwards)
	}
	if got, want := db.Clock().Now(), noon.Add(time.Hour); !got.Equal(want) {
		t.Errorf("shows %v, want %v", got, want)
	}
	if err := db.ReclaimNow(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSeed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"carts.json":  `{"dialect":"mongodb","defaultTtl":86400}`,
		"carts.jsonl": "{\"_id\":1,\"_age\":\"23h\"}\n{\"_id\":2}\n{\"_id\":3,\"_age\":\"1d\"}\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, "shop"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "shop", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db := mayflytest.New(t, mayfly.Mongo("127.0.0.1:0"), mayfly.VirtualClock(noon), mayfly.Seed(dir))
	client, err := mongo.Connect(options.Client().ApplyURI(db.MongoURI()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	for _, want := range []int64{2, 1} {
		if n, err := client.Database("shop").Collection("carts").CountDocuments(t.Context(), bson.D{}); n != want ||
			err != nil {
			t.Errorf("%d documents, %v, want %d", n, err, want)
		}
		if err := db.Clock().Advance(time.Hour); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMongo ends a document by the stamp and one by its date, on a clock that the test moves.
func TestMongo(t *testing.T) {
	if uri := mayflytest.New(t).MongoURI(); uri != "" {
		t.Errorf("without the option: %s", uri)
	}
	db := mayflytest.New(t, mayfly.Mongo("127.0.0.1:0"), mayfly.VirtualClock(noon))
	if uri := db.MongoURI(); !strings.HasPrefix(uri, "mongodb://127.0.0.1:") || !strings.HasSuffix(uri, "/") {
		t.Errorf("the URI is %s", uri)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(db.MongoURI()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	carts := client.Database("shop").Collection("carts")
	for field, seconds := range map[string]int32{"_ts": 3600, "until": 0} {
		index := mongo.IndexModel{Keys: bson.D{{Key: field, Value: 1}},
			Options: options.Index().SetExpireAfterSeconds(seconds)}
		if _, err := carts.Indexes().CreateOne(t.Context(), index); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := carts.InsertMany(t.Context(), []any{
		bson.D{{Key: "_id", Value: "by the stamp"}},
		bson.D{{Key: "_id", Value: "by the date"}, {Key: "until", Value: db.Clock().Now().Add(time.Minute)}},
		bson.D{{Key: "_id", Value: "by its own"}, {Key: "ttl", Value: 7200}},
	}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		advance time.Duration
		left    int64
	}{{0, 3}, {time.Minute, 2}, {time.Hour - time.Minute, 1}, {time.Hour - time.Second, 1}, {time.Second, 0}} {
		if err := db.Clock().Advance(step.advance); err != nil {
			t.Fatal(err)
		}
		if got, err := carts.CountDocuments(t.Context(), bson.D{}); err != nil || got != step.left {
			t.Errorf("at %v: %d documents (%v), want %d", db.Clock().Now(), got, err, step.left)
		}
	}
}

// TestReplicaSet looks at what is there by default and with another name, and what a stand-alone server does not have.
func TestReplicaSet(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []mayfly.Option
		set     string
	}{
		{"by default", nil, "globaldb"},
		{"another name", []mayfly.Option{mayfly.MongoReplSet("rs0")}, "rs0"},
		{"stand-alone", []mayfly.Option{mayfly.MongoReplSet("")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := mayflytest.New(t, append(c.options, mayfly.Mongo("127.0.0.1:0"))...)
			client, err := mongo.Connect(options.Client().ApplyURI(db.MongoURI()))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Disconnect(context.Background())
			var hello struct {
				SetName string
				Hosts   []string
			}
			command := bson.D{{Key: "hello", Value: 1}}
			err = client.Database("admin").RunCommand(t.Context(), command).Decode(&hello)
			if err != nil || hello.SetName != c.set {
				t.Errorf("the set is %q (%v), want %q", hello.SetName, err, c.set)
			}
			carts := client.Database("shop").Collection("carts")
			err = client.UseSession(t.Context(), func(ctx context.Context) error {
				_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
					return carts.InsertOne(ctx, bson.D{})
				})
				return err
			})
			stream, watching := carts.Watch(t.Context(), mongo.Pipeline{})
			if watching == nil {
				stream.Close(t.Context())
			}
			if (err == nil) != (c.set != "") || (watching == nil) != (c.set != "") {
				t.Errorf("a transaction: %v; a change stream: %v", err, watching)
			}
			if c.set == "" && !strings.Contains(err.Error(), "--mongo-replset") {
				t.Errorf("the error does not name the setting: %v", err)
			}
		})
	}
}

func TestRealClockDoesNotMove(t *testing.T) {
	db, err := mayfly.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Clock().Advance(time.Hour); !errors.Is(err, mayfly.ErrRealClock) {
		t.Errorf("error %v, want %v", err, mayfly.ErrRealClock)
	}
}

func TestClockGoesOnAfterReopening(t *testing.T) {
	dir := t.TempDir()
	open := func() *mayfly.DB {
		db, err := mayfly.Open(t.Context(), disk.Dir(dir), mayfly.VirtualClock(noon))
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	if err := db.Clock().Advance(24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open()
	defer db.Close()
	if got, want := db.Clock().Now(), noon.AddDate(0, 0, 1); !got.Equal(want) {
		t.Errorf("shows %v, want %v", got, want)
	}
}

func TestFolderIsLocked(t *testing.T) {
	dir := t.TempDir()
	db, err := mayfly.Open(t.Context(), disk.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := mayfly.Open(t.Context(), disk.Dir(dir)); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("second database on the folder: error %v, want one that says it is in use", err)
	}
}

func TestTLS(t *testing.T) {
	db := mayflytest.New(t, mayfly.TLS())
	if !strings.HasPrefix(db.Endpoint(), "https://127.0.0.1:") {
		t.Fatalf("endpoint %q, want https", db.Endpoint())
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(db.CA()) {
		t.Fatal("no authority")
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
		DisableKeepAlives: true}}
	for _, url := range []string{db.Endpoint(), strings.Replace(db.Endpoint(), "https", "http", 1)} {
		response, err := client.Get(url + "dbs")
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without credentials: status %d, want 401", url, response.StatusCode)
		}
	}
}

func TestCloseTwice(t *testing.T) {
	db := mayflytest.New(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("second time: %v", err)
	}
}

func TestPartitions(t *testing.T) {
	for n, want := range map[int]bool{-1: false, 1: true, 4: true, 256: true, 257: false} {
		db, err := mayfly.Open(t.Context(), mayfly.Partitions(n))
		if (err == nil) != want {
			t.Errorf("%d partitions: error %v", n, err)
		}
		if db != nil {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
