package node

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/clock"
	kvmemory "github.com/mayflydb/mayfly/internal/kv/memory"
)

// A tally is a Meter that counts no more than Totals needs.
type tally struct {
	mu sync.Mutex
	of map[string]*Totals
}

func newTally() *tally { return &tally{of: map[string]*Totals{}} }

func (m *tally) Operation(api, _ string, _ func(int) string) func(int, time.Duration) {
	return func(status int, _ time.Duration) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.of[api] == nil {
			m.of[api] = &Totals{Took: make([]uint64, 3)}
		}
		if m.of[api].Took[1]++; status >= 400 {
			m.of[api].Errors++
		}
	}
}

func (m *tally) Totals(api string, into *Totals) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*into = Totals{Bounds: []float64{0.001, 0.003}, Took: make([]uint64, 3)}
	if of := m.of[api]; of != nil {
		into.Errors, into.Took = of.Errors, slices.Clone(of.Took)
	}
}

func (m *tally) Hint(string)            {}
func (m *tally) ExpiredByPolicy(uint64) {}
func (m *tally) Handler(func(context.Context) Reading) http.Handler {
	return http.NotFoundHandler()
}

// An activityTest takes samples when the test wants them.
type activityTest struct {
	t    *testing.T
	n    *Node
	time int64
}

func newActivityTest(t *testing.T) *activityTest {
	n := start(t, Options{
		Admin: "127.0.0.1:0", Virtual: true, VirtualStart: noon, Meter: newTally(), Engine: kvmemory.New(),
	})
	n.activity.close()
	a := &activityTest{t, n, 1000}
	a.sample()
	return a
}

// sample takes a sample after a new survey, and returns it as a client has it.
func (a *activityTest) sample() admin.Sample {
	a.t.Helper()
	a.n.surveys.mu.Lock()
	a.n.surveys.latest = nil
	a.n.surveys.mu.Unlock()
	a.n.surveys.newest(a.t.Context())
	a.time++
	a.n.activity.take(a.time)
	var answer struct {
		Every   int
		Samples []admin.Sample
	}
	r, err := http.NewRequestWithContext(a.t.Context(), "GET", a.n.AdminURL()+"_mayfly/v1/activity", nil)
	if err != nil {
		a.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer response.Body.Close()
	var text json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&text); err != nil {
		a.t.Fatal(err)
	}
	checkAgainstDocument(a.t, r, response, text)
	if err := json.Unmarshal(text, &answer); err != nil || answer.Every != 1 || len(answer.Samples) == 0 {
		a.t.Fatalf("%s, error %v", text, err)
	}
	s := answer.Samples[len(answer.Samples)-1]
	if s.Time != a.time || s.MemoryBytes == 0 {
		a.t.Errorf("%+v", s)
	}
	return s
}

