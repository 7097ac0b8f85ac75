package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/mayflydb/mayfly/conformance/cluster/balancer"
	"github.com/mayflydb/mayfly/conformance/loopback"
)

// processes is how many there are.
const processes = 2

// A flagged is what the flags of one mayfly say, for several.
type flagged struct {
	addresses map[string]string // by flag: where clients connect
	prefix    string            // of the engine's keys
	tls, key  bool              // are given
	rest      []string
}

// read takes the flags apart. Those that it does not know are passed on.
func read(args []string) (f flagged, err error) {
	f = flagged{addresses: map[string]string{}, prefix: fmt.Sprintf("memory-%d", os.Getpid())}
	for i := 0; i < len(args); i++ {
		name, value, together := strings.Cut(args[i], "=")
		next := func() (string, error) {
			if i++; !together && i == len(args) {
				return "", fmt.Errorf("%s needs a value", name)
			}
			if together {
				i--
				return value, nil
			}
			return args[i], nil
		}
		switch name {
		case "--memory":
		case "--data":
			if value, err = next(); err != nil {
				return f, err
			}
			f.prefix = fmt.Sprintf("data-%x", sha256.Sum256([]byte(value)))[:30]
		case "--nosql", "--nosql-compute", "--mongo", "--admin":
			if f.addresses[name], err = next(); err != nil {
				return f, err
			}
		default:
			f.tls = f.tls || name == "--nosql-tls"
			f.key = f.key || name == "--key"
			f.rest = append(f.rest, args[i])
		}
	}
	if f.addresses["--admin"] == "" {
		return f, errors.New("--admin is needed: it says when the processes are ready")
	}
	return f, nil
}

// serve runs the processes until the context ends, and returns the exit code of
// the first one that does not end well.
func serve(ctx context.Context, args []string) (code int, err error) {
	f, err := read(args)
	if err != nil {
		return 2, err
	}
	// A container has one range unless the test asks for more, as over a process with a folder.
	common := append([]string{"--engine", os.Getenv(envEngine) + "/" + f.prefix, "--partitions", "1"}, f.rest...)
	if !f.key {
		common = append(common, "--allow-well-known-key")
	}
	switch {
	case f.tls:
	case f.addresses["--mongo"] != "":
		common = append(common, "--nosql-tls", "off")
	default:
		common = append(common, "--nosql-tls", os.Getenv(envTLS))
	}
	all := make([]*exec.Cmd, processes)
	backends := map[string][]string{}
	for i := range all {
		own, err := f.own(i)
		if err != nil {
			return 1, err
		}
		all[i] = exec.Command(os.Getenv(envMayfly), common...)
		for name, address := range own {
			all[i].Args = append(all[i].Args, name, address)
			backends[name] = append(backends[name], address)
		}
		all[i].Stdout, all[i].Stderr = os.Stdout, os.Stderr
		all[i].SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := all[i].Start(); err != nil {
			return 1, err
		}
	}
	ended := make(chan error, processes)
	for _, c := range all {
		go func() { ended <- c.Wait() }()
	}
	stop := func(left int) (first error) {
		for _, c := range all {
			c.Process.Signal(syscall.SIGTERM) // it may have ended
		}
		for range left {
			if err := <-ended; first == nil {
				first = err
			}
		}
		return first
	}
	ready := make(chan struct{})
	go func() {
		for _, address := range backends["--admin"] {
			for !isReady(ctx, address) && ctx.Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
		}
		close(ready)
	}()
	select {
	case err := <-ended:
		stop(processes - 1)
		return exitCode(err), errors.New("a process has ended before it was ready")
	case <-ctx.Done():
		return exitCode(stop(processes)), nil
	case <-ready:
	}
	// Clients ask the last one when to begin.
	for _, name := range []string{"--nosql", "--nosql-compute", "--mongo", "--admin"} {
		address := f.addresses[name]
		if address == "" || strings.Contains(address, ",") {
			continue
		}
		b, err := balancer.At(address, backends[name]...)
		if err != nil {
			stop(processes)
			return 1, err
		}
		defer b.Close()
	}
	select {
	case err := <-ended:
		stop(processes - 1)
		return exitCode(err), errors.New("a process has ended")
	case <-ctx.Done():
		return exitCode(stop(processes)), nil
	}
}

// own are the addresses of process i, by flag.
func (f flagged) own(i int) (map[string]string, error) {
	own := map[string]string{}
	for name, address := range f.addresses {
		each := strings.Split(address, ",")
		switch {
		case address == "":
			own[name] = ""
		case len(each) == processes:
			own[name] = each[i]
		case len(each) == 1:
			free, err := loopback.Free()
			if err != nil {
				return nil, err
			}
			own[name] = free
		default:
			return nil, fmt.Errorf("%s %s: give one address, or %d", name, address, processes)
		}
	}
	return own, nil
}

func isReady(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func exitCode(err error) int {
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return max(ended.ExitCode(), 1)
	}
	return 0
}
