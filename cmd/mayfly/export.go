package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/terminal"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// An exportCommand is one call of `mayfly export`.
type exportCommand struct {
	*session
	format     string
	fields     []string
	checkpoint string
}

// export is the command that exports a container of a running mayfly.
func (c command) export() *cobra.Command {
	x := exportCommand{}
	cmd := c.online(
		&cobra.Command{
			Use:   "export DB/CONTAINER [FILE]",
			Short: "Export a container of a running mayfly to a file",
			Long: "Export the living documents of a container, in the order of their last writes, as JSON lines, a\n" +
				"JSON array, CSV, or BSON as mongodump writes it, through the admin address. Without a file, or\n" +
				"with -, they go to the standard output; a name that ends with .gz compresses them. An export\n" +
				"that was interrupted goes on when the same command runs again. docs/import-export.md has the\n" +
				"formats. With --json, what it says at the end is JSON, on stderr if the documents go to stdout.",
			Example: "  mayfly export shop/carts carts.jsonl\n" +
				"  mayfly export shop/prices prices.csv --fields id,price\n" +
				"  mayfly export shop/carts dump/ --format bson",
			Args: cobra.RangeArgs(1, 2), ValidArgsFunction: c.completeContainersOrFile(),
		},
		func(ctx context.Context, s *session) error {
			x.session = s
			from, err := s.container()
			if err != nil {
				return err
			}
			path := "-"
			if len(s.args) == 2 && !transfer.IsOutput(s.args[1]) {
				path = s.args[1]
			}
			return x.run(ctx, from.transferred(s), path)
		},
	)
	f := cmd.Flags()
	f.StringVar(&x.format, "format", "", "jsonl, json, csv, bson or archive (default: by the name of the file)")
	f.StringSliceVar(&x.fields, "fields", nil, "columns of CSV (default: every member that a document has)")
	f.StringVar(&x.checkpoint, "checkpoint", "", "file that says how far the export is (default: FILE.mayfly-export)")
	return cmd
}

func (x *exportCommand) run(ctx context.Context, from *transfer.Remote, path string) error {
	progress := newTransferProgress(x.c.err, "export "+from.Database+"/"+from.Container)
	o := transfer.ExportOptions{
		Format: transfer.Format(x.format), Version: versionText(), Fields: x.fields,
		Namespace: transfer.Namespace{Database: from.Database, Collection: from.Container},
		Progress:  progress, Source: from.Database + "/" + from.Container,
	}
	if o.Format == "" {
		o.Format = transfer.FormatOf(path)
	}
	path, err := x.place(ctx, from, path, &o)
	if err != nil {
		return err
	}
	done, err := x.write(ctx, from, path, o)
	progress.close()
	if err == nil && o.Format == transfer.BSON && path != "-" {
		err = transfer.WriteMetadata(path, o.Namespace.Metadata)
	}
	if err != nil {
		return err
	}
	out := x.c.out
	if path == "-" {
		out = x.c.err
	}
	if x.json {
		return printJSON(out, done)
	}
	_, err = fmt.Fprintf(out, "%s: %d documents, %s\n", terminal.Plain(o.Source), done.Rows, terminal.Bytes(done.Bytes))
	return err
}

func (x *exportCommand) write(
	ctx context.Context, from *transfer.Remote, path string, o transfer.ExportOptions,
) (done transfer.Exported, err error) {
	switch {
	case path == "-":
		return transfer.Export(ctx, from, path, x.c.out, o)
	case strings.HasSuffix(path, ".gz"):
		return packed(ctx, from, path, o)
	}
	if o.Checkpoint = x.checkpoint; o.Checkpoint == "" {
		o.Checkpoint = transfer.Beside(path, ".mayfly-export")
	}
	done, err = transfer.Export(ctx, from, path, nil, o)
	if err != nil && transfer.Resumable(o.Format) {
		err = fmt.Errorf("%w: run the same command again to go on", interruption(ctx, err))
	}
	return done, err
}

// place prepares what belongs to a dump: the text of the metadata, and the folder of the database.
func (x *exportCommand) place(
	ctx context.Context, from *transfer.Remote, path string, o *transfer.ExportOptions,
) (string, error) {
	if o.Format != transfer.BSON && o.Format != transfer.Archive {
		return path, nil
	}
	definition, err := from.Definition(ctx)
	if err != nil {
		return "", err
	}
	metadata, err := definition.Metadata()
	if err != nil {
		return "", err
	}
	o.Namespace.Metadata = metadata
	if o.Format == transfer.Archive || path == "-" {
		return path, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() || strings.HasSuffix(path, "/") {
		path = transfer.FileOf(path, o.Namespace)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
	}
	return path, nil
}

// packed exports to a file that is compressed. It cannot go on after an interruption.
func packed(
	ctx context.Context, from transfer.Origin, path string, o transfer.ExportOptions,
) (done transfer.Exported, err error) {
	err = transfer.Replace(path, func(out io.Writer) error {
		z := gzip.NewWriter(out)
		done, err = transfer.Export(ctx, from, "-", z, o)
		return errors.Join(err, z.Close())
	})
	return done, interruption(ctx, err)
}
