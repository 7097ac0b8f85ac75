package mongo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	monitored "go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/conformance/several"
)

// TestDiscovery connects from everywhere to a mayfly in a container, as far as networks go: the Go driver and the Node
// driver must end up at the server, with transactions, retryable writes and change streams, whatever address
// they were given. Each machine is a network namespace that the test makes in a user namespace of its own, where it
// starts itself again:
//
//	yard       the machine that runs containers; it reaches their addresses, and forwards its ports 27017 and 47017
//	container  mayfly, on all addresses, port 27017
//	neighbour  a container of the same Compose file: mayfly is the name of the first one
//	desktop    a Mac, say: its localhost:27017 goes to the container, whose address it does not reach
//	other      another machine, which reaches the yard, but not the container
func TestDiscovery(t *testing.T) {
	several.Lack(t, "addresses")
	switch os.Getenv("TESTED_YARD") {
	case "yard":
		runYard(t)
		return
	case "client":
		visit(t, os.Getenv("TESTED_URI"))
		return
	case "proxy":
		forward(os.Args[len(os.Args)-2], os.Args[len(os.Args)-1])
		select {} // until it is killed
	}
	for _, tool := range []string{"ip", "nsenter", "mount", "hostname"} {
		if _, err := exec.LookPath(tool); err != nil {
			absent(t, "networks are made with "+tool+", which is not installed")
		}
	}
	yard := again("yard", "TESTED_BIN="+binary)
	yard.Args = append(yard.Args, "-test.v")
	yard.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := yard.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOSPC) ||
		errors.Is(err, syscall.EINVAL):
		t.Skipf("skipped: the kernel gives no network namespaces to this user (%v)", err)
	case refusedHere.Match(out):
		t.Skip("skipped: the kernel does not let this user set up networks\n" + string(out))
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if strings.Contains(line, "skipped") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// setUp begins what a yard says when it cannot be set up. Only a refusal of the kernel, as in some containers, is a
// reason to skip the test, in CI too: nothing can be installed against it.
const setUp = "networks cannot be set up"

var refusedHere = regexp.MustCompile("(?is)" + setUp + ".*(permission denied|not permitted)")

// again is this program, to be started for a role in the test.
func again(role string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestDiscovery$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), append(env, "TESTED_YARD="+role)...)
	return cmd
}

// A machine is a namespace with a process in it.
type machine struct{ pid int }

func (m machine) run(cmd *exec.Cmd) *exec.Cmd {
	if m.pid == 0 {
		return cmd
	}
	inside := exec.Command("nsenter",
		append([]string{"-t", fmt.Sprint(m.pid), "-n", "--", cmd.Path}, cmd.Args[1:]...)...)
	inside.Env = cmd.Env
	return inside
}

// launch starts a process and kills it with the test.
func launch(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid
}

// newMachine is a process that does nothing, in a network of its own.
func newMachine(t *testing.T) machine {
	t.Helper()
	cmd := exec.Command("sleep", "120")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	return machine{launch(t, cmd)}
}

func (m machine) ip(t *testing.T, line string) {
	t.Helper()
	if out, err := m.run(exec.Command("ip", strings.Fields(line)...)).CombinedOutput(); err != nil {
		t.Fatalf("%s: ip %s: %v\n%s", setUp, line, err, out)
	}
}

// link is a cable between two machines: 10.N.0.1 and 10.N.0.2.
func link(t *testing.T, n int, a, b machine) {
	t.Helper()
	ns := func(m machine) string {
		if m.pid == 0 {
			return fmt.Sprint(os.Getpid())
		}
		return fmt.Sprint(m.pid)
	}
	machine{}.ip(t, fmt.Sprintf("link add l%da netns %s type veth peer name l%db netns %s", n, ns(a), n, ns(b)))
	for i, m := range []machine{a, b} {
		end := fmt.Sprintf("l%d%c", n, 'a'+i)
		m.ip(t, fmt.Sprintf("addr add 10.%d.0.%d/24 dev %s", n, i+1, end))
		m.ip(t, "link set "+end+" up")
	}
	t.Cleanup(func() { a.ip(t, fmt.Sprintf("link del l%da", n)) })
}

