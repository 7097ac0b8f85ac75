package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/bench"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/node"
	"github.com/mayflydb/mayfly/internal/terminal"
)

const (
	// maxClients is the most clients of a workload: each has a connection.
	maxClients = 1000
	// maxText is the largest text of a document of a workload: a document of NoSQL has at most 2 MiB.
	maxText = 1 << 20
	// minDocuments is how many documents the operations need at least, and a divisor of how many there are: queries
	// find a hundred of them.
	minDocuments = 1000
	maxDocuments = 10_000_000
	// setUpTime is how long making and deleting the container of a workload may take.
	setUpTime = time.Minute
	// loadTime is how long writing the documents that operations need may take.
	loadTime = time.Hour
)

// benchFlags are the flags of bench.
type benchFlags struct {
	nosql, mongo, against, key, ca, db, duration, operations string
	run, againstRun                                          string
	clients                                                  []int
	bytes, turns, documents, pid, againstPID                 int
	json                                                     bool
}

func (c command) bench() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure any NoSQL or MongoDB endpoint, or two of them in turns",
		Long: "Bench runs creates, reads, queries, updates and writes with a TTL against an endpoint of Cosmos DB\n" +
			"for NoSQL or of MongoDB, through its official client, and prints throughput, latencies, errors, and\n" +
			"how many expired documents a read still returned. It knows the deadline of what it wrote, by this\n" +
			"machine's clock: the endpoint needs a real clock. It makes a container of its own and deletes it at\n" +
			"the end.\n\n" +
			"With --operations it measures operations one at a time on documents of 1 KiB with 12 indexed paths:\n" +
			"for NoSQL " + strings.Join(bench.NoSQLOperations, ", ") + ";\n" +
			"for MongoDB " + strings.Join(bench.MongoOperations, ", ") + ".\n" +
			"It prints medians of the turns, ratios of the second endpoint over the first, and the processor time\n" +
			"of each server whose process is known, on Linux. --nosql endpoints get plain requests then.",
		Example: "  mayfly bench --nosql http://localhost:8081 --clients 16 --duration 30s\n" +
			"  mayfly bench --mongo mongodb://localhost:27017 --against mongodb://other:27017 --json\n" +
			"  mayfly bench --nosql http://localhost:8081 --operations create,upsert --clients 8,32 --pid 4711",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := f.check()
			if err != nil {
				return err
			}
			names, err := f.operationNames()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if names != nil {
				return asFailure(ctx, f.compare(ctx, c, names, d))
			}
			return asFailure(ctx, f.mix(ctx, c, d))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.nosql, "nosql", "", "URL of an endpoint of Cosmos DB for NoSQL")
	flags.StringVar(&f.mongo, "mongo", "", "connection string of MongoDB")
	flags.StringVar(&f.against, "against", "", "second endpoint of the same kind, measured in turns with the first")
	flags.StringVar(&f.key, "key", node.WellKnownKey, "key of the NoSQL account")
	flags.Lookup("key").DefValue = "the well-known key of emulators"
	flags.StringVar(&f.ca, "ca", "", "file with the certificate authority of the NoSQL endpoint, in PEM")
	flags.StringVar(&f.db, "db", "bench", "database in which to make the container")
	flags.StringVar(&f.operations, "operations", "", "operations to measure one at a time, with commas between; or all")
	flags.IntSliceVar(&f.clients, "clients", []int{8},
		"how many clients send requests at the same time; with --operations, several numbers with commas between")
	flags.StringVar(&f.duration, "duration", "30s", "how long to measure each endpoint; with --operations, each one")
	flags.IntVar(&f.bytes, "bytes", 200, "size of the text in each document of the mixed workload")
	flags.IntVar(&f.documents, "documents", 10_000, "with --operations: how many documents to write before")
	flags.IntVar(&f.turns, "turns", 4, "with --against or --operations: into how many turns to divide the time of each")
	flags.StringVar(&f.run, "run", "", "with --operations: command that starts the server, split at spaces")
	flags.StringVar(&f.againstRun, "against-run", "", "the same for the server of --against")
	flags.IntVar(&f.pid, "pid", 0, "with --operations: process of the server, on this machine")
	flags.IntVar(&f.againstPID, "against-pid", 0, "the same for the server of --against")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// check returns the duration if the flags make sense.
func (f *benchFlags) check() (time.Duration, error) {
	d, err := clock.ParseDuration(f.duration)
	switch {
	case (f.nosql == "") == (f.mongo == ""):
		return 0, errors.New("give one endpoint: --nosql URL or --mongo URI")
	case err != nil:
		return 0, fmt.Errorf("--duration: %w", err)
	case d <= 0:
		return 0, fmt.Errorf("--duration: %q is not more than 0", f.duration)
	case f.operations == "" && len(f.clients) != 1:
		return 0, errors.New("--clients: several numbers need --operations")
	case f.operations == "" && (f.run != "" || f.againstRun != "" || f.pid != 0 || f.againstPID != 0):
		return 0, errors.New("--run and --pid, and those for --against, need --operations")
	case f.against == "" && (f.againstRun != "" || f.againstPID != 0):
		return 0, errors.New("--against-run and --against-pid need --against")
	case f.run != "" && f.pid != 0 || f.againstRun != "" && f.againstPID != 0:
		return 0, errors.New("a server that is started here needs no process: give one of --run and --pid")
	case f.documents < minDocuments || f.documents > maxDocuments || f.documents%minDocuments != 0:
		return 0, fmt.Errorf("--documents: %d is not a multiple of %d from %[2]d to %d", f.documents, minDocuments,
			maxDocuments)
	case f.bytes < 0 || f.bytes > maxText:
		return 0, fmt.Errorf("--bytes: %d is not from 0 to %d", f.bytes, maxText)
	case f.turns < 1 || f.turns > maxClients:
		return 0, fmt.Errorf("--turns: %d is not from 1 to %d", f.turns, maxClients)
	}
	for _, clients := range f.clients {
		if clients < 1 || clients > maxClients {
			return 0, fmt.Errorf("--clients: %d is not from 1 to %d", clients, maxClients)
		}
	}
	return d, nil
}

