package conformance

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/mayflydb/mayfly/conformance/loopback"
	"github.com/mayflydb/mayfly/conformance/several"
)

// emulatorKey is the account key that every emulator shares and publishes.
const emulatorKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// A server is one running mayfly process.
type server struct {
	nosql, admin string // addresses, host:port
	flags        []string

	process   *exec.Cmd
	exited    chan error
	output    *bytes.Buffer // what it printed; read it after exit only
	authority []byte        // its CA, PEM
	https     *http.Client  // trusts authority and nothing else
}

// everyday is the server that tests share when they neither restart it nor
// move its clock: in memory, real time.
var everyday struct {
	once   sync.Once
	server *server
	err    error
}

func shared(t testing.TB) *server {
	t.Helper()
	everyday.once.Do(func() { everyday.server, everyday.err = launch("--memory") })
	if everyday.err != nil {
		t.Fatal(everyday.err)
	}
	return everyday.server
}

// start runs a mayfly of the test's own and stops it with the test.
func start(t testing.TB, flags ...string) *server {
	t.Helper()
	several.LackFlags(t, flags)
	s, err := launch(flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("mayfly printed:\n%s", s.output)
		}
	})
	return s
}

// launch starts the binary on two free ports and returns when it is ready.
func launch(flags ...string) (s *server, err error) {
	for range 3 { // another program may take a port before mayfly does
		s = &server{flags: flags}
		if s.nosql, err = loopback.Free(); err != nil {
			return nil, err
		}
		if s.admin, err = loopback.Free(); err != nil {
			return nil, err
		}
		if err = s.run(); err == nil || !strings.Contains(err.Error(), "address already in use") {
			return s, err
		}
	}
	return s, err
}

// run starts the process, again after a kill: same ports, same data.
func (s *server) run() error {
	args := append([]string{"--nosql", s.nosql, "--mongo", "", "--admin", s.admin}, s.flags...)
	s.output = new(bytes.Buffer)
	s.process = exec.Command(binary, args...)
	s.process.Stdout, s.process.Stderr = s.output, s.output
	if err := s.process.Start(); err != nil {
		return err
	}
	s.exited = make(chan error, 1)
	go func(p *exec.Cmd, exited chan error) { exited <- p.Wait() }(s.process, s.exited)
	if err := s.awaitReady(); err != nil {
		return err
	}
	return s.trust()
}

func (s *server) awaitReady() error {
	const patience = 15 * time.Second
	for began := time.Now(); time.Since(began) < patience; time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-s.exited:
			s.exited <- err
			return fmt.Errorf("mayfly %s: exited before it was ready: %v\n%s", strings.Join(s.flags, " "), err,
				s.output)
		default:
		}
		resp, err := http.Get("http://" + s.admin + "/readyz")
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
	}
	s.kill()
	return fmt.Errorf("mayfly %s: not ready after %v\n%s", strings.Join(s.flags, " "), patience, s.output)
}

// trust makes the client that believes in the server's CA.
func (s *server) trust() error {
	read := s.downloadAuthority
	if several.On {
		read = func() ([]byte, error) { return os.ReadFile(several.Authority) }
	}
	pem, err := read()
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("no certificate in %q", pem)
	}
	s.authority = pem
	s.https = &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: pool},
		MaxIdleConnsPerHost: 64,
	}}
	return nil
}

// downloadAuthority takes the CA over plain http, as a person would.
func (s *server) downloadAuthority() ([]byte, error) {
	resp, err := http.Get("http://" + s.nosql + "/_mayfly/ca.pem")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// stop asks politely (SIGTERM) and returns how the process ended.
func (s *server) stop() error {
	return s.signal(syscall.SIGTERM)
}

// kill gives it no chance to tidy up (SIGKILL).
func (s *server) kill() error {
	return s.signal(syscall.SIGKILL)
}

func (s *server) signal(sig syscall.Signal) error {
	select {
	case err := <-s.exited:
		s.exited <- err
		return err
	default:
	}
	if err := s.process.Process.Signal(sig); err != nil {
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
	s.kill()
	if err := s.run(); err != nil {
		t.Fatalf("after a kill: %v", err)
	}
}

// advance moves a virtual clock; everything due by then has happened when it returns.
func (s *server) advance(t testing.TB, d time.Duration) {
	t.Helper()
	body := fmt.Sprintf(`{"duration":%q}`, d)
	resp, err := http.Post("http://"+s.admin+"/clock/advance", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		answer, _ := io.ReadAll(resp.Body)
		t.Fatalf("POST /clock/advance %s: %s: %s", body, resp.Status, answer)
	}
}

// now is what the server's clock shows.
func (s *server) now(t testing.TB) time.Time {
	t.Helper()
	resp, err := http.Get("http://" + s.admin + "/clock")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var clock struct{ Time time.Time }
	if err := json.NewDecoder(resp.Body).Decode(&clock); err != nil {
		t.Fatal(err)
	}
	return clock.Time
}

// client is azcosmos over TLS. It does not retry, so that a fault shows.
func (s *server) client(t testing.TB) *azcosmos.Client {
	t.Helper()
	c, err := s.dial("https://"+s.nosql, s.https)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (s *server) dial(endpoint string, transport policy.Transporter) (*azcosmos.Client, error) {
	key, err := azcosmos.NewKeyCredential(emulatorKey)
	if err != nil {
		return nil, err
	}
	var options azcosmos.ClientOptions
	options.Transport = transport
	options.Retry.MaxRetries = -1
	return azcosmos.NewClientWithKey(endpoint, key, &options)
}

// within bounds an SDK call that must not hang.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}
