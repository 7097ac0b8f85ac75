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
	"github.com/mayflydb/mayfly/internal/explorer"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/kv/tikv"
	"github.com/mayflydb/mayfly/internal/metrics"
	"github.com/mayflydb/mayfly/internal/node"
	"github.com/mayflydb/mayfly/internal/otlp"
)

// stopTime is how long running requests may go on after the first signal.
const stopTime = 10 * time.Second

// failTime is how long requests may go on after the disk has failed, so that they are answered with that error.
const failTime = time.Second

// tellEvery is how often a start says that it waits for a cluster.
const tellEvery = 10 * time.Second

// oneSignal is the time in which several signals count as one: a terminal, a shell and programs such as timeout of
// coreutils may each send one for a single request to stop.
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
				return fmt.Errorf("--nosql, --mongo and --admin are all empty: give at least one address")
			}
			if cfg.adminTLS {
				return fmt.Errorf("--admin: give host:port, on which the admin API answers http and https")
			}
			if err := cfg.node.TLS.Check(); err != nil { // before anything is opened or created
				return fmt.Errorf("--nosql-tls: %w", err)
			}
			if cfg.cluster != "" { // before the cluster is asked, which may take long
				if err := cfg.node.CheckShared(); err != nil {
					return fmt.Errorf("--engine: %w", err)
				}
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
	options.Page = explorer.New()
	if !cfg.memory && cfg.cluster == "" {
		options.Dir = cfg.data
	}
	options.EngineName = cfg.engineName()
	memory := cfg.divideMemory(log)
	options.Memory = memory.node
	engine, err := cfg.openEngine(ctx, memory, log)
	if err != nil {
		return failure{err}
	}
	options.Engine = engine
	options.Reopen = func(ctx context.Context, dir string) (kv.Engine, error) {
		plan := memory
		if cfg.memory {
			plan.engine = 0 // it is for the documents; an engine on disk has its default
		}
		return cfg.openFolder(ctx, dir, plan, log)
	}
	if cfg.traceURL != "" {
		tracer, err := otlp.New(otlp.Options{
			URL: cfg.traceURL, Ratio: cfg.traceRatio, Version: options.Version, Logger: log,
		})
		if err != nil {
			return errors.Join(err, engine.Close())
		}
		defer closeTracer(tracer, log)
		options.Tracer = tracer
	}
	n, err := node.Start(ctx, options)
	if fault.KindOf(err) == fault.Invalid {
		return err
	}
	if err != nil {
		return failure{err}
	}
	stopReturning := returnMemory(n, log)
	defer func() { go stopReturning() }() // it waits for a running check, which may hang when the disk fails
	if !cfg.memory {
		stopBounding := boundGarbage(n)
		defer func() { go stopBounding() }()
	}
	cfg.greet(c.out, n, watch.Elapsed())
	return await(ctx, n, log)
}

// traceTime is how long the last traces may take to be sent.
const traceTime = 2 * time.Second

// closeTracer sends the last traces.
func closeTracer(t *otlp.Tracer, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), traceTime)
	defer cancel()
	if err := t.Close(ctx); err != nil {
		log.Warn("the last traces were not sent", "error", err)
	}
}

// await closes a node when ctx ends, or abandons it when its disk fails.
func await(ctx context.Context, n *node.Node, log *slog.Logger) error {
	select {
	case <-ctx.Done():
	case <-n.Failed():
		return abandon(n)
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

// abandon gives up a node whose engine has failed. The process ends, and its supervisor can start it again, from what
// is on the disk. Close may not return, because a call of a failed engine may hang.
func abandon(n *node.Node) error {
	finish, cancel := context.WithTimeout(context.Background(), failTime)
	defer cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = n.Close(finish) // it fails for the reason that is returned below
	}()
	select {
	case <-closed:
	case <-finish.Done():
	}
	return failure{cmp.Or(n.Refuses(), errors.New("the disk failed"))}
}

// engineName is the engine's name, for operators.
func (cfg config) engineName() string {
	switch {
	case cfg.cluster != "":
		return "tikv"
	case cfg.memory:
		return "memory"
	}
	return "pebble"
}

// openCluster connects to a cluster.
func (cfg config) openCluster(ctx context.Context, log *slog.Logger) (kv.Engine, error) {
	o, err := tikv.ParseAddress(cfg.cluster)
	if err != nil {
		return nil, err
	}
	o.CA, o.Cert, o.Key, o.Log = cfg.clusterTLS.ca, cfg.clusterTLS.cert, cfg.clusterTLS.key, log
	waiting, opened := context.WithCancel(ctx)
	defer opened()
	go func() {
		for clock.Pause(waiting, tellEvery) == nil {
			log.Warn("waiting for the cluster, which does not answer yet", "pd", strings.Join(o.Endpoints, ","))
		}
	}()
	engine, err := tikv.Open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("--engine: %w", err) // not an engine that is nil
	}
	log.Warn("data in a TiKV cluster is experimental: export what must not be lost")
	return engine, nil
}

