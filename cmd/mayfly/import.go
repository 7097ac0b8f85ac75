package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// An importCommand is one call of `mayfly import`.
type importCommand struct {
	*session
	to         string
	format     string
	stamps     string
	conflict   string
	reject     string
	checkpoint string
	from       string
	generateID bool

	spooled     []string // temporary files of the standard input
	checkpoints []string // of parts that are complete
}

// importFiles is the command that imports files into containers of a running mayfly.
func (c command) importFiles() *cobra.Command {
	x := importCommand{}
	cmd := c.online(
		&cobra.Command{
			Use:   "import FILE... --to DB/CONTAINER",
			Short: "Import files into a container of a running mayfly",
			Long: "Import JSON lines, JSON arrays, CSV, or the BSON folders and archives of mongodump into a\n" +
				"running mayfly, through its admin address. A file may be compressed by gzip; - is the standard\n" +
				"input. An import that was interrupted goes on when the same command runs again.\n" +
				"docs/import-export.md has the formats.",
			Example: "  mayfly import carts.jsonl --to shop/carts --stamps keep\n" +
				"  mayfly import prices.csv --to shop/prices --on-conflict replace --reject wrong.jsonl\n" +
				"  mayfly import dump/ --to shop",
			Args: cobra.MinimumNArgs(1),
		},
		func(ctx context.Context, s *session) error {
			x.session = s
			if err := x.check(); err != nil {
				return usage{err}
			}
			return x.run(ctx)
		},
	)
	x.addFlags(cmd)
	if err := cmd.RegisterFlagCompletionFunc("to", c.asking(containersLike)); err != nil {
		panic(err) // the flag is there
	}
	return cmd
}

func (x *importCommand) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&x.to, "to", "", "where to: DB/CONTAINER, or for a dump DB alone")
	f.StringVar(&x.format, "format", "", "jsonl, json, csv, bson or archive (default: by the name of the file)")
	f.StringVar(&x.stamps, "stamps", "new", "keep: lives go on from the _ts of the documents; new: they begin anew")
	f.StringVar(&x.conflict, "on-conflict", "fail",
		"what happens to a document whose id is taken: skip, replace or fail")
	f.StringVar(&x.reject, "reject", "", "file for documents that are not written, with their reasons")
	f.StringVar(&x.checkpoint, "checkpoint", "", "file that says how far the import is (default: FILE.mayfly-import)")
	f.StringVar(&x.from, "from", "", "the collection of a dump to import: DB.COLLECTION (default: all)")
	f.BoolVar(&x.generateID, "generate-id", false, "give an id to documents that have none")
}

func (x *importCommand) check() error {
	switch {
	case x.to == "":
		return errors.New("--to is missing: give DB/CONTAINER")
	case x.stamps != string(transfer.KeepStamps) && x.stamps != string(transfer.NewStamps):
		return fmt.Errorf("--stamps: %q is neither keep nor new", x.stamps)
	case x.conflict != "skip" && x.conflict != "replace" && x.conflict != "fail":
		return fmt.Errorf("--on-conflict: %q is not skip, replace or fail", x.conflict)
	case len(x.args) > 1 && (x.reject != "" || x.checkpoint != ""):
		return errors.New("--reject and --checkpoint are for one file: import the files one by one")
	}
	return nil
}

