package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
)

func memory(t *testing.T) *pebble.Engine {
	t.Helper()
	e, err := pebble.Open(pebble.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func start(t *testing.T, o Options) *Node {
	t.Helper()
	if o.Engine == nil {
		o.Engine = memory(t)
	}
	n, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return n
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestTwoNodesInOneProcess(t *testing.T) {
	a := start(t, Options{NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0"})
	b := start(t, Options{NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0", Virtual: true})
	if a.Endpoint() == b.Endpoint() || a.AdminURL() == b.AdminURL() {
		t.Fatal("both have one address")
	}
	for _, n := range []*Node{a, b} {
		if code, body := get(t, n.AdminURL()+"readyz"); code != 200 {
			t.Errorf("not ready: %d %s", code, body)
		}
		if code, body := get(t, n.PlainEndpoint()+"_mayfly/ca.pem"); code != 200 || body != string(n.CA()) {
			t.Errorf("authority: %d %s", code, body)
		}
	}
}

func TestAPIsAreOptional(t *testing.T) {
	n := start(t, Options{})
	if n.Endpoint() != "" || n.PlainEndpoint() != "" || n.AdminURL() != "" {
		t.Errorf("addresses %q %q %q, want none", n.Endpoint(), n.PlainEndpoint(), n.AdminURL())
	}
}

func TestOptionsThatCannotBeKept(t *testing.T) {
	cases := []struct {
		name string
		o    Options
	}{
		{"well-known key on every address", Options{NoSQL: ":0", Key: WellKnownKey}},
		{"no key on every address, in memory", Options{NoSQL: ":0"}},
		{"well-known key for an exposed admin API", Options{Admin: "0.0.0.0:0", Key: WellKnownKey}},
		{"endpoint that is no URL", Options{NoSQL: "127.0.0.1:0", Advertise: "db.example"}},
		{"unknown level", Options{NoSQL: "127.0.0.1:0", Consistency: "Absolute"}},
		{"a start before all clocks", Options{Virtual: true, VirtualStart: noon.AddDate(-126, 0, 0)}},
		{"a start after all clocks", Options{Virtual: true, VirtualStart: noon.AddDate(274, 0, 0)}},
		{"certificate without files", Options{NoSQL: "127.0.0.1:0", TLS: TLS{Cert: "no.pem", Key: "no.key"}}},
	}
	for _, c := range cases {
		engine := &closing{Engine: memory(t)}
		c.o.Engine = engine
		n, err := Start(t.Context(), c.o)
		if err == nil {
			n.Close(t.Context())
		}
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: error %v, want an invalid option", c.name, err)
		}
		if !engine.closed {
			t.Errorf("%s: the engine is still open", c.name)
		}
	}
}

// closing notices that an engine is closed.
type closing struct {
	kv.Engine
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return c.Engine.Close()
}

func TestExposedAdminWantsTheKey(t *testing.T) {
	key := strings.Repeat("A", 86) + "=="
	n := start(t, Options{Admin: "0.0.0.0:0", Key: key})
	if code, _ := get(t, n.AdminURL()+"clock"); code != http.StatusUnauthorized {
		t.Errorf("without the key: %d, want 401", code)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", n.AdminURL()+"clock", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("with the key: %d, want 200", response.StatusCode)
	}
}

func TestMovedClockIsSavedBeforeTheAnswer(t *testing.T) {
	engine := memory(t)
	n := start(t, Options{Engine: engine, Admin: "127.0.0.1:0", Virtual: true, VirtualStart: noon})
	response, err := http.Post(n.AdminURL()+"clock/advance", "application/json",
		strings.NewReader(`{"duration":"36h"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Time time.Time }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	want := noon.Add(36 * time.Hour)
	if !answer.Time.Equal(want) || !n.Clock().Now().Equal(want) {
		t.Errorf("answer %v, clock %v, want %v", answer.Time, n.Clock().Now(), want)
	}
	c, err := catalog.Open(t.Context(), engine, nil) // as after a crash at this point
	if err != nil {
		t.Fatal(err)
	}
	if !c.ClockMark().Equal(want) {
		t.Errorf("mark %v, want %v", c.ClockMark(), want)
	}
}

func TestMoveRefuses(t *testing.T) {
	virtual := start(t, Options{Virtual: true, VirtualStart: noon})
	real := start(t, Options{})
	cases := []struct {
		name string
		node *Node
		to   time.Time
		kind fault.Kind
	}{
		{"back", virtual, noon.Add(-1), fault.Invalid},
		{"too far", virtual, noon.AddDate(1000, 0, 0), fault.Invalid},
		{"a real clock", real, noon.AddDate(100, 0, 0), fault.Conflict},
	}
	for _, c := range cases {
		if _, err := c.node.Move(t.Context(), func(time.Time) time.Time { return c.to }); fault.KindOf(err) != c.kind {
			t.Errorf("%s: error %v, want kind %v", c.name, err, c.kind)
		}
	}
	if !virtual.Clock().Now().Equal(noon) {
		t.Errorf("the clock shows %v, want %v", virtual.Clock().Now(), noon)
	}
}

func TestVirtualClockStarts(t *testing.T) {
	cases := []struct {
		name              string
		given, mark, want time.Time
	}{
		{"where it is told", noon, time.Time{}, noon},
		{"where the data stopped", time.Time{}, noon, noon},
		{"where the data stopped, told an earlier time", noon.Add(-time.Hour), noon, noon},
		{"where it is told, after the data stopped", noon.Add(time.Hour), noon, noon.Add(time.Hour)},
	}
	for _, c := range cases {
		engine := memory(t)
		cat, err := catalog.Open(t.Context(), engine, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := cat.SaveClockMark(t.Context(), c.mark); err != nil {
			t.Fatal(err)
		}
		n := start(t, Options{Engine: engine, Virtual: true, VirtualStart: c.given})
		if got := n.Clock().Now(); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestRealClockStartsAtTheMark(t *testing.T) {
	engine := memory(t)
	c, err := catalog.Open(t.Context(), engine, nil)
	if err != nil {
		t.Fatal(err)
	}
	mark := noon.AddDate(50, 0, 0)
	if err := c.SaveClockMark(t.Context(), mark); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	n := start(t, Options{Engine: engine, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if !n.Clock().Now().Equal(mark) {
		t.Errorf("shows %v, want %v", n.Clock().Now(), mark)
	}
	if !strings.Contains(log.String(), "stands still") {
		t.Errorf("no warning in %q", log.String())
	}
	if !n.StandsStill() {
		t.Error("does not know that it stands still")
	}
	if start(t, Options{}).StandsStill() || start(t, Options{Virtual: true}).StandsStill() {
		t.Error("other clocks stand still too")
	}
}

func TestCloseFinishesRequests(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	d, err := listen(t.Context(), "test", "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d.open(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		io.WriteString(w, "done")
	}), time.Minute)

	var requests sync.WaitGroup
	requests.Go(func() {
		if code, body := get(t, d.url("http")); code != 200 || body != "done" {
			t.Errorf("request during close: %d %q", code, body)
		}
	})
	<-entered
	go close(release)
	if err := d.close(t.Context()); err != nil {
		t.Error(err)
	}
	requests.Wait()
	if _, err := http.Get(d.url("http")); err == nil {
		t.Error("answers after close")
	}
}

func TestCloseCutsOffWhatDoesNotEnd(t *testing.T) {
	entered := make(chan struct{})
	ended := false
	d, err := listen(t.Context(), "test", "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d.open(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		ended = true
	}), time.Minute)
	go http.Get(d.url("http"))
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.close(ctx); err != nil {
		t.Error(err)
	}
	if !ended {
		t.Error("close returned while the request still ran")
	}
}

func TestCloseGivesUpOnWhatNeverEnds(t *testing.T) {
	entered, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	d, err := listen(t.Context(), "test", "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	engine := memory(t)
	d.open(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-release
		if _, err := engine.Get(t.Context(), []byte("k"), func([]byte) error {
			return nil
		}); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("engine after its end: error %v, want unavailable", err)
		}
		close(ended)
	}), time.Minute)
	go http.Get(d.url("http"))
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.close(ctx); fault.KindOf(err) != fault.Timeout {
		t.Errorf("error %v, want one of the request that does not end", err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	w := httptest.NewRecorder()
	d.server.HTTP.Handler.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("request after close: %d, want 503", w.Code)
	}
	close(release)
	<-ended
}

func TestLocalhostIsBothAddresses(t *testing.T) {
	probe, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	probe.Close()
	n := start(t, Options{NoSQL: "127.0.0.1:0", Admin: "localhost:0"})
	beside := func(url string) string { return strings.NewReplacer("127.0.0.1", "[::1]").Replace(url) }
	if code, _ := get(t, beside(n.AdminURL())+"readyz"); code != 200 {
		t.Errorf("admin API on [::1]: %d, want 200", code)
	}
	if code, body := get(t, beside(n.PlainEndpoint())+"_mayfly/ca.pem"); code != 200 || body != string(n.CA()) {
		t.Errorf("NoSQL API on [::1]: %d %s", code, body)
	}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(strings.TrimSuffix(beside(n.Endpoint()), "/"), "https://"),
		trusting(n))
	if err != nil {
		t.Fatalf("https on [::1]: %v", err)
	}
	conn.Close()
}

// trusting is the configuration of a client that trusts a node.
func trusting(n *Node) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(n.CA())
	return &tls.Config{RootCAs: roots}
}

func TestOtherAddressesAreAlone(t *testing.T) {
	for _, address := range []string{"127.0.0.2:0", "0.0.0.0:0"} {
		d, err := listen(t.Context(), "test", address, slog.New(slog.DiscardHandler))
		if err != nil && address == "127.0.0.2:0" {
			t.Log("this machine has no 127.0.0.2: ", err) // as macOS, where it has to be set up
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(d.listeners) != 1 {
			t.Errorf("%s: %d listeners, want 1", address, len(d.listeners))
		}
		if err := d.close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestTakenBesideIsTold(t *testing.T) {
	other, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	defer other.Close()
	_, port, _ := net.SplitHostPort(other.Addr().String())
	var log bytes.Buffer
	d, err := listen(t.Context(), "test", "127.0.0.1:"+port, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Skip("the port is taken on 127.0.0.1 too: ", err)
	}
	defer d.close(t.Context())
	if !strings.Contains(log.String(), "[::1]") {
		t.Errorf("no warning in %q", log.String())
	}
}

func TestWarnings(t *testing.T) {
	own := strings.Repeat("A", 86) + "=="
	cases := []struct {
		name string
		o    Options
		want string // "" for silence
	}{
		{"loopback", Options{NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0"}, ""},
		{"own key", Options{NoSQL: "0.0.0.0:0", Key: own}, ""},
		{"well-known key", Options{NoSQL: "0.0.0.0:0", AllowWellKnownKey: true}, "account key is public"},
		{"key in clear", Options{Admin: "0.0.0.0:0", Key: own, TLS: TLS{Off: true}}, "in plain text"},
		{"key over TLS", Options{Admin: "0.0.0.0:0", Key: own}, ""},
	}
	for _, c := range cases {
		var log bytes.Buffer
		c.o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		start(t, c.o)
		if got := log.String(); c.want == "" && got != "" || strings.Count(got, "WARN") != min(1, len(c.want)) ||
			!strings.Contains(got, c.want) {
			t.Errorf("%s: log %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPlacesAreAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	n := start(t, Options{Dir: ".", NoSQL: "0.0.0.0:0"})
	for _, path := range []string{n.KeyPlace(), n.CAFile()} {
		if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
			t.Errorf("place %q: error %v, want the absolute path of a file", path, err)
		}
	}
	if nosql, mongo, admin := n.Exposed(); nosql == "" || mongo != "" || admin != "" {
		t.Errorf("exposed %q, %q, %q", nosql, mongo, admin)
	}
}

func TestEngineDirIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if has, err := HasData(dir); has || err != nil {
		t.Errorf("nothing: has data %v, error %v", has, err)
	}
	path := EngineDir(dir)
	e, err := pebble.Open(pebble.Options{Dir: path})
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{dir, path} {
		if info, err := os.Stat(made); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, error %v, want mode 0700", made, info, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if has, err := HasData(dir); !has || err != nil {
		t.Errorf("made: has data %v, error %v", has, err)
	}
}

func TestHostOf(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:8081": "127.0.0.1", ":8081": "", "[::1]:8081": "::1", "db.example:1": "db.example",
		"https://db.example:8081/": "db.example", "https://db.example/": "db.example",
		"https://[2001:db8::1]/": "2001:db8::1", "": "",
	} {
		if got := hostOf(address); got != want {
			t.Errorf("hostOf(%q) = %q, want %q", address, got, want)
		}
	}
}
