// Several runs tests of one mayfly against several, which share a cluster.
//
//	several run MAYFLY COMMAND...
//
// runs a command, for example go test, beside a PD stand-in and a store. Its
// TESTED_BIN is this program again, which is started like mayfly, with its
// flags: it then starts two processes of MAYFLY over the cluster, with a
// balancer at each address that the flags give, and ends as mayfly does, with
// SIGTERM or with kill -9. The other variables are those of package
// conformance/several.
//
// The data of --data DIR, of which nothing is in the folder, is found again
// with the same DIR; that of --memory is not. --mongo with two addresses and a
// comma gives each process its own, without a balancer. Connections to the API
// for MongoDB are in plain text; those to the API for NoSQL alone have the
// certificate of TESTED_AUTHORITY.
//
// It is for Linux, where processes end with the one that has started them.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/mayflydb/mayfly/conformance/cluster/placement"
	"github.com/mayflydb/mayfly/conformance/cluster/store"
)

// The environment of a command, for this program.
const (
	envMayfly = "SEVERAL_MAYFLY" // path of the binary
	envEngine = "SEVERAL_ENGINE" // tikv://HOST:PORT
	envTLS    = "SEVERAL_TLS"    // CERT,KEY
)

func init() { runtime.LockOSThread() } // a process ends with the thread that has started it

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "several:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch {
	case len(args) > 2 && args[0] == "run":
		return beside(ctx, args[1], args[2:])
	case os.Getenv(envEngine) == "":
		return 2, errors.New("say run MAYFLY COMMAND")
	case len(args) > 0 && !strings.HasPrefix(args[0], "-"): // a command of mayfly that serves nothing
		binary := os.Getenv(envMayfly)
		return 1, syscall.Exec(binary, append([]string{binary}, args...), os.Environ())
	}
	return serve(ctx, args)
}

// beside runs a command beside a cluster.
func beside(ctx context.Context, mayfly string, command []string) (code int, err error) {
	scratch, err := os.MkdirTemp("", "several-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(scratch)
	if mayfly, err = filepath.Abs(mayfly); err != nil {
		return 1, err
	}
	engine, err := cluster(scratch)
	if err != nil {
		return 1, err
	}
	certificate, key, err := writeCertificate(scratch)
	if err != nil {
		return 1, err
	}
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(),
		envMayfly+"="+mayfly, envEngine+"="+engine, envTLS+"="+certificate+","+key,
		"TESTED_BIN="+self, "TESTED_SEVERAL=1", "TESTED_AUTHORITY="+certificate)
	err = c.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return max(ended.ExitCode(), 1), nil
	}
	return 0, err
}

// cluster serves PD's stand-in and a store until the program ends, and returns
// the engine's address.
func cluster(scratch string) (engine string, err error) {
	pd, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	kv, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	serve := func(part string, f func(folder string) error) {
		if err := f(filepath.Join(scratch, part)); err != nil {
			fmt.Fprintf(os.Stderr, "several: %s: %v\n", part, err)
			os.Exit(1)
		}
	}
	go serve("placement", func(folder string) error { return placement.Serve(context.Background(), pd, folder) })
	go serve("store", func(folder string) error {
		return store.Serve(context.Background(), kv, pd.Addr().String(), folder)
	})
	return "tikv://" + pd.Addr().String(), nil
}
