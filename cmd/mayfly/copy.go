package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/copying"
	"github.com/mayflydb/mayfly/internal/node"
	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// A copySide is what flags say about one endpoint.
type copySide struct{ key, ca, admin, adminKey string }

// copyVariables are the environment variables of copy, which are no settings.
var copyVariables = []string{"MAYFLY_FROM_KEY", "MAYFLY_TO_KEY", "MAYFLY_FROM_ADMIN_KEY", "MAYFLY_TO_ADMIN_KEY"}

// copyFlags are the flags of copy.
type copyFlags struct {
	from, to         copySide
	insecure, asJSON bool
	lives            string
	o                copying.Options
}

func (c command) copy() *cobra.Command {
	var f copyFlags
	cmd := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy containers between any two NoSQL or MongoDB endpoints",
		Long: "Copy reads containers from one endpoint and writes them to another, through the official clients:\n" +
			"a mayfly, an emulator, a cloud account or a MongoDB server. An endpoint is\n" +
			"https://HOST:PORT/DB/CONTAINER or mongodb://HOST:PORT/DB/COLLECTION; without the last names it is a\n" +
			"database or everything. Definitions come along, and lives end when they end at the source. The same\n" +
			"command goes on after an interruption.",
		Example: "  mayfly copy https://shop.documents.azure.com/shop https://localhost:8081/shop --insecure\n" +
			"  mayfly copy http://a:8081/shop/carts http://b:8081/shop/carts2 --to-admin http://b:8079\n" +
			"  mayfly copy mongodb://localhost/shop mongodb://other/shop --exclude 'tmp*' --dry-run\n" +
			"  mayfly copy mongodb://localhost/shop mongodb://other/shop --compare --json",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.read(c, args); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return asFailure(ctx, f.run(ctx, c))
		},
	}
	f.add(cmd)
	return cmd
}

func (f *copyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, side := range []struct {
		name string
		*copySide
	}{{"from", &f.from}, {"to", &f.to}} {
		variable := "MAYFLY_" + strings.ToUpper(side.name)
		flags.StringVar(&side.key, side.name+"-key", "",
			"key of the NoSQL account; the default is $"+variable+"_KEY, or the well-known key of emulators")
		flags.StringVar(&side.ca, side.name+"-ca", "", "file with the certificate authority of the endpoint, in PEM")
		flags.StringVar(&side.admin, side.name+"-admin", "",
			"admin address of the endpoint if it is a mayfly: with that of TO, documents keep their stamps")
		flags.StringVar(&side.adminKey, side.name+"-admin-key", "",
			"key of the admin API; the default is $"+variable+"_ADMIN_KEY, or the key of the endpoint")
	}
	flags.BoolVar(&f.insecure, "insecure", false, "trust every certificate, such as that of an emulator")
	flags.StringSliceVar(&f.o.Include, "include", nil,
		"only containers with such names, as DB/NAME or NAME with * and ?")
	flags.StringSliceVar(&f.o.Exclude, "exclude", nil, "no containers with such names")
	flags.StringVar(&f.lives, "lives", string(copying.KeepLives),
		"keep: lives end when they end at the source; restart: they begin anew")
	flags.BoolVar(&f.o.IntoExisting, "into-existing", false, "also into containers whose properties differ")
	flags.BoolVar(&f.o.Throughput, "throughput", false, "copy the throughput of NoSQL containers too")
	flags.BoolVar(&f.o.DryRun, "dry-run", false, "say what would be copied, and change nothing")
	flags.BoolVar(&f.o.Compare, "compare", false,
		"compare both sides afterwards, or as they are with --dry-run; differences are exit code 1")
	flags.IntVar(&f.o.Clients, "clients", 16, "how many items of NoSQL are written at the same time")
	flags.StringVar(&f.o.Checkpoint, "checkpoint", "", "file that says how far the copy is")
	flags.Lookup("checkpoint").DefValue = "a file in the working folder, named after FROM and TO"
	flags.BoolVar(&f.o.Restart, "restart", false, "begin anew in spite of a checkpoint")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
}

// read turns arguments and flags into options. Its errors are those of usage.
func (f *copyFlags) read(c command, args []string) (err error) {
	f.o.Lives = copying.Lives(f.lives)
	if f.o.Clients < 1 || f.o.Clients > copying.MaxClients {
		return fmt.Errorf("--clients: %d is not from 1 to %d", f.o.Clients, copying.MaxClients)
	}
	if f.o.From, f.o.FromAdmin, err = f.from.read(c, args[0], "FROM", f.insecure); err != nil {
		return err
	}
	if f.o.To, f.o.ToAdmin, err = f.to.read(c, args[1], "TO", f.insecure); err != nil {
		return err
	}
	if f.o.Checkpoint == "" {
		both := sha256.Sum256([]byte(f.o.From.Name() + "\n" + f.o.To.Name()))
		f.o.Checkpoint = fmt.Sprintf("mayfly-copy-%x.json", both[:6])
	}
	return f.o.Check()
}