// endpoints are the one or two endpoints to measure.
func (f *benchFlags) endpoints() []string {
	if f.against == "" {
		return []string{f.nosql + f.mongo}
	}
	return []string{f.nosql + f.mongo, f.against}
}

func newSeed() (*big.Int, error) { return rand.Int(rand.Reader, big.NewInt(1<<62)) }

// A measured endpoint has its target and what was measured.
type measured struct {
	name   string
	target bench.Target
	result *bench.Result
}

// mix measures the mixed workload.
func (f *benchFlags) mix(ctx context.Context, c command, d time.Duration) (err error) {
	seed, err := newSeed()
	if err != nil {
		return err
	}
	var all []*measured
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), setUpTime)
		defer cancel()
		for _, m := range all {
			err = errors.Join(err, m.target.Close(last))
		}
	}()
	for i, endpoint := range f.endpoints() {
		target, err := f.open(ctx, endpoint, fmt.Sprintf("bench-%x-%d", seed, i))
		if err != nil {
			return fmt.Errorf("%s: %w", withoutPassword(endpoint), err)
		}
		all = append(all, &measured{name: withoutPassword(endpoint), target: target})
	}
	turns := f.turns
	if len(all) == 1 {
		turns = 1
	}
	for turn := range turns {
		for _, m := range all {
			o := bench.Options{Clients: f.clients[0], Duration: d / time.Duration(turns), Bytes: f.bytes,
				Seed: seed.Uint64() + uint64(turn)}
			result, err := bench.Run(ctx, m.target, o)
			if err != nil {
				return err
			}
			if m.result == nil {
				m.result = result
			} else {
				m.result.Add(result)
			}
		}
	}
	return f.print(c, all)
}

func (f *benchFlags) open(ctx context.Context, endpoint, container string) (bench.Target, error) {
	ctx, cancel := context.WithTimeout(ctx, setUpTime)
	defer cancel()
	if f.mongo != "" {
		return bench.OpenMongo(ctx, endpoint, f.db, container)
	}
	authority, err := f.authority()
	if err != nil {
		return nil, err
	}
	return bench.OpenNoSQL(ctx, endpoint, f.key, authority, f.db, container)
}

// authority is the certificate authority of the NoSQL endpoint, nil if the system knows it.
func (f *benchFlags) authority() ([]byte, error) {
	if f.ca == "" {
		return nil, nil
	}
	return os.ReadFile(f.ca)
}

// withoutPassword is an endpoint without the password that it may contain.
func withoutPassword(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "the endpoint"
	}
	return u.Redacted()
}

func (f *benchFlags) print(c command, all []*measured) error {
	var list []bench.Summary
	for _, m := range all {
		list = append(list, m.result.Summary(m.name))
	}
	if f.json {
		return printJSON(c.out, map[string]any{"endpoints": list})
	}
	columns, _ := c.getenv("COLUMNS")
	screen := terminal.New(c.out, columns)
	for _, s := range list {
		fmt.Fprintf(c.out, "%s, %d clients, %s\n", terminal.Plain(s.Endpoint), f.clients[0],
			clock.FormatDuration(time.Duration(s.Seconds*float64(time.Second)).Round(100*time.Millisecond)))
		columns := terminal.Columns(
			"OPERATION", ">CALLS", ">PER SECOND", ">P50 MS", ">P95 MS", ">P99 MS", ">MAX MS")
		if err := screen.Table(columns).Write(benchRows(s)); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "Expired documents seen: %s of %s looked for\n", terminal.Count(s.ExpiredSeen),
			terminal.Count(s.ExpiredSeen+s.ExpiredGone))
		fmt.Fprintf(c.out, "Errors: %s\n\n", errorsText(s.Errors))
	}
	if len(list) == 2 {
		return printRatios(screen, list[0], list[1])
	}
	return nil
}

func benchRows(s bench.Summary) (rows [][]string) {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }
	for _, r := range s.Rows {
		rows = append(rows, []string{r.Operation, terminal.Count(r.Calls), terminal.Count(int64(r.PerSecond)),
			number(r.P50), number(r.P95), number(r.P99), number(r.Max)})
	}
	return rows
}

func errorsText(kinds map[string]int64) string {
	if len(kinds) == 0 {
		return "none"
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, kind+": "+terminal.Count(kinds[kind]))
	}
	return terminal.Plain(strings.Join(parts, ", "))
}

// printRatios compares two endpoints: values above 1 are those of the second over those of the first.
func printRatios(screen terminal.Screen, first, second bench.Summary) error {
	ratio := func(a, b float64) string {
		if a <= 0 {
			return ""
		}
		return strconv.FormatFloat(b/a, 'f', 2, 64) + "x"
	}
	var rows [][]string
	for _, a := range first.Rows {
		for _, b := range second.Rows {
			if a.Operation == b.Operation {
				rows = append(rows, []string{a.Operation, ratio(a.PerSecond, b.PerSecond), ratio(a.P50, b.P50),
					ratio(a.P95, b.P95), ratio(a.P99, b.P99)})
			}
		}
	}
	fmt.Fprintln(screen.Out, "The second over the first")
	return screen.Table(terminal.Columns("OPERATION", ">PER SECOND", ">P50", ">P95", ">P99")).Write(rows)
}