// openEngine opens the data. That on a disk it locks against other processes. It gives up when ctx ends.
func (cfg config) openEngine(ctx context.Context, plan memoryPlan, log *slog.Logger) (kv.Engine, error) {
	if cfg.cluster != "" {
		return cfg.openCluster(ctx, log)
	}
	if cfg.memory {
		return memory.NewWithin(plan.engine), nil
	}
	if err := node.CheckEngineDir(cfg.data); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	engine, err := cfg.openFolder(ctx, node.EngineDir(cfg.data), plan, log)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	return engine, nil
}

// openFolder opens the engine in a folder.
func (cfg config) openFolder(ctx context.Context, dir string, plan memoryPlan, log *slog.Logger) (kv.Engine, error) {
	engine, err := pebble.OpenContext(ctx, pebble.Options{
		Dir: dir, NoSync: cfg.noSync, Reserve: cfg.reserve, CacheBytes: plan.engine, Logger: log,
	})
	if err != nil {
		return nil, err // not an engine that is nil
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

// interrupted returns a context that ends with the first signal to stop. A second signal ends the process, unless it
// comes within a second of the first.
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
		if ctx.Err() == nil { // otherwise the program ends, and signals must not disturb that
			signal.Stop(signals)
		}
		close(done)
		cancel()
	}
}

// greet prints where to reach each API, where the key comes from and where the data is.
func (cfg config) greet(w io.Writer, n *node.Node, took time.Duration) {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s"+format+"\n", append([]any{name}, args...)...)
	}
	fmt.Fprintf(&b, "mayfly %s, ready in %s\n\n", versionText(), took.Round(time.Millisecond))
	others := func(address string) {
		if address != "" {
			line("", "other machines can reach it, at %s", everywhere(address))
		}
	}
	nosql, mongo, admin := n.Exposed()
	line("NoSQL", "%s", cmp.Or(withLocalhost(n.Endpoint()), "off"))
	if plain := n.PlainEndpoint(); plain != "" {
		line("", "%s", withLocalhost(plain))
	}
	if compute := n.ComputeEndpoint(); compute != "" {
		line("Second", "%s", withLocalhost(compute))
	}
	others(nosql)
	uri, login := mongoLogin(n)
	line("MongoDB", "%s", cmp.Or(uri, "off"))
	others(mongo)
	if login == "" && mongo != "" {
		login = "needs no password"
	}
	if login != "" {
		line("", "%s", login)
	}
	line("Admin", "%s", cmp.Or(withLocalhost(n.AdminURL()), "off"))
	others(admin)
	line("Key", "%s", n.KeyPlace())
	switch plain := withLocalhost(n.PlainEndpoint()); {
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
		line("Clock", "real, but stands still at %s until this machine's clock reaches that time "+
			"(the data is from then)", now)
	}
	if cfg.node.Emulator {
		b.WriteString("\nThis is an emulator, for development. " + danger(n) + "\n")
	}
	b.WriteString("\nStop with Ctrl-C.\n")
	io.WriteString(w, b.String())
}

// mongoLogin is a connection string for MongoDB clients of this machine, and a hint about its password. It contains the
// account key only if that is the well-known one.
func mongoLogin(n *node.Node) (uri, hint string) {
	uri = withLocalhost(n.MongoURI())
	if !n.MongoAuth() {
		return uri, ""
	}
	password, hint := "KEY", "any user name works; KEY is the account key, with %2B, %2F and %3D for its +, / and ="
	if n.Key() == node.WellKnownKey {
		password, hint = url.QueryEscape(node.WellKnownKey), "any user name works"
	}
	return strings.Replace(uri, "mongodb://", "mongodb://mayfly:"+password+"@", 1), hint
}

// danger says what anyone who reaches an emulator can do.
func danger(n *node.Node) string {
	nosql, mongo, admin := n.Exposed()
	switch {
	case nosql == "" && mongo == "" && admin == "":
		return "Only this machine can reach it."
	case n.Key() == node.WellKnownKey || mongo != "" && !n.MongoAuth():
		return "Anyone who can reach it can read, change and delete everything."
	default:
		return "Clients need the key."
	}
}

// place says where the data is.
func (cfg config) place() string {
	if cfg.cluster != "" {
		return cfg.cluster + " (experimental)"
	}
	if cfg.memory {
		return "in memory, lost when mayfly stops"
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

// withLocalhost replaces 127.0.0.1 in a URL by localhost, which people and tools expect.
func withLocalhost(url string) string {
	return strings.Replace(url, "//127.0.0.1:", "//localhost:", 1)
}

// existing fails unless there is a database in the data folder.
func (cfg config) existing() error {
	found, err := node.HasData(cfg.data)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	if !found {
		return fmt.Errorf("--data: %s has no database", cfg.data)
	}
	return nil
}
