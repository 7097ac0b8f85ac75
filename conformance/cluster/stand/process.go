// Package stand runs the parts of a cluster as processes of their own, on
// loopback addresses and in folders of a test: it starts them, kills them and
// starts them again where they were. Every wait has an end.
package stand

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/loopback"
)

// patience is how long a process may take to be ready, or to end.
const patience = 30 * time.Second

// A Process is a program that can be killed and started again. Its methods are
// called by one goroutine at a time.
type Process struct {
	Name  string
	Ready func(context.Context) error // nil: it answers; asked again until then

	binary string
	args   []string
	run    *exec.Cmd
	ended  chan struct{} // closed when run has ended
	output *output
}

// Start runs binary until the test ends, and returns when it is ready.
func Start(t testing.TB, name, binary string, ready func(context.Context) error, args ...string) *Process {
	t.Helper()
	p := &Process{Name: name, Ready: ready, binary: binary, args: args, output: new(output)}
	t.Cleanup(func() {
		p.Kill()
		if strings.Contains(p.output.String(), "WARNING: DATA RACE") { // of a program that was built with -race
			t.Errorf("%s has a data race", name)
		}
		if t.Failed() {
			t.Logf("%s printed:\n%s", name, p.output)
		}
	})
	p.Again(t)
	return p
}

// Again starts the process after it was killed, with the same arguments.
func (p *Process) Again(t testing.TB) {
	t.Helper()
	if err := p.start(); err != nil {
		t.Fatalf("start %s: %v\n%s", p.Name, err, p.output)
	}
}

func (p *Process) start() error {
	p.run = exec.Command(p.binary, p.args...)
	p.run.Stdout, p.run.Stderr = p.output, p.output
	if err := p.run.Start(); err != nil {
		return err
	}
	p.ended = make(chan struct{})
	go func(run *exec.Cmd, ended chan struct{}) {
		run.Wait() // how it ended is in its output, or it was killed
		close(ended)
	}(p.run, p.ended)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := p.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return errors.New("it ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("it is not ready after %v: %w", patience, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Kill ends the process as kill -9 does, and returns when it is gone.
func (p *Process) Kill() {
	if p.run == nil || p.run.Process == nil {
		return
	}
	p.run.Process.Kill() // it may have ended by itself
	<-p.ended
}

// Stop asks the process to end (SIGTERM) and returns how it ended.
func (p *Process) Stop() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		return fmt.Errorf("%s has not ended %v after SIGTERM", p.Name, patience)
	}
	if !p.run.ProcessState.Success() {
		return fmt.Errorf("%s ended after SIGTERM: %v", p.Name, p.run.ProcessState)
	}
	return nil
}

// Suspend stops the process until it gets SIGCONT, and returns when every thread
// has stopped: on a busy machine that is some time after the signal.
func (p *Process) Suspend() error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(p.run.Process.Pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return fmt.Errorf("wait until %s has stopped: %w", p.Name, err)
		case !status.Stopped():
			return fmt.Errorf("%s has ended", p.Name)
		default:
			return nil
		}
	}
}

// Signal sends the process a signal.
func (p *Process) Signal(s syscall.Signal) error { return p.run.Process.Signal(s) }

// Address returns a free loopback address.
func Address(t testing.TB) string {
	t.Helper()
	address, err := loopback.Free()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// An output keeps the last of what a process printed.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const outputSize = 64 << 10

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if extra := o.text.Len() - outputSize; extra > 0 {
		o.text.Next(extra)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(o.text.String())
}
