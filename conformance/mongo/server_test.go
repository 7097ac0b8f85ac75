package mongo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/conformance/loopback"
	"github.com/mayflydb/mayfly/conformance/several"
)

// emulatorKey is the account key that every emulator shares and publishes.
const emulatorKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// someday is where virtual clocks start.
const someday = "2031-02-03T04:05:06Z"

// patience bounds every call of the driver.
const patience = 20 * time.Second

// A server is one running mayfly process with nothing but the API for MongoDB.
type server struct {
	mongo, admin string // addresses, host:port; mongo is two, with a comma, if clients know both of two processes
	flags        []string

	process *exec.Cmd
	exited  chan error
	output  *bytes.Buffer // what it printed; read it after exit only
}

// start runs a mayfly of the test's own and stops it with the test.
func start(t testing.TB, flags ...string) *server {
	t.Helper()
	several.LackFlags(t, flags)
	var s *server
	var err error
	for range 3 { // another program may take a port before mayfly does
		s = &server{mongo: freeAddress(t), admin: freeAddress(t), flags: flags}
		if several.Seeds {
			s.mongo += "," + freeAddress(t)
		}
		if err = s.run(); err == nil || !strings.Contains(err.Error(), "address already in use") {
			break
		}
	}
	must(t, err)
	t.Cleanup(func() {
		s.signal(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("mayfly printed:\n%s", s.output)
		}
	})
	return s
}

func freeAddress(t testing.TB) string {
	t.Helper()
	address, err := loopback.Free()
	must(t, err)
	return address
}

// run starts the process, again after a kill: same ports, same data.
func (s *server) run() error {
	s.output = new(bytes.Buffer)
	s.process = exec.Command(binary,
		append([]string{"--nosql", "", "--admin", s.admin, "--mongo", s.mongo}, s.flags...)...)
	s.process.Stdout, s.process.Stderr = s.output, s.output
	if err := s.process.Start(); err != nil {
		return err
	}
	s.exited = make(chan error, 1)
	go func(p *exec.Cmd, exited chan error) { exited <- p.Wait() }(s.process, s.exited)
	for began := time.Now(); time.Since(began) < patience; time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-s.exited:
			s.exited <- err
			return fmt.Errorf("mayfly %s: exited before it was ready: %v\n%s", strings.Join(s.flags, " "), err,
				s.output)
		default:
		}
		if resp, err := http.Get("http://" + s.admin + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	s.signal(syscall.SIGKILL)
	return fmt.Errorf("mayfly %s: not ready after %v\n%s", strings.Join(s.flags, " "), patience, s.output)
}

// signal ends the process and returns how it ended.
func (s *server) signal(sig syscall.Signal) error {
	if err := s.process.Process.Signal(sig); err != nil && !errors.Is(err, syscall.ESRCH) &&
		!strings.Contains(err.Error(), "already finished") {
		return err
	}
	select {
	case err := <-s.exited:
		s.exited <- err
		return err
	case <-time.After(10 * time.Second):
		s.process.Process.Kill()
		return errors.New("mayfly did not end within 10 s of " + sig.String())
	}
}

// crash kills the server and starts it again on the same data.
func (s *server) crash(t testing.TB) {
	t.Helper()
	s.signal(syscall.SIGKILL)
	must(t, s.run())
}

// advance moves a virtual clock; everything due by then has happened when it returns.
func (s *server) advance(t testing.TB, d time.Duration) {
	t.Helper()
	body := fmt.Sprintf(`{"duration":%q}`, d)
	resp, err := http.Post("http://"+s.admin+"/clock/advance", "application/json", strings.NewReader(body))
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		answer, _ := io.ReadAll(resp.Body)
		t.Fatalf("POST /clock/advance %s: %s: %s", body, resp.Status, answer)
	}
}

// uri is a connection string; query is what comes after the question mark.
func (s *server) uri(query string) string {
	return "mongodb://" + s.mongo + "/?" + several.Query(query)
}

// as is a connection string with a user.
func (s *server) as(user, password, query string) string {
	return strings.Replace(s.uri(query), "://", "://"+url.UserPassword(user, password).String()+"@", 1)
}

// connect makes a client that the test takes away with it.
func (s *server) connect(t testing.TB, query string) *mongo.Client { return connect(t, s.uri(query)) }

func connect(t testing.TB, uri string) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(5 * time.Second))
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		client.Disconnect(ctx)
	})
	return client
}

var databases atomic.Int64

// newDatabase is a database with a name of its own.
func newDatabase(c *mongo.Client) *mongo.Database {
	return c.Database(fmt.Sprintf("db%d", databases.Add(1)))
}

// within bounds calls that must not hang.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode requires that the server refused with this code.
func wantCode(t testing.TB, what string, err error, code int) {
	t.Helper()
	var refused mongo.ServerError
	if !errors.As(err, &refused) || !refused.HasErrorCode(code) {
		t.Errorf("%s: %v, want code %d", what, err, code)
	}
}

// count is how many documents match, read one by one: no index answers for them.
func count(t testing.TB, c *mongo.Collection, filter any) int {
	t.Helper()
	ctx := within(t, patience)
	cursor, err := c.Find(ctx, filter)
	must(t, err)
	var all []bson.Raw
	must(t, cursor.All(ctx, &all))
	return len(all)
}