func (s copySide) read(c command, text, name string, insecure bool) (copying.Endpoint, transfer.Sender, error) {
	e, err := copying.ParseEndpoint(text)
	if err != nil {
		return e, nil, fmt.Errorf("%s: %w", name, err)
	}
	e.Insecure = insecure
	e.Key = c.firstOf(s.key, "MAYFLY_"+name+"_KEY", node.WellKnownKey)
	if s.ca != "" {
		if e.Authority, err = os.ReadFile(s.ca); err != nil {
			return e, nil, err
		}
		if !e.Secure() && !strings.HasPrefix(s.admin, "https://") {
			return e, nil, fmt.Errorf("--%s-ca: the connection to %s has no TLS, so no certificate is checked: "+
				"write https://, or tls=true in a URI of MongoDB", strings.ToLower(name), e.Name())
		}
	}
	if s.admin == "" {
		return e, nil, nil
	}
	key := c.firstOf(s.adminKey, "MAYFLY_"+name+"_ADMIN_KEY", e.Key)
	client, err := remote.New(remote.Options{Address: s.admin, Key: key, Authority: e.Authority})
	if err != nil {
		return e, nil, fmt.Errorf("--%s-admin: %w", strings.ToLower(name), err)
	}
	return e, client.Stream, nil
}

// firstOf is the value of a flag, else that of a variable, else a default.
func (c command) firstOf(flag, variable, otherwise string) string {
	if flag != "" {
		return flag
	}
	if value, ok := c.getenv(variable); ok && value != "" {
		return value
	}
	return otherwise
}

func (f *copyFlags) run(ctx context.Context, c command) error {
	var progress *terminal.Progress
	shown := ""
	end := func() {
		if progress != nil {
			progress.Close()
		}
	}
	f.o.Progress = func(container string, read, total int64) {
		if container != shown {
			end()
			shown, progress = container, terminal.NewProgress(c.err, container, "documents", total)
		}
		progress.Set(read, total)
	}
	result, err := copying.Run(ctx, f.o)
	end()
	if err != nil {
		return f.explain(ctx, err)
	}
	if f.asJSON {
		err = printJSON(c.out, result)
	} else {
		err = f.print(c, result)
	}
	if n := result.Differences(); err == nil && n > 0 {
		what := "difference"
		if n > 1 {
			what = "differences"
		}
		err = fmt.Errorf("%s %s between %s and %s", terminal.Count(n), what, f.o.From.Name(), f.o.To.Name())
	}
	return err
}

// explain gives an error its exit code, and says how to go on.
func (f *copyFlags) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = errors.New("interrupted")
	}
	if _, statErr := os.Stat(f.o.Checkpoint); statErr == nil && !f.o.DryRun {
		err = fmt.Errorf("%w\nrun the same command again to go on", err)
	}
	switch {
	case copying.Status(err) == http.StatusUnauthorized, copying.Status(err) == http.StatusForbidden:
		return coded{err, exitRefused}
	case copying.Status(err) == http.StatusNotFound, errors.Is(err, copying.ErrNothing):
		return coded{err, exitNotFound}
	case copying.Unreachable(err):
		return coded{err, exitUnreachable}
	}
	return err
}

func (f *copyFlags) print(c command, result copying.Result) error {
	columns, _ := c.getenv("COLUMNS")
	written := ">WRITTEN"
	if result.DryRun {
		written = ">TO WRITE"
	}
	titles := []string{"FROM", "TO", "TARGET", ">READ", written, ">SKIPPED", ">OVERDUE"}
	if f.o.Compare {
		titles = append(titles, ">COMPARED", ">DIFFERENT")
	}
	var rows [][]string
	for _, p := range result.Containers {
		row := []string{p.From, p.To, madeOf(p, result.DryRun)}
		for _, n := range []int64{p.Read, p.Written, p.Skipped, p.Overdue} {
			row = append(row, terminal.Count(n))
		}
		switch {
		case !f.o.Compare:
		case p.Checked:
			row = append(row, terminal.Count(p.Compared), terminal.Count(p.Different))
		default:
			row = append(row, "-", "-")
		}
		rows = append(rows, row)
	}
	err := terminal.New(c.out, columns).Table(terminal.Columns(titles...)).Write(rows)
	for _, p := range result.Containers {
		for _, text := range p.Differences {
			fmt.Fprintf(c.out, "%s: %s\n", terminal.Plain(p.To), terminal.Plain(text))
		}
		if hidden := p.Different - int64(len(p.Differences)); hidden > 0 {
			fmt.Fprintf(c.out, "%s: %s more differences\n", terminal.Plain(p.To), terminal.Count(hidden))
		}
	}
	if err == nil && result.DryRun {
		fmt.Fprintln(c.out, "Nothing was changed.")
	}
	return err
}

// madeOf says in a word what has become of the container at the target.
func madeOf(p *copying.Part, dryRun bool) string {
	switch {
	case p.View:
		return "view"
	case p.Created && dryRun:
		return "to be made"
	case p.Created:
		return "made"
	}
	return "there"
}