// forward sends what comes to an address to another one, as the proxy of a container engine does.
func forward(from, to string) {
	l, err := net.Listen("tcp", from)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer out.Close()
				go func() {
					io.Copy(out, in)
					out.(*net.TCPConn).CloseWrite()
				}()
				io.Copy(in, out)
			}()
		}
	}()
}

// accountName is the user of the connection strings.
const accountName = "acct-1"

// aKey is the account key: mayfly takes the well-known one on loopback addresses only.
const aKey = "bWF5Zmx5IG1heWZseSBtYXlmbHkgbWF5Zmx5IG1heWZseSBtYXlmbHk+/w=="

// azure is what Azure's connection strings have after the address.
const azure = "ssl=true&replicaSet=globaldb&retrywrites=false&maxIdleTimeMS=120000&appName=@" + accountName + "@"

func runYard(t *testing.T) {
	dir := t.TempDir()
	hosts := filepath.Join(dir, "hosts")
	must(t, os.WriteFile(hosts, []byte("127.0.0.1 localhost\n10.78.0.2 mayfly\n10.79.0.1 dockerhost\n"), 0o644))
	if out, err := exec.Command("mount", "--bind", hosts, "/etc/hosts").CombinedOutput(); err != nil {
		t.Fatalf("%s: mount: %v\n%s", setUp, err, out)
	}
	var yard machine
	neighbour, desktop, other := newMachine(t), newMachine(t), newMachine(t)
	for _, m := range []machine{yard, neighbour, desktop, other} {
		m.ip(t, "link set lo up")
	}
	link(t, 79, yard, other)
	link(t, 80, yard, desktop)
	for _, port := range []string{"127.0.0.1:27017", "10.80.0.1:27017", "10.79.0.1:27017", "10.79.0.1:47017"} {
		forward(port, "10.77.0.2:27017")
	}
	proxy := again("proxy")
	proxy.Args = append(proxy.Args, "127.0.0.1:27017", "10.80.0.1:27017")
	launch(t, desktop.run(proxy))

	for _, server := range []struct {
		name  string
		flags []string
		cases []trip
	}{
		{"default", nil, []trip{
			{"localhost, the container out of reach", desktop, "localhost:27017", "", ""},
			{"localhost, beside the container", yard, "localhost:27017", "", ""},
			{"the container's address", yard, "10.77.0.2:27017", "", ""},
			{"a service name", neighbour, "mayfly:27017", "", ""},
			{"a mapped port", other, "dockerhost:47017", "", ""},
			{"a mapped port, direct", other, "dockerhost:47017", "directConnection=true", ""},
			{"TLS by a mapped port", desktop, "localhost:27017", "ssl=true", ""},
			{"Azure's string on localhost", desktop, "localhost:27017", azure, ""},
			{"Azure's string by a service name", neighbour, "mayfly:27017", azure, ""},
			{"Azure's string by the container's address", yard, "10.77.0.2:27017",
				strings.Replace(azure, "ssl=true&", "", 1), ""},
			{"a set that mayfly does not know the address of", neighbour, "mayfly:27017", "replicaSet=globaldb",
				"--mongo-advertise"},
		}},
		{"a set at a service name", []string{"--mongo-advertise", "mayfly:27017"}, []trip{
			{"a service name", neighbour, "mayfly:27017", "", ""},
			{"a service name, with the set", neighbour, "mayfly:27017", "replicaSet=globaldb", ""},
			{"from elsewhere, direct", desktop, "localhost:27017", "directConnection=true", ""},
			{"from elsewhere", desktop, "localhost:27017", "", "directConnection=true"},
		}},
		{"a set at a mapped port", []string{"--mongo-advertise", "dockerhost:47017"}, []trip{
			{"a mapped port", other, "dockerhost:47017", "", ""},
			{"a mapped port, with the set", other, "dockerhost:47017", "replicaSet=globaldb", ""},
			{"a mapped port, Azure's string", other, "dockerhost:47017", azure, ""},
		}},
	} {
		t.Run(server.name, func(t *testing.T) {
			ca := startInside(t, yard, neighbour, server.flags...)
			for _, c := range server.cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, ca) })
			}
		})
	}
}

