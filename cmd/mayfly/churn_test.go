package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/clock"
)

var (
	churn = flag.Duration("churn", time.Second,
		"how long TestChurn writes documents that live for a few seconds")
	churnBatch = flag.Int("churnbatch", 1, "documents of each insert of its MongoDB clients")
)

// Clients of TestChurn, each as fast as it can.
const churnItems, churnInserts = 8, 4

// TestChurn writes documents with lives of 1 to 3 seconds through both APIs, and wants the space of all of
// them back in the end. With -v it tells every ten seconds how far behind the reaper is.
func TestChurn(t *testing.T) {
	dir := t.TempDir()
	s := started(t,
		exec.Command(binary, "--data", dir, "--nosql=127.0.0.1:0", "--admin=127.0.0.1:0", "--mongo=127.0.0.1:0"))
	t.Cleanup(func() { s.stop(t, os.Interrupt) })
	nosql, admin := s.address(t, ""), s.address(t, "Admin")
	if code, text, _ := send(t, "POST", nosql, "dbs", "dbs", "", "", `{"id":"d"}`); code != http.StatusCreated {
		t.Fatalf("database: %d %s", code, text)
	}
	if code, text, _ := send(t, "POST", nosql, "dbs/d/colls", "colls", "dbs/d", "",
		`{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1}`); code != http.StatusCreated {
		t.Fatalf("container: %d %s", code, text)
	}
	collection := s.collection(t)
	index := mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(0)}
	if _, err := collection.Indexes().CreateOne(t.Context(), index); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), *churn)
	defer cancel()
	var items, inserts atomic.Int64
	var writers sync.WaitGroup
	filler := strings.Repeat("abcdefgh", 50)
	for range churnItems {
		writers.Go(func() {
			for ctx.Err() == nil {
				i := items.Add(1)
				body := fmt.Sprintf(`{"id":"i%d","pk":"p%d","n":%d,"group":%d,"name":"name %d","text":%q,"ttl":%d}`, i,
					i%1000, i, i%100, i*7919, filler, 1+rand.IntN(3))
				code, text, _, err := try(t.Context(), "POST", nosql, "dbs/d/colls/c/docs", "docs", "dbs/d/colls/c",
					fmt.Sprintf(`["p%d"]`, i%1000), body)
				if err != nil || code != http.StatusCreated {
					t.Errorf("item: %v %d %s", err, code, text)
					return
				}
			}
		})
	}
	for range churnInserts {
		writers.Go(func() {
			for ctx.Err() == nil {
				documents := make([]any, *churnBatch)
				for j := range documents {
					i := inserts.Add(1)
					at := clock.Wall().Add(time.Duration(1000+rand.IntN(2000)) * time.Millisecond)
					documents[j] = bson.D{{Key: "n", Value: i}, {Key: "name", Value: fmt.Sprint("name ", i*7919)},
						{Key: "text", Value: filler}, {Key: "at", Value: at}}
				}
				if _, err := collection.InsertMany(t.Context(), documents); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	watch, before := clock.Start(), int64(0)
	for every := min(*churn, 10*time.Second); clock.Pause(ctx, every) == nil; {
		rest, mongo := items.Load(), inserts.Load()
		t.Logf("%3.0fs %6.0f documents/s, backlog %.0f, lag %.0fs, %d MiB on disk", watch.Elapsed().Seconds(),
			float64(rest+mongo-before)/every.Seconds(),
			gauge(t, admin, "mayfly_lifetime_backlog_documents"), gauge(t, admin, "mayfly_lifetime_lag_seconds"),
			diskUse(t, dir)>>20)
		before = rest + mongo
	}
	writers.Wait()
	t.Logf("%d items and %d documents written in %v; processor %v", items.Load(), inserts.Load(), watch.Elapsed(),
		s.processor(t))
	for left := -1; left != 0; {
		if err := clock.Pause(t.Context(), 200*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		left = int(gauge(t, admin, "mayfly_lifetime_backlog_documents")) + documents(t, nosql)
		if n, err := collection.EstimatedDocumentCount(t.Context()); err != nil {
			t.Fatal(err)
		} else {
			left += int(n)
		}
	}
	t.Logf("nothing is left %v after the start", watch.Elapsed())
}

// collection connects the official driver.
func (s *server) collection(t *testing.T) *mongo.Collection {
	t.Helper()
	found := regexp.MustCompile(`mongodb://\S+`).FindString(s.block)
	client, err := mongo.Connect(options.Client().ApplyURI(found))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	return client.Database("m").Collection("c")
}

// gauge reads one of the server's metrics.
func gauge(t *testing.T, admin, name string) float64 {
	t.Helper()
	_, text := fetch(t, admin+"metrics")
	found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no metric %s", name)
	}
	value, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// processor is the processor time that the server has used, where the system tells.
func (s *server) processor(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
