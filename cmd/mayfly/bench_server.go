package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

const (
	// serverStart is how long a server may take until it accepts connections, and serverStop until it has ended.
	serverStart = 30 * time.Second
	serverStop  = 30 * time.Second
	// lastOutput is how much of the end of a server's errors is kept.
	lastOutput = 2 << 10
)

// A measuredServer is a process that was started to be measured.
type measuredServer struct {
	command *exec.Cmd
	output  *outputEnd
	ended   chan struct{} // closed when it has ended
}

// startServer runs a command, split at spaces, and waits until it accepts connections at an endpoint.
func startServer(ctx context.Context, run, endpoint string) (*measuredServer, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Port() == "" {
		return nil, errors.New("an endpoint whose server is started needs a URL with a port")
	}
	words := strings.Fields(run)
	if len(words) == 0 {
		return nil, errors.New("the command that starts the server is empty")
	}
	command := exec.Command(words[0], words[1:]...)
	s := &measuredServer{command: command, output: &outputEnd{}, ended: make(chan struct{})}
	s.command.Stderr = s.output
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.ended)
		_ = s.command.Wait() // a server that ends too early is noticed by its closed port
	}()
	ctx, cancel := context.WithTimeout(ctx, serverStart)
	defer cancel()
	for {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
		if err == nil {
			return s, connection.Close()
		}
		select {
		case <-s.ended:
			return nil, fmt.Errorf("%s ended: %s", words[0], s.output)
		default:
		}
		if clock.Pause(ctx, 50*time.Millisecond) != nil {
			stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverStop)
			defer cancel()
			return nil, errors.Join(fmt.Errorf("%s does not accept connections at %s: %s", words[0], u.Host, s.output),
				s.stop(stopping))
		}
	}
}

// stop ends the server, by force if it does not end by itself.
func (s *measuredServer) stop(ctx context.Context) error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		_ = s.command.Process.Kill() // it has ended, or the system has no such signal
	}
	ctx, cancel := context.WithTimeout(ctx, serverStop)
	defer cancel()
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return s.command.Process.Kill()
	}
}

// An outputEnd keeps the end of what is written to it.
type outputEnd struct {
	mu   sync.Mutex
	text []byte
}

func (o *outputEnd) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	o.text = o.text[max(0, len(o.text)-lastOutput):]
	return len(p), nil
}

func (o *outputEnd) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(string(o.text))
}