// startInside runs a mayfly in a container whose host name is mayfly, and gives the file of its authority.
func startInside(t *testing.T, yard, neighbour machine, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"-c", `hostname mayfly && exec "$@"`, "sh", binary, "--data", dir, "--nosql", "", "--admin",
		"", "--mongo", "0.0.0.0:27017", "--key", aKey}, flags...)
	cmd := exec.Command("sh", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS}
	cmd.Stderr = os.Stderr
	container := machine{launch(t, cmd)}
	container.ip(t, "link set lo up")
	link(t, 77, yard, container)
	link(t, 78, neighbour, container)
	for began := time.Now(); time.Since(began) < patience; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", "10.77.0.2:27017"); err == nil {
			conn.Close()
			return filepath.Join(dir, "tls", "ca.pem")
		}
	}
	t.Fatal("mayfly does not answer")
	return ""
}

// A trip is a client with a connection string on a machine.
type trip struct {
	name    string
	from    machine
	address string
	query   string
	needs   string // what the documents say to add; "" when it works as it is
}

func (c trip) run(t *testing.T, ca string) {
	uri := "mongodb://" + accountName + ":" + url.QueryEscape(aKey) + "@" + c.address + "/?" + c.query
	trust := []string{"TESTED_URI=" + uri, "SSL_CERT_FILE=" + ca, "NODE_EXTRA_CA_CERTS=" + ca}
	if c.needs != "" {
		trust = append(trust, "TESTED_HASTE=1")
	}
	t.Run("Go", func(t *testing.T) { c.check(t, c.from.run(again("client", trust...))) })
	t.Run("Node", func(t *testing.T) {
		node, err := exec.LookPath("node")
		if _, missing := os.Stat("../js/node_modules/mongodb"); err != nil || missing != nil {
			absent(t, "the Node driver is not installed (make npm)")
		}
		cmd := exec.Command(node, "../js/discovery.js")
		cmd.Env = append(os.Environ(), trust...)
		c.check(t, c.from.run(cmd))
	})
}

func (c trip) check(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if (err == nil) != (c.needs == "") {
		t.Errorf("error %v, needs %q\n%s", err, c.needs, out)
	}
}

// visit uses what a stand-alone server does not have.
func visit(t *testing.T, uri string) {
	var retryable atomic.Int64
	watching := &monitored.CommandMonitor{Started: func(_ context.Context, e *monitored.CommandStartedEvent) {
		if _, err := e.Command.LookupErr("txnNumber"); err == nil && e.CommandName == "insert" &&
			e.Command.Lookup("autocommit").Type == 0 {
			retryable.Add(1)
		}
	}}
	o := options.Client().ApplyURI(uri).SetMonitor(watching).SetServerSelectionTimeout(patience)
	if os.Getenv("TESTED_HASTE") != "" {
		o.SetServerSelectionTimeout(time.Second)
	}
	client, err := mongo.Connect(o)
	must(t, err)
	ctx := within(t, patience)
	defer client.Disconnect(ctx)
	c := client.Database("visits").Collection("by")
	_, err = c.InsertOne(ctx, bson.D{})
	must(t, err)
	if wanted := !strings.Contains(uri, "retrywrites=false"); (retryable.Load() == 1) != wanted {
		t.Errorf("%d retryable writes", retryable.Load())
	}
	stream, err := c.Watch(ctx, mongo.Pipeline{})
	must(t, err)
	defer stream.Close(ctx)
	must(t, client.UseSession(ctx, func(ctx context.Context) error {
		_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
			return c.InsertOne(ctx, bson.D{})
		})
		return err
	}))
	if !stream.Next(ctx) {
		t.Fatal(stream.Err())
	}
}

// absent skips a test that wants a tool; in CI, where nothing may be missing, it fails.
func absent(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip("skipped: " + why)
}
