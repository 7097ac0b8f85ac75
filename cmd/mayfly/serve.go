package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/metrics"
	"github.com/mayflydb/mayfly/internal/node"
)

// stopTime is how long running requests may go on after the first signal.
const stopTime = 10 * time.Second

// failTime is how long requests may go on when the disk has failed: to be told so.
const failTime = time.Second

// oneSignal is for how long signals count as the first one: a terminal, a shell
// and programs such as coreutils' timeout may send more than one for one wish.
const oneSignal = time.Second

func (c command) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the database until interrupted (the default)",
		Long: "Run the database until SIGINT or SIGTERM, then finish running requests. A second signal,\n" +
			"a second or more after the first, ends it at once.\n\n" + sources,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			watch := clock.Start()
			cfg, err := c.configure(cmd)
			if err != nil {
				return err
			}
			if cfg.node.NoSQL == "" && cfg.node.Admin == "" && cfg.node.Mongo.Address == "" {
				return fmt.Errorf("--nosql, --mongo and --admin are all empty: nothing could reach this mayfly")
			}
			if err := cfg.node.TLS.Check(); err != nil { // before anything is opened or made
				return fmt.Errorf("--nosql-tls: %w", err)
			}
			ctx, release := interrupted(cfg.logger(c.err))
			defer release()
			return cfg.serve(ctx, c, watch)
		},
	}
	addFlags(cmd)
	return cmd
}

// serve runs a node until ctx ends.
func (cfg config) serve(ctx context.Context, c command, watch clock.Stopwatch) error {
	log := cfg.logger(c.err)
	options := cfg.node
	options.Logger, options.Version, options.Meter = log, versionText(), metrics.New()
	if !cfg.memory {
		options.Dir = cfg.data
	}
	memory := cfg.divideMemory(log)
	options.Memory = memory.node
	engine, err := cfg.openEngine(ctx, memory, log)
	if err != nil {
		return failure{err}
	}
	options.Engine = engine
	n, err := node.Start(ctx, options)
	if fault.KindOf(err) == fault.Invalid {
		return err
	}
	if err != nil {
		return failure{err}
	}
	giveBack := keepMemory(n, engine, log)
	defer func() { go giveBack() }() // it waits for a look under way, which may hang when the disk fails
	cfg.greet(c.out, n, watch.Elapsed())
	return await(ctx, n, engine, log)
}

// await closes a node when ctx ends, or gives it up when its disk fails.
func await(ctx context.Context, n *node.Node, engine kv.Engine, log *slog.Logger) error {
	var failed <-chan struct{} // of an engine that cannot fail, nil
	if f, ok := engine.(kv.Failer); ok {
		failed = f.Failed()
	}
	select {
	case <-ctx.Done():
	case <-failed:
		return abandon(n, engine)
	}
	log.Info("stopping")
	finish, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if err := n.Close(finish); err != nil {
		return failure{fmt.Errorf("stop: %w", err)}
	}
	log.Info("stopped")
	return nil
}

// abandon ends a node whose engine has failed: whoever supervises the process can start it again,
// which reads from the disk what is there. Calls of a failed engine may not end.
func abandon(n *node.Node, engine kv.Engine) error {
	finish, cancel := context.WithTimeout(context.Background(), failTime)
	defer cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = n.Close(finish) // it fails with what is told below
	}()
	select {
	case <-closed:
	case <-finish.Done():
	}
	err := errors.New("the disk failed")
	if r, ok := engine.(kv.Refuser); ok {
		err = cmp.Or(r.Refuses(), err)
	}
	return failure{err}
}

// openEngine opens the data, which locks it against other processes. When ctx ends, it gives up.
func (cfg config) openEngine(ctx context.Context, of memoryPlan, log *slog.Logger) (kv.Engine, error) {
	if cfg.memory {
		return memory.NewWithin(of.engine), nil
	}
	engine, err := pebble.OpenContext(ctx, pebble.Options{
		Dir: node.EngineDir(cfg.data), NoSync: cfg.noSync, Reserve: cfg.reserve, CacheBytes: of.engine, Logger: log,
	})
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	return engine, nil
}

func (cfg config) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.logLevel}
	if cfg.logJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// interrupted gives a context that ends with the first signal to stop. The