// run imports all parts. A part with rejected documents does not keep the next ones from being imported. The
// checkpoints of complete parts stay until all are: the same command passes over those parts if it is interrupted
// before.
func (x *importCommand) run(ctx context.Context) (err error) {
	defer func() {
		for _, path := range x.spooled {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	parts, err := x.parts(ctx)
	if err != nil {
		return interruption(ctx, err)
	}
	var rejected []error
	for _, part := range parts {
		err := x.one(ctx, &part)
		if err != nil && len(parts) > 1 {
			err = fmt.Errorf("%s: %w", part.label(), err)
		}
		switch _, isRejected := errors.AsType[*rejectedDocuments](err); {
		case isRejected:
			rejected = append(rejected, err)
		case err != nil: // the same command passes over the parts before, and would not say their reasons again
			return errors.Join(append(rejected, err)...)
		}
	}
	for _, path := range x.checkpoints {
		if err := transfer.DropCheckpoint(path); err != nil {
			return errors.Join(append(rejected, err)...)
		}
	}
	return errors.Join(rejected...)
}

// one imports one part, and makes its collection before if it is of a dump.
func (x *importCommand) one(ctx context.Context, part *importPart) error {
	to := part.to.transferred(x.session)
	created := false
	if part.dump != nil {
		var err error
		if created, err = x.create(ctx, to, part.dump); err != nil || part.dump.Path == "" { // a view
			return err
		}
	}
	return x.send(ctx, part, to, created)
}

func (x *importCommand) create(ctx context.Context, to *transfer.Remote, part *transfer.Part) (bool, error) {
	definition, err := transfer.DefinitionOf(part.Metadata)
	if err != nil {
		return false, err
	}
	created, err := to.Create(ctx, definition, func(err error) bool {
		problem, ok := errors.AsType[*remote.Problem](err)
		return ok && problem.Status == http.StatusConflict
	})
	if created {
		fmt.Fprintf(x.c.err, "created %s\n", terminal.Plain(to.Database+"/"+to.Container))
	}
	return created, err
}

// send imports a part into a container, and prints what has become of it.
func (x *importCommand) send(ctx context.Context, part *importPart, to *transfer.Remote, created bool) error {
	definition, err := to.Definition(ctx)
	if err != nil {
		return err
	}
	source := part.source
	source.Relaxed = !definition.Mongo()
	o, err := x.options(part, to, definition)
	if err != nil {
		return err
	}
	o.NewTarget = created
	progress := newTransferProgress(x.c.err, "import "+part.name)
	o.Progress = progress
	open := func() (transfer.Source, error) { return transfer.Open(part.path, source) }
	total, err := transfer.Import(ctx, open, to, o)
	progress.close()
	if err != nil {
		return x.unfinished(interruption(ctx, err), o.Checkpoint, total.Rows)
	}
	if o.Checkpoint != "" {
		x.checkpoints = append(x.checkpoints, o.Checkpoint)
	}
	return x.report(total, to)
}

// unfinished says of an import that did not end how to go on.
func (x *importCommand) unfinished(err error, checkpoint string, rows int64) error {
	switch {
	case checkpoint != "":
		return fmt.Errorf("%w: %d documents are done; run the same command again to go on", err, rows)
	case x.conflict == string(transfer.RejectExisting):
		return fmt.Errorf("%w: %d documents are done; the standard input has no checkpoint, so the same command "+
			"begins anew, and would reject them, because their ids are taken: add --on-conflict skip, or import a file",
			err, rows)
	default:
		return fmt.Errorf("%w: %d documents are done; the standard input has no checkpoint, so the same command "+
			"begins anew", err, rows)
	}
}

func (x *importCommand) options(
	part *importPart, to *transfer.Remote, definition transfer.Definition,
) (transfer.ImportOptions, error) {
	o := transfer.ImportOptions{
		Way:    transfer.Way{Stamps: transfer.Stamps(x.stamps), OnConflict: transfer.OnConflict(x.conflict)},
		Reject: x.reject, Checkpoint: x.checkpoint, KeepCheckpoint: true,
	}
	info, err := os.Stat(part.path)
	if err != nil {
		return o, err
	}
	if part.name == "-" {
		o.Source = fmt.Sprintf("the standard input%s of %d bytes with the SHA-256 %s", part.suffix, info.Size(),
			part.sum)
	} else {
		absolute, err := filepath.Abs(part.path)
		if err != nil {
			return o, err
		}
		o.Source = fmt.Sprintf(
			"%s%s of %d bytes, written at %d", absolute, part.suffix, info.Size(), info.ModTime().UnixNano(),
		)
		if x.checkpoint == "" {
			o.Checkpoint = part.checkpoint(absolute)
		}
	}
	o.Source += fmt.Sprintf(", into %s/%s", to.Database, to.Container)
	o.Identity = definition.Identity
	if o.StampMember = transfer.ItemStamp; definition.Mongo() {
		o.StampMember = transfer.StampMember
	}
	o.Seed = part.seed()
	if x.generateID || part.dump != nil { // as MongoDB does when a dump is restored
		if o.GenerateID = "id"; definition.Mongo() {
			o.GenerateID = "_id"
		}
	}
	return o, nil
}

// report prints a total. Documents that were rejected and are nowhere else are an error.
func (x *importCommand) report(total transfer.Total, to *transfer.Remote) error {
	if x.json {
		if err := printJSON(x.c.out, total); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(x.c.out, "%s: %d documents: %d written", terminal.Plain(to.Database+"/"+to.Container),
			total.Rows, total.Written)
		for _, part := range []struct {
			count int
			what  string
		}{
			{total.Replaced, "of them replaced"}, {total.Skipped, "skipped, as they are there"},
			{total.Overdue, "overdue, as their life has ended"}, {total.Rejected, "rejected"},
		} {
			if part.count > 0 {
				fmt.Fprintf(x.c.out, ", %d %s", part.count, part.what)
			}
		}
		if total.Complete {
			fmt.Fprint(x.c.out, ", by the command that was interrupted")
		}
		fmt.Fprintln(x.c.out)
	}
	if total.Rejected == 0 || x.reject != "" {
		return nil
	}
	return &rejectedDocuments{total}
}

// rejectedDocuments is the error of an import that has come to its end without some documents.
type rejectedDocuments struct{ total transfer.Total }

func (r *rejectedDocuments) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d documents were rejected; --reject FILE collects them", r.total.Rejected)
	for _, r := range r.total.First {
		fmt.Fprintf(&text, "\n  document %d: %s", r.Line, r.Reason)
	}
	return text.String()
}
