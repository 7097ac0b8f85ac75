package pressure

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// innocentConfig is the environment variable that makes this test program the
// innocent clients: a process of their own, which does not wait for the loads.
const innocentConfig = "TESTED_INNOCENT"

// innocent is how many documents the innocent clients have in each API.
const innocent = 100

type innocentSettings struct {
	NoSQL, Mongo string
	Rate         int // requests per second and API
	Writes       int // one in so many is a write; 0 for none
}

// An innocent request has been answered.
type lived struct {
	api, kind string
	due       time.Time
	took      time.Duration // since it was due, whatever it had to wait behind
	failure   string
}

// Innocents are the innocent clients, one of each API.
type innocents struct {
	process *exec.Cmd
	stdin   io.Closer
	done    chan struct{}

	mu   sync.Mutex
	past []lived
}

// seed makes the documents of the innocent clients.
func (s *server) seed(ctx context.Context) error {
	if err := s.container(ctx, "innocent", 0); err != nil {
		return err
	}
	var all []any
	for i := range innocent {
		id := fmt.Sprint("i", i)
		if err := s.put(ctx, "innocent", id,
			fmt.Sprintf(`{"id":%q,"pk":%q,"n":%d,"text":%q}`, id, id, i, strings.Repeat("t", 300))); err != nil {
			return err
		}
		all = append(all,
			bson.D{{Key: "_id", Value: id}, {Key: "n", Value: i}, {Key: "text", Value: strings.Repeat("t", 300)}})
	}
	_, err := s.collection("innocent").InsertMany(ctx, all)
	return err
}

// beside starts the innocent clients and ends them with the test.
func beside(t testing.TB, s *server, rate, writes int) *innocents {
	t.Helper()
	config, err := json.Marshal(innocentSettings{NoSQL: s.nosql, Mongo: s.mongo, Rate: rate, Writes: writes})
	must(t, err)
	in := &innocents{process: exec.Command(os.Args[0]), done: make(chan struct{})}
	in.process.Env = append(os.Environ(), innocentConfig+"="+string(config))
	in.process.Stderr = os.Stderr
	in.stdin, err = in.process.StdinPipe()
	must(t, err)
	out, err := in.process.StdoutPipe()
	must(t, err)
	must(t, in.process.Start())
	go func() {
		defer close(in.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			part := strings.SplitN(lines.Text(), "\t", 5)
			var due, took int64
			fmt.Sscan(part[2], &due)
			fmt.Sscan(part[3], &took)
			in.mu.Lock()
			in.past = append(in.past, lived{part[0], part[1], time.Unix(0, due), time.Duration(took), part[4]})
			in.mu.Unlock()
		}
	}()
	t.Cleanup(in.stop)
	return in
}

func (in *innocents) stop() {
	in.stdin.Close()
	<-in.done
	in.process.Wait()
}

// A view is what innocent clients saw for a while.
type view struct {
	requests, failed int
	p50, p99, worst  time.Duration
	example          string
}

// between says how the requests of an API and a kind fared that were due in
// that time; an empty api or kind stands for all.
func (in *innocents) between(api, kind string, from, to time.Time) (v view) {
	return in.during(api, kind, span{from, to})
}

// A span is a time.
type span struct{ from, to time.Time }

// during is between for several times.
func (in *innocents) during(api, kind string, spans ...span) (v view) {
	in.mu.Lock()
	defer in.mu.Unlock()
	var took []time.Duration
	for _, l := range in.past {
		within := func(s span) bool { return !l.due.Before(s.from) && l.due.Before(s.to) }
		if !slices.ContainsFunc(spans, within) || api != "" && l.api != api || kind != "" && l.kind != kind {
			continue
		}
		took = append(took, l.took)
		if l.failure != "" {
			v.failed++
			v.example = l.failure
		}
	}
	if v.requests = len(took); v.requests == 0 {
		return v
	}
	slices.Sort(took)
	v.p50, v.p99, v.worst = took[len(took)/2], took[len(took)*99/100], took[len(took)-1]
	return v
}

// bySecond is how long the slowest request of each second took, of those that took 50 ms.
func (in *innocents) bySecond(from, to time.Time) string {
	var all []string
	for second := 0; from.Add(time.Duration(second) * time.Second).Before(to); second++ {
		start := from.Add(time.Duration(second) * time.Second)
		if v := in.between("", "", start, start.Add(time.Second)); v.worst > 50*time.Millisecond {
			all = append(all, fmt.Sprintf("%d: %s", second, ms(v.worst)))
		}
	}
	return strings.Join(all, ", ")
}

// beInnocent is the process of the innocent clients. It ends with its input.
func beInnocent(config string) int {
	var c innocentSettings
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	cosmos, err := dialCosmos(c.NoSQL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}})
	if err != nil {
		panic(err)
	}
	items, err := cosmos.NewContainer("rest", "innocent")
	if err != nil {
		panic(err)
	}
	driver, err := dialMongo(c.Mongo)
	if err != nil {
		panic(err)
	}
	documents := driver.Database("wire").Collection("innocent")
	var mu sync.Mutex
	out := bufio.NewWriter(os.Stdout)
	var clients sync.WaitGroup
	steady := func(api string, read, write func(context.Context, int) error) {
		due := make(chan time.Time, 1<<20)
		clients.Go(func() {
			defer close(due)
			began := time.Now()
			for n := range 1 << 40 {
				next := began.Add(time.Duration(n) * time.Second / time.Duration(c.Rate))
				if sleep(ctx, time.Until(next)) != nil {
					return
				}
				due <- next
			}
		})
		for worker := range 16 {
			clients.Go(func() {
				n := worker
				for at := range due {
					n += 7
					kind, do := "read", read
					if c.Writes > 0 && n%c.Writes == 0 {
						kind, do = "write", write
					}
					// Who hears nothing for half a minute gives up.
					patient, done := context.WithTimeout(ctx, 30*time.Second)
					err := do(patient, n%innocent)
					done()
					took := time.Since(at)
					if ctx.Err() != nil {
						return
					}
					var failure string
					if err != nil {
						failure = strings.NewReplacer("\n", " ", "\t", " ").Replace(err.Error())
					}
					mu.Lock()
					fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%s\n", api, kind, at.UnixNano(), took.Nanoseconds(), failure)
					out.Flush()
					mu.Unlock()
				}
			})
		}
	}
	text := strings.Repeat("w", 300)
	steady("nosql", func(ctx context.Context, n int) error {
		id := fmt.Sprint("i", n)
		r, err := items.ReadItem(ctx, azcosmos.NewPartitionKeyString(id), id, nil)
		if err == nil && len(r.Value) < 300 {
			err = errors.New("the item is cut off")
		}
		return err
	}, func(ctx context.Context, n int) error {
		id := fmt.Sprint("i", n)
		_, err := items.UpsertItem(ctx, azcosmos.NewPartitionKeyString(id),
			fmt.Appendf(nil, `{"id":%q,"pk":%q,"n":%d,"text":%q}`, id, id, n, text), nil)
		return err
	})
	steady("mongo", func(ctx context.Context, n int) error {
		return documents.FindOne(ctx, bson.D{{Key: "_id", Value: fmt.Sprint("i", n)}}).Err()
	}, func(ctx context.Context, n int) error {
		_, err := documents.ReplaceOne(ctx, bson.D{{Key: "_id", Value: fmt.Sprint("i", n)}},
			bson.D{{Key: "n", Value: n}, {Key: "text", Value: text}}, options.Replace().SetUpsert(true))
		return err
	})
	clients.Wait()
	return 0
}
