package pressure

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// emulatorKey is the account key that every emulator shares and publishes.
const emulatorKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

var memoryLimit = flag.String("memory-limit", "", "what mayfly gets as --memory-limit; empty for its default")

// A server is one mayfly with both APIs, on disk.
type server struct {
	nosql, mongo, admin string // URLs
	dir                 string

	process *exec.Cmd
	exited  chan error
	stderr  *bytes.Buffer // read it after exit only

	cosmos *azcosmos.Client // retries as SDKs do
	driver *mongo.Client
	web    *http.Client
}

// start runs a mayfly of the test's own and ends it with the test.
func start(t testing.TB, flags ...string) *server {
	t.Helper()
	s := &server{dir: t.TempDir(), stderr: new(bytes.Buffer), exited: make(chan error, 1)}
	args := append([]string{"--data", s.dir, "--nosql=127.0.0.1:0", "--mongo=127.0.0.1:0", "--admin=127.0.0.1:0",
		"--log-level=warn"}, flags...)
	if *memoryLimit != "" {
		args = append(args, "--memory-limit", *memoryLimit)
	}
	s.process = exec.Command(tested, args...)
	s.process.Stderr = s.stderr
	out, err := s.process.StdoutPipe()
	must(t, err)
	must(t, s.process.Start())
	var greeting string
	for lines := bufio.NewReader(out); !strings.Contains(greeting, "Ctrl-C"); {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("mayfly %s ended before it was ready: %v\n%s%s", strings.Join(args, " "), s.process.Wait(),
				greeting, s.stderr)
		}
		greeting += line
	}
	go func() { s.exited <- s.process.Wait() }()
	t.Cleanup(func() {
		s.process.Process.Kill()
		s.exited <- <-s.exited
		if t.Failed() {
			t.Logf("mayfly printed:\n%s", s.stderr)
		}
	})
	for _, a := range []struct {
		to      *string
		pattern string
	}{
		{&s.nosql, `(?m)^ +(http://\S+)/$`},
		{&s.mongo, `(mongodb://\S+)/`},
		{&s.admin, `Admin +(http://\S+)/`},
	} {
		found := regexp.MustCompile(a.pattern).FindStringSubmatch(greeting)
		if found == nil {
			t.Fatalf("no %s in\n%s", a.pattern, greeting)
		}
		*a.to = strings.Replace(found[1], "localhost", "127.0.0.1", 1)
	}
	s.web = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	s.cosmos, err = dialCosmos(s.nosql, s.web)
	must(t, err)
	s.driver, err = dialMongo(s.mongo)
	must(t, err)
	t.Cleanup(func() {
		s.web.CloseIdleConnections()
		// a driver says good-bye for half a minute to a server that has ended
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.driver.Disconnect(ctx)
	})
	return s
}

// hangUp closes the connections of all clients but the innocent.
func (s *server) hangUp(t testing.TB) {
	t.Helper()
	s.web.CloseIdleConnections()
	must(t, s.driver.Disconnect(t.Context()))
	var err error
	s.driver, err = dialMongo(s.mongo)
	must(t, err)
}

func dialCosmos(address string, transport *http.Client) (*azcosmos.Client, error) {
	key, err := azcosmos.NewKeyCredential(emulatorKey)
	if err != nil {
		return nil, err
	}
	var o azcosmos.ClientOptions
	o.Transport = transport
	return azcosmos.NewClientWithKey(address, key, &o)
}

func dialMongo(address string) (*mongo.Client, error) {
	return mongo.Connect(options.Client().ApplyURI(address + "/?directConnection=true").SetMaxPoolSize(300))
}

// ended says whether the process is gone, and why.
func (s *server) ended() (error, bool) {
	select {
	case err := <-s.exited:
		s.exited <- err
		return err, true
	default:
		return nil, false
	}
}

// stop asks politely and wants a clean end.
func (s *server) stop(t testing.TB) {
	t.Helper()
	s.process.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.exited:
		s.exited <- err
		if err != nil {
			t.Errorf("mayfly ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("mayfly did not end within 30 s of SIGTERM")
	}
}

// request makes a signed request. The path is plain: dbs/d/colls/c/docs.
// See learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources.
func (s *server) request(ctx context.Context, method, path, body string, headers ...string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, s.nosql+"/"+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	segments := strings.Split(path, "/")
	kind, link := segments[len(segments)-1], strings.Join(segments[:len(segments)-1], "/")
	if len(segments)%2 == 0 {
		kind, link = segments[len(segments)-2], path
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	key, _ := base64.StdEncoding.DecodeString(emulatorKey)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.ToLower(method) + "\n" + kind + "\n" + link + "\n" + strings.ToLower(date) + "\n\n"))
	r.Header.Set("Authorization",
		url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
	r.Header.Set("x-ms-date", date)
	r.Header.Set("x-ms-version", "2020-07-15")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// A status is an answer of the NoSQL API that is no success.
type status struct {
	code int
	body string
}

func (s status) Error() string { return fmt.Sprintf("%d %s", s.code, s.body) }

// send sends what azcosmos has no call for, and what has to cost the client
// little. When refused it waits as told and tries again, nine times, as the SDKs
// for other languages do.
func (s *server) send(ctx context.Context, method, path, body string, headers ...string) ([]byte, error) {
	for try := 0; ; try++ {
		resp, err := s.web.Do(s.request(ctx, method, path, body, headers...))
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		switch {
		case err != nil:
			return nil, err
		case resp.StatusCode < 300:
			return text, nil
		case resp.StatusCode != http.StatusTooManyRequests || try == 9:
			return nil, status{resp.StatusCode, string(text[:min(len(text), 300)])}
		}
		wait, _ := strconv.Atoi(resp.Header.Get("x-ms-retry-after-ms"))
		if err := sleep(ctx, time.Duration(wait)*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// administer sends a command to the admin API.
func (s *server) administer(ctx context.Context, path string) error {
	r, err := http.NewRequestWithContext(ctx, "POST", s.admin+path, nil)
	if err != nil {
		return err
	}
	resp, err := s.web.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s %v", path, resp.StatusCode, text, err)
	}
	return nil
}

// keyed is the partition key header for one string.
func keyed(value string) (name, text string) {
	return "x-ms-documentdb-partitionkey", fmt.Sprintf("[%q]", value)
}

// container makes a container with the partition key /pk; ttl is its default, 0 for none.
func (s *server) container(ctx context.Context, name string, ttl int) error {
	if _, err := s.send(ctx, "POST", "dbs", `{"id":"rest"}`); err != nil && !is(err, http.StatusConflict) {
		return err
	}
	lifetime := ""
	if ttl != 0 {
		lifetime = fmt.Sprintf(`,"defaultTtl":%d`, ttl)
	}
	_, err := s.send(ctx, "POST", "dbs/rest/colls",
		fmt.Sprintf(`{"id":%q,"partitionKey":{"paths":["/pk"],"kind":"Hash"}%s}`, name, lifetime))
	if is(err, http.StatusConflict) {
		return nil
	}
	return err
}

// put upserts an item.
func (s *server) put(ctx context.Context, container, pk, item string) error {
	name, text := keyed(pk)
	_, err := s.send(ctx, "POST", "dbs/rest/colls/"+container+"/docs", item, name, text, "x-ms-documentdb-is-upsert",
		"true")
	return err
}

func is(err error, code int) bool {
	s, ok := err.(status)
	return ok && s.code == code
}

func (s *server) collection(name string) *mongo.Collection {
	return s.driver.Database("wire").Collection(name)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
