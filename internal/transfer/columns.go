package transfer

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/mayflydb/mayfly/internal/doc"
)

// maxColumns bounds the columns of a CSV file: documents that use names as values would have no end of them.
const maxColumns = 10_000

var errManyColumns = errors.New("the documents have more than 10000 different members: " +
	"name those to export with --fields")

// exportColumns writes CSV with a column for each member that a document has, in the order in which they appear. The
// documents go through a file of JSON lines first, which an interrupted export goes on with.
func exportColumns(
	ctx context.Context, from Origin, path string, out io.Writer, o ExportOptions,
) (done Exported, err error) {
	lines := o
	lines.Format = JSONLines
	name := Beside(path, ".mayfly-lines")
	_, open, _ := lead(path) // an error of it is one of replace, too
	info, err := os.Stat(path)
	if path == "-" || open || o.Checkpoint == "" || err == nil && !info.Mode().IsRegular() { // nothing can go on there
		f, err := os.CreateTemp("", "mayfly-export-*")
		if err != nil {
			return done, err
		}
		if err := f.Close(); err != nil {
			return done, err
		}
		defer os.Remove(f.Name())
		name, lines.Checkpoint = f.Name(), ""
	}
	write := func(out io.Writer) error {
		if done, err = Export(ctx, from, name, nil, lines); err != nil {
			return err
		}
		defer os.Remove(name)
		columns, err := columnsOf(name)
		if err != nil {
			return err
		}
		c := &counter{to: out}
		err = writeColumns(c, name, columns)
		done.Bytes = c.n
		return err
	}
	if path == "-" {
		return done, write(out)
	}
	r, err := replace(path, o.Checkpoint != "") // before the lines: two exports must not share them
	if err != nil {
		return done, err
	}
	if r.part != "" {
		err = r.Truncate(0)
	}
	if err == nil {
		err = write(r)
	}
	if err != nil {
		return done, errors.Join(err, r.drop())
	}
	return done, r.commit()
}

// columnsOf lists the members of all documents in a file of lines.
func columnsOf(path string) (columns []string, err error) {
	seen := map[string]bool{}
	err = eachLine(path, func(line []byte) error {
		d, err := doc.FromJSON(nil, line, doc.ParseOptions{MaxBytes: 2 * MaxLine})
		if err != nil {
			return err
		}
		for name := range doc.Members(d) {
			if seen[name] {
				continue
			}
			if len(columns) == maxColumns {
				return errManyColumns
			}
			name = string([]byte(name))
			seen[name] = true
			columns = append(columns, name)
		}
		return nil
	})
	return columns, err
}

func writeColumns(out io.Writer, path string, columns []string) error {
	w, err := newCSVWriter(out, columns, true)
	if err != nil {
		return err
	}
	if err := eachLine(path, w.write); err != nil {
		return err
	}
	return w.flush()
}

func eachLine(path string, take func(line []byte) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for lines := NewLineReader(f, 2*MaxLine); ; {
		line, _, _, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = take(line)
		}
		if err != nil {
			return err
		}
	}
}
