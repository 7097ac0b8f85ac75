package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/node"
	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// A session is one call of a command that asks a running mayfly.
type session struct {
	*remote.Client
	c      command
	screen terminal.Screen // for results
	args   []string
	json   bool
}

// errNoAdmin is the error of an empty --admin.
var errNoAdmin = errors.New("the admin address is empty: give the address of a running mayfly with --admin")

// online completes a command that asks a running mayfly: with --json, the settings that say which mayfly, and a run
// that calls f. An error of f is a failure, unless f marks it with usage.
func (c command) online(cmd *cobra.Command, f func(context.Context, *session) error) *cobra.Command {
	s := &session{c: c}
	cmd.Flags().BoolVar(&s.json, "json", false, "print JSON")
	addFlags(cmd, "admin", "key", "data")
	explain := map[string]string{
		"admin": "address of the admin API of a running mayfly, or its URL",
		"key":   "account key, if the server asks for one",
		"data":  "data folder of a mayfly on this machine: its key and its certificate authority are there",
	}
	cmd.Flags().String("ca", "", "file with the certificate authority of an https URL, in PEM")
	for name, help := range explain {
		cmd.Flags().Lookup(name).Usage = help
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if s.Client, err = c.connect(cmd); err != nil {
			return err
		}
		columns, _ := c.getenv("COLUMNS")
		s.args, s.screen = args, terminal.New(c.out, columns)
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ctx, stop) // a second signal ends the process
		return asFailure(ctx, f(ctx, s))
	}
	return cmd
}

// usage marks an error as one of the arguments.
type usage struct{ error }

func asFailure(ctx context.Context, err error) error {
	if wrong, ok := errors.AsType[usage](err); err == nil || ok {
		if ok {
			return wrong.error
		}
		return nil
	}
	return failure{interruption(ctx, err)}
}

// errInterrupted is the error of a command that a signal has ended.
var errInterrupted = errors.New("interrupted")

// interruption is errInterrupted instead of an error that only says that ctx has ended.
func interruption(ctx context.Context, err error) error {
	ended := ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
	if ended && !errors.Is(err, errInterrupted) {
		return errInterrupted
	}
	return err
}

// connect makes a client of the mayfly that the settings name. It sends nothing.
func (c command) connect(cmd *cobra.Command) (*remote.Client, error) {
	cfg, err := c.configure(cmd)
	if err != nil {
		return nil, err
	}
	if cfg.node.Admin == "" {
		return nil, errNoAdmin
	}
	o := remote.Options{Address: "http://" + callable(cfg.node.Admin), Key: cfg.node.Key}
	if cfg.adminTLS {
		o.Address = "https://" + callable(cfg.node.Admin)
	}
	if o.Key == "" && ofThisMachine(cfg.node.Admin) { // a key goes to no other machine than its own
		key, err := readIfThere(node.KeyFile(cfg.data))
		if err != nil {
			return nil, failure{err}
		}
		o.Key = strings.TrimSpace(string(key))
	}
	if o.Authority, err = authority(cmd, cfg.data); err != nil {
		return nil, failure{err}
	}
	return remote.New(o)
}

// authority is the certificate of the authority that --ca names, else the one in the data folder, if there is one.
func authority(cmd *cobra.Command, data string) ([]byte, error) {
	if f := cmd.Flags().Lookup("ca"); f != nil && f.Changed {
		return os.ReadFile(f.Value.String())
	}
	return readIfThere(node.AuthorityFile(data))
}

// ofThisMachine reports whether an address is certainly one of this machine.
func ofThisMachine(address string) bool {
	host, _, _ := net.SplitHostPort(callable(address))
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// readIfThere reads a file that may be missing, or not be for this user: then the server says what it needs.
func readIfThere(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	return text, err
}

// ask sends a request. With --json it prints the answer as it is, else it hands it to show.
func ask[T any](ctx context.Context, s *session, method, path string, body any, show func(T) error) error {
	var raw json.RawMessage
	if err := s.Call(ctx, method, path, body, &raw); err != nil {
		return err
	}
	if s.json {
		return printRaw(s.c.out, raw)
	}
	var answer T
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &answer); err != nil {
			return fmt.Errorf("the answer of %s cannot be read: %w", s.Address(), err)
		}
	}
	return show(answer)
}

// askFor is ask with the method GET.
func askFor[T any](ctx context.Context, s *session, path string, show func(T) error) error {
	return ask(ctx, s, http.MethodGet, path, nil, show)
}

// printRaw writes an answer indented.
func printRaw(out io.Writer, raw json.RawMessage) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := out.Write(b.Bytes())
	return err
}

// say prints a line for a person.
func (s *session) say(format string, args ...any) error {
	_, err := fmt.Fprintf(s.c.out, format+"\n", args...)
	return err
}

// table prints rows below the names of columns; a name that begins with > is that of numbers. It prints none in words.
func (s *session) table(none string, columns []string, rows [][]string) error {
	if len(rows) == 0 {
		return s.say("%s", none)
	}
	return s.screen.Table(terminal.Columns(columns...)).Write(rows)
}

// confirm asks before something is lost, unless yes.
func (s *session) confirm(yes bool, format string, args ...any) error {
	return s.c.confirm(yes, fmt.Sprintf(format, args...))
}

func (c command) confirm(yes bool, question string) error {
	if yes {
		return nil
	}
	err := terminal.Confirm(c.in, c.err, question)
	if errors.Is(err, terminal.ErrNoTerminal) {
		return fmt.Errorf("%s %w", question, err)
	}
	return err
}

// addYes adds the flag --yes.
func addYes(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVar(yes, "yes", false, "do not ask")
}