// second ends the process, except within a second of the first.
func interrupted(log *slog.Logger) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-done:
			return
		case <-signals:
			cancel()
		}
		for first := clock.Start(); ; {
			select {
			case <-done:
				return
			case s := <-signals:
				if first.Elapsed() < oneSignal {
					continue
				}
				log.Error("ended by a second signal", "signal", s)
				os.Exit(exitFailed)
			}
		}
	}()
	return ctx, func() {
		if ctx.Err() == nil { // else the program ends, and signals must not spoil that
			signal.Stop(signals)
		}
		close(done)
		cancel()
	}
}

// greet says where everything is.
func (cfg config) greet(w io.Writer, n *node.Node, took time.Duration) {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s"+format+"\n", append([]any{name}, args...)...)
	}
	fmt.Fprintf(&b, "mayfly %s, ready in %s\n\n", versionText(), took.Round(time.Millisecond))
	others := func(address string) {
		if address != "" {
			line("", "other machines reach it, at %s", everywhere(address))
		}
	}
	nosql, mongo, admin := n.Exposed()
	line("NoSQL", "%s", cmp.Or(called(n.Endpoint()), "off"))
	if plain := n.PlainEndpoint(); plain != "" {
		line("", "%s", called(plain))
	}
	if compute := n.ComputeEndpoint(); compute != "" {
		line("Second", "%s", called(compute))
	}
	others(nosql)
	uri, login := mongoLogin(n)
	line("MongoDB", "%s", cmp.Or(uri, "off"))
	others(mongo)
	if login == "" && mongo != "" {
		login = "asks nobody for a password"
	}
	if login != "" {
		line("", "%s", login)
	}
	line("Admin", "%s", cmp.Or(called(n.AdminURL()), "off"))
	others(admin)
	line("Key", "%s", n.KeyPlace())
	switch plain := called(n.PlainEndpoint()); {
	case n.CAFile() != "" && plain != "":
		line("CA", "%s, also at %s_mayfly/ca.pem", n.CAFile(), plain)
	case n.CAFile() != "":
		line("CA", "%s", n.CAFile())
	case n.CA() != nil && plain != "":
		line("CA", "%s_mayfly/ca.pem", plain)
	}
	line("Data", "%s", cfg.place())
	now := n.Clock().Now().Format(time.RFC3339)
	switch {
	case n.Virtual():
		line("Clock", "virtual, at %s", now)
	case n.StandsStill():
		line("Clock", "real, but stands still at %s until this machine's clock gets there (the data has seen it)", now)
	}
	if cfg.node.Emulator {
		b.WriteString("\nThis is an emulator, for development. " + danger(n) + "\n")
	}
	b.WriteString("\nStop with Ctrl-C.\n")
	io.WriteString(w, b.String())
}

// mongoLogin is a connection string for MongoDB clients of this machine, and what to know about its password. It holds
// the account key only if everybody knows that.
func mongoLogin(n *node.Node) (uri, hint string) {
	uri = called(n.MongoURI())
	if !n.MongoAuth() {
		return uri, ""
	}
	password, hint := "KEY", "any user name will do; KEY is the account key, with %2B, %2F and %3D for its +, / and ="
	if n.Key() == node.WellKnownKey {
		password, hint = url.QueryEscape(node.WellKnownKey), "any user name will do"
	}
	return strings.Replace(uri, "mongodb://", "mongodb://mayfly:"+password+"@", 1), hint
}

// danger says what is open to those who reach an emulator.
func danger(n *node.Node) string {
	nosql, mongo, admin := n.Exposed()
	switch {
	case nosql == "" && mongo == "" && admin == "":
		return "Only this machine reaches it."
	case n.Key() == node.WellKnownKey || mongo != "" && !n.MongoAuth():
		return "Whoever reaches it can read, change and delete everything."
	default:
		return "Whoever reaches it needs the key."
	}
}

// place says where the data is.
func (cfg config) place() string {
	if cfg.memory {
		return "in memory, gone at the end"
	}
	path, err := filepath.Abs(cfg.data)
	if err != nil {
		path = cfg.data
	}
	if cfg.noSync {
		path += ", a crash may lose the newest writes (sync off)"
	}
	return path
}

// called gives a loopback address the name that people and their tools know it by.
func called(url string) string {
	return strings.Replace(url, "//127.0.0.1:", "//localhost:", 1)
}

// existing fails unless there is a database in the data folder.
func (cfg config) existing() error {
	found, err := node.HasData(cfg.data)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	if !found {
		return fmt.Errorf("--data: there is no database in %s", cfg.data)
	}
	return nil
}
