package conformance

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/conformance/loopback"
)

const azcosmosModule = "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

// TestAzcosmosEmulatorSuite runs the tests that the Go SDK keeps for the
// official emulator, one by one. They are compiled from a writable copy of the module,
// with the dependencies its own go.mod pins. testdata/azcosmos-1.5.0.txt lists them; all must pass.
func TestAzcosmosEmulatorSuite(t *testing.T) {
	suite := copyModule(t)
	listed := listedTests(t, suite)
	s, ports := suiteServer(t)
	retarget(t, suite, ports)
	tests := compileSuite(t, suite)
	ca := filepath.Join(suite, "mayfly-ca.pem")
	if err := os.WriteFile(ca, s.authority, 0o600); err != nil {
		t.Fatal(err)
	}

	passed := 0
	for _, name := range listed {
		t.Run(name, func(t *testing.T) {
			run := exec.Command(tests, "-test.run", "^"+name+"$", "-test.timeout", "60s")
			run.Dir = suite
			// TestAAD trusts the system's authorities only; this makes ours one of them.
			run.Env = append(os.Environ(), "EMULATOR=true", "SSL_CERT_FILE="+ca)
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
				return
			}
			passed++
		})
	}
	figures.add("azcosmos 1.5.0 emulator suite: %d of %d tests passed", passed, len(listed))
}

// copyModule copies azcosmos out of the module cache, which is read-only.
func copyModule(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", azcosmosModule).Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", azcosmosModule, err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(string(out)))); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	})
	ok(t, "make the copy writable", err)
	return dir
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// listedTests reads the list and checks that it names the suite's tests, all of them.
func listedTests(t *testing.T, suite string) (names []string) {
	t.Helper()
	list, err := os.ReadFile("testdata/azcosmos-1.5.0.txt")
	ok(t, "read the list", err)
	known := map[string]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		if name := strings.TrimSpace(lines.Text()); name != "" && name[0] != '#' {
			names = append(names, name)
			known[name] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(suite, "emulator*_test.go"))
	ok(t, "find the suite", err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		ok(t, "read the suite", err)
		for _, m := range testFunction.FindAllSubmatch(source, -1) {
			if !known[string(m[1])] {
				t.Errorf("%s: %s is not in the list", filepath.Base(file), m[1])
			}
			delete(known, string(m[1]))
		}
	}
	for name := range known {
		t.Errorf("%s is in the list, not in the suite", name)
	}
	return names
}

// gateways are the ports of the two gateways that the emulator has, and what
// they are here.
type gateways struct{ routing, compute string }

// suiteServer starts mayfly with the properties of the emulator that the suite
// expects: on the emulator's own ports, or others when they are taken.
func suiteServer(t *testing.T) (*server, gateways) {
	t.Helper()
	admin, err := loopback.Free()
	ok(t, "find a free address", err)
	at := gateways{unlessTaken(t, "8081"), unlessTaken(t, "8903")}
	s := &server{
		nosql: "127.0.0.1:" + at.routing,
		admin: admin,
		flags: []string{
			"--memory", "--consistency", "Strong", "--region", "South Central US", "--cross-partition", "strict",
			"--advertise", fmt.Sprintf("https://127.0.0.1:%s/", at.routing),
			"--nosql-compute", "127.0.0.1:" + at.compute,
		},
	}
	ok(t, "start", s.run())
	t.Cleanup(func() { s.stop() })
	return s, at
}

func unlessTaken(t *testing.T, port string) string {
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		address, err := loopback.Free()
		ok(t, "find a free address", err)
		_, other, _ := net.SplitHostPort(address)
		t.Logf("port %s is taken, the suite is pointed at %s", port, other)
		return other
	}
	l.Close()
	return port
}

// retarget points the copy at our ports.
func retarget(t *testing.T, suite string, at gateways) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(suite, "emulator*_test.go"))
	ok(t, "find the suite", err)
	routing, compute := ":"+at.routing+"/", ":"+at.compute+"/"
	for _, file := range files {
		source, err := os.ReadFile(file)
		ok(t, "read the suite", err)
		moved := strings.NewReplacer(":8081/", routing, ":8903/", compute).Replace(string(source))
		if moved != string(source) {
			ok(t, "write the suite", os.WriteFile(file, []byte(moved), 0o600))
		}
	}
}

// compileSuite builds the copy's tests, as a module that belongs to no workspace.
func compileSuite(t *testing.T, suite string) string {
	t.Helper()
	tests := filepath.Join(suite, "azcosmos.test")
	build := exec.Command("go", "test", "-c", "-o", tests, ".")
	build.Dir = suite
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("compile the suite: %v\n%s", err, out)
	}
	return tests
}