func (a *activityTest) ask(method, path, body string, want int) {
	a.t.Helper()
	url := a.n.AdminURL() + "_mayfly/v1" + path
	if code, text := ask(a.t, http.DefaultClient, method, url, "", body); code != want {
		a.t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
}

// What clients write, what expires and what is reclaimed is in the sample of its second, and in no other.
func TestActivity(t *testing.T) {
	a := newActivityTest(t)
	a.ask("POST", "/databases", `{"id": "d"}`, 201)
	a.ask("POST", "/databases/d/containers", `{"id": "c", "partitionKey": {"paths": ["/id"]}, "defaultTtl": 60}`, 201)
	a.ask("POST", "/databases/d/containers", `{"id": "m", "dialect": "mongodb"}`, 201)
	a.ask("POST", "/reclaim/pause", "", 200)
	a.sample()
	items := "/databases/d/containers/c/items"
	for i := range 5 {
		a.ask("POST", items, fmt.Sprintf(`{"id": "%d"}`, i), 201)
	}
	a.ask("DELETE", items+"/4", "", 204)
	a.ask("POST", items, `{"id": "1"}`, 409)
	a.ask("POST", "/databases/d/containers/m/items", `{"_id": 1}`, 201)
	s := a.sample()
	if s.Written != 6 || s.Expired != 0 || s.Reclaimed != 0 || s.Backlog != 0 || s.Now != noon.Unix() {
		t.Errorf("after the writes: %+v", s)
	}
	if s.NoSQL.Requests < 7 || s.NoSQL.Errors != 1 || s.Mongo.Requests < 1 || s.NoSQL.P50Ms != 2 ||
		s.NoSQL.P99Ms <= s.NoSQL.P50Ms || s.NoSQL.P99Ms > 3 {
		t.Errorf("requests: %+v", s)
	}
	if s = a.sample(); s.Written != 0 || s.NoSQL != (admin.Traffic{}) || s.Mongo != (admin.Traffic{}) {
		t.Errorf("nothing happened: %+v", s)
	}
	a.ask("POST", "/clock/advance", `{"duration": "70s"}`, 200)
	s = a.sample()
	if s.Expired != 4 || s.Backlog != 4 || s.LagSeconds != 10 || s.Reclaimed != 0 || s.Now != noon.Unix()+70 {
		t.Errorf("after the end of four items: %+v", s)
	}
	if s = a.sample(); s.Expired != 0 || s.Backlog != 4 {
		t.Errorf("they have not ended twice: %+v", s)
	}
	a.ask("POST", "/reclaim", "", 200)
	s = a.sample()
	if s.Expired != 0 || s.Backlog != 0 || s.LagSeconds != 0 || s.Reclaimed != 4 || s.ReclaimedBytes == 0 {
		t.Errorf("after reclaiming: %+v", s)
	}
	a.ask("DELETE", "/databases/d/containers/c", "", 204)
	if s = a.sample(); s.Written != 0 || s.Expired != 0 || s.Reclaimed != 0 {
		t.Errorf("after a container was deleted: %+v", s)
	}
}

// A loaded snapshot begins to count anew.
func TestActivityAfterASnapshot(t *testing.T) {
	a := newActivityTest(t)
	a.ask("POST", "/databases", `{"id": "d"}`, 201)
	a.ask("POST", "/databases/d/containers", `{"id": "c", "partitionKey": {"paths": ["/id"]}}`, 201)
	a.ask("POST", "/snapshots", `{"name": "s"}`, 201)
	a.ask("POST", "/databases/d/containers/c/items", `{"id": "1"}`, 201)
	if s := a.sample(); s.Written != 1 {
		t.Errorf("%+v", s)
	}
	a.ask("POST", "/snapshots/s/load", "", 200)
	if s := a.sample(); s.Written != 0 {
		t.Errorf("after loading: %+v", s)
	}
	a.ask("POST", "/databases/d/containers/c/items", `{"id": "1"}`, 201)
	if s := a.sample(); s.Written != 1 {
		t.Errorf("after another write: %+v", s)
	}
}

// The times of samples only rise, 15 minutes are kept, and a machine whose clock was set back begins anew.
func TestActivityIsBounded(t *testing.T) {
	a := newActivityTest(t).n.activity
	a.kept = nil
	times := func() (list []int64) {
		kept, _ := a.Since(0)
		for _, s := range kept {
			list = append(list, s.Time)
		}
		return list
	}
	for _, at := range []int64{100, 100, 103, 103, 102} {
		a.take(at)
	}
	if got := times(); !slices.Equal(got, []int64{100, 101, 103, 104, 105}) {
		t.Errorf("times %v", got)
	}
	for since, want := range map[int64]int{99: 5, 100: 4, 102: 3, 105: 0, 150: 0, 1 << 62: 5} {
		if list, _ := a.Since(since); len(list) != want {
			t.Errorf("%d samples after %d, want %d", len(list), since, want)
		}
	}
	for at := range int64(samplesKept + 10) {
		a.take(200 + at)
	}
	if got := times(); len(got) != samplesKept || got[0] != 210 || cap(a.kept) > 2*samplesKept {
		t.Errorf("%d samples from %d", len(got), got[0])
	}
	a.take(50)
	if got := times(); !slices.Equal(got, []int64{50}) {
		t.Errorf("after the clock was set back: %v", got)
	}
}

func TestUntilSample(t *testing.T) {
	for now, want := range map[time.Duration]time.Duration{
		0: 500, 200: 300, 300: 1200, 499: 1001, 500: 1000, 501: 999, 900: 600,
	} {
		if got := untilSample(noon.Add(now * time.Millisecond)); got != want*time.Millisecond {
			t.Errorf("%d ms: %v, want %d ms", now, got, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	bounds := []float64{0.001, 0.01, 0.1}
	for _, c := range []struct {
		took     []uint64
		p50, p99 float64
	}{
		{[]uint64{0, 0, 0, 0}, 0, 0},
		{[]uint64{100, 0, 0, 0}, 0.5, 0.99},
		{[]uint64{0, 1, 0, 0}, 5.5, 9.91},
		{[]uint64{98, 0, 2, 0}, 0.51, 55},
		{[]uint64{1, 0, 0, 99}, 100, 100},
	} {
		if p50, p99 := quantile(bounds, c.took, 0.5), quantile(bounds, c.took, 0.99); p50 != c.p50 || p99 != c.p99 {
			t.Errorf("%v: %v and %v, want %v and %v", c.took, p50, p99, c.p50, c.p99)
		}
	}
}

// The machine's time makes samples, also where the clock is virtual. A client that comes back gets what it has missed.
func TestActivityEvents(t *testing.T) {
	n := start(t, Options{Admin: "127.0.0.1:0", Virtual: true, VirtualStart: noon, Meter: newTally()})
	events := func(query string, header ...string) (next func() admin.Sample, stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", n.AdminURL()+"_mayfly/v1/activity/events"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if kind := response.Header.Get("Content-Type"); response.StatusCode != 200 || kind != "text/event-stream" {
			t.Fatalf("%s %s", response.Status, kind)
		}
		lines := bufio.NewScanner(response.Body)
		return func() (s admin.Sample) {
				id := ""
				for lines.Scan() {
					if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
						id = text
					}
					if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
						if err := json.Unmarshal([]byte(text), &s); err != nil || id != fmt.Sprint(s.Time) {
							t.Fatalf("%s: %s, %v", id, text, err)
						}
						return s
					}
				}
				t.Fatal("the stream has ended")
				return s
			}, func() {
				cancel()
				response.Body.Close()
			}
	}
	next, stop := events("?since=0")
	first, second := next(), next()
	stop()
	age := clock.Wall().Unix() - second.Time
	if second.Time <= first.Time || first.Now != noon.Unix() || second.Now != noon.Unix() || age < 0 || age > 60 {
		t.Errorf("%+v, then %+v", first, second)
	}
	for _, how := range [][]string{
		{fmt.Sprintf("?since=%d", first.Time)},
		{"?since=0", "Last-Event-ID", fmt.Sprint(first.Time)},
	} {
		next, stop := events(how[0], how[1:]...)
		if s := next(); s != second {
			t.Errorf("%v: %+v, want %+v", how, s, second)
		}
		stop()
	}
	next, stop = events("")
	if s := next(); s.Time <= second.Time {
		t.Errorf("without a time: %+v after %+v", s, second)
	}
	stop()
	for _, query := range []string{"?since=yesterday", "?since=-1", "?since=1.5"} {
		if code, text := get(t, n.AdminURL()+"_mayfly/v1/activity/events"+query); code != 400 {
			t.Errorf("%s: %d %s", query, code, text)
		}
	}
}

// Nobody samples where nobody could look.
func TestActivityNeedsAnAdminAddress(t *testing.T) {
	if n := start(t, Options{NoSQL: "127.0.0.1:0", Meter: newTally()}); n.activity != nil {
		t.Error("a sampler runs without an admin address")
	}
	n := start(t, Options{Admin: "127.0.0.1:0"})
	if code, text := get(t, n.AdminURL()+"_mayfly/v1/activity"); n.activity != nil || code != 501 {
		t.Errorf("without a meter: %d %s", code, text)
	}
}

// What one sample costs in a node with a hundred containers. There is one a second.
func BenchmarkActivity(b *testing.B) {
	n, err := Start(b.Context(), Options{Admin: "127.0.0.1:0", Meter: newTally(), Engine: kvmemory.New()})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close(context.Background())
	n.activity.close()
	post := func(path, body string) {
		response, err := http.Post(n.AdminURL()+"_mayfly/v1"+path, "application/json", strings.NewReader(body))
		if err != nil || response.StatusCode != 201 {
			b.Fatal(err, response)
		}
		response.Body.Close()
	}
	post("/databases", `{"id": "d"}`)
	for i := range 100 {
		post("/databases/d/containers", fmt.Sprintf(`{"id": "c%d", "partitionKey": {"paths": ["/id"]}}`, i))
	}
	b.ReportAllocs()
	for b.Loop() {
		n.surveys.mu.Lock()
		n.surveys.latest = nil // the cost of a survey counts
		n.surveys.mu.Unlock()
		n.activity.take(0)
	}
}

// A client that has seen samples from before the machine's clock was set back gets those after it.
func TestActivityAfterTheClockWasSetBack(t *testing.T) {
	a := &activity{kept: []admin.Sample{{Time: 1000}, {Time: 1001}}}
	for since, want := range map[int64]int{1000: 1, 1001: 0, 1061: 0, 1062: 2, 5000: 2} {
		if list, _ := a.Since(since); len(list) != want {
			t.Errorf("since %d: %d samples, want %d", since, len(list), want)
		}
	}
}
