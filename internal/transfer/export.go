package transfer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mayflydb/mayfly/internal/doc"
)

// ExportOptions say how documents are exported.
type ExportOptions struct {
	Format Format

	// Source says what is exported: an interrupted export goes on only with the same.
	Source string

	// Namespace names the collection in an archive, and its metadata there.
	Namespace Namespace
	// Version is the writer's, for an archive.
	Version string

	// Fields are the columns of CSV. Without them there is one for each member that a document has, and the documents
	// go through a temporary file.
	Fields []string

	// Checkpoint is the file that says how far the export is; empty for none. An export without one begins anew.
	Checkpoint string

	// CheckpointBytes is after how many bytes the checkpoint is saved again; 0 for 16 MiB.
	CheckpointBytes int64

	// Progress may be nil.
	Progress Progress
}

// Exported is what an export has written.
type Exported struct {
	Rows    int64 `json:"rows"`
	Bytes   int64 `json:"bytes"`
	Resumed int64 `json:"resumed,omitempty"` // of Rows, those that an interrupted run had written

	// Position is where an export that continues this one begins.
	Position string `json:"position"`
}

// exportState is the checkpoint of an export.
type exportState struct {
	Version  int    `json:"version"`
	Source   string `json:"source"`
	Format   Format `json:"format"`
	Position string `json:"position"`
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`
}

// checkpointBytes is the default of ExportOptions.CheckpointBytes.
const checkpointBytes = 16 << 20

// An encoder writes documents in a format.
type encoder interface {
	// begin is called before the first document, with how many an interrupted run has written.
	begin(rows int64) error
	// write writes the document of a line.
	write(line []byte) error
	// end is called behind the last document.
	end() error
}

// Resumable reports whether an interrupted export in a format can go on.
func Resumable(f Format) bool { return f != Archive }

// Export writes the documents of an origin to a file, or to out if path is "-". A file that is there stays as it is
// until the export is complete, and is replaced then. An interrupted export goes on after the last part that is on the
// disk.
//
// Without an interruption the file has the documents as they were at one moment. After one, it has those as they were
// when it went on: a document that was written in between is there twice, the newer one last.
func Export(ctx context.Context, from Origin, path string, out io.Writer, o ExportOptions) (Exported, error) {
	if o.Format == CSV && o.Fields == nil {
		return exportColumns(ctx, from, path, out, o)
	}
	x := &exportRun{ExportOptions: o, state: exportState{Version: 1, Source: o.Source, Format: o.Format}}
	if path == "-" {
		x.Checkpoint = ""
		x.out = &counter{to: out}
		err := x.run(ctx, from)
		return x.done(), err
	}
	if err := x.open(path); err != nil {
		return Exported{}, err
	}
	if err := x.run(ctx, from); err != nil {
		if x.resumable {
			return x.done(), errors.Join(err, x.file.keep())
		}
		return x.done(), errors.Join(err, x.file.drop())
	}
	err := x.file.commit()
	if _, unplaced := errors.AsType[*unplacedError](err); unplaced {
		return x.done(), err // it can go on there
	}
	return x.done(), errors.Join(err, DropCheckpoint(x.Checkpoint))
}

// An exportRun is one run of an export.
type exportRun struct {
	ExportOptions
	state   exportState
	resumed int64
	saved   int64 // bytes when the checkpoint was saved last
	file    *replacement
	out     *counter
	enc     encoder

	resumable bool // there is a checkpoint
}

// A counter counts what it passes on.
type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

func (x *exportRun) done() Exported {
	return Exported{Rows: x.state.Rows, Bytes: x.state.Bytes, Resumed: x.resumed, Position: x.state.Position}
}

// open opens the file, behind what an interrupted run has written.
func (x *exportRun) open(path string) error {
	if !Resumable(x.Format) {
		x.Checkpoint = ""
	}
	var err error
	if x.file, err = replace(path, x.Checkpoint != ""); err != nil {
		return err
	}
	if x.file.part == "" { // a device or a pipe has no place to go on from
		x.Checkpoint, x.out = "", &counter{to: x.file}
		return nil
	}
	var last exportState
	found, err := loadCheckpoint(x.Checkpoint, &last)
	if err == nil && found && (last.Source != x.Source || last.Format != x.Format || last.Version != 1) {
		err = fmt.Errorf("%s is the checkpoint of another export, of %s as %s: repeat that one, or delete the file",
			x.Checkpoint, last.Source, last.Format)
	}
	if err != nil {
		return errors.Join(err, x.file.keep())
	}
	if found {
		if info, err := x.file.Stat(); err != nil || info.Size() < last.Bytes {
			err = fmt.Errorf("%s is shorter than when its export was interrupted: delete %s to start anew",
				x.file.part, x.Checkpoint)
			return errors.Join(err, x.file.keep())
		}
		x.state, x.resumed, x.resumable = last, last.Rows, true
	}
	err = x.file.Truncate(x.state.Bytes)
	if err == nil {
		_, err = x.file.Seek(x.state.Bytes, io.SeekStart)
	}
	if err != nil {
		return errors.Join(err, x.file.keep())
	}
	x.out = &counter{to: x.file, n: x.state.Bytes}
	x.saved = x.state.Bytes
	return nil
}

func (x *exportRun) run(ctx context.Context, from Origin) (err error) {
	if x.enc, err = x.encoder(); err != nil {
		return err
	}
	in, err := from.Export(ctx, x.state.Position)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := x.enc.begin(x.state.Rows); err != nil {
		return err
	}
	done, err := x.copy(ctx, in)
	if err == nil && !done {
		err = fmt.Errorf("after %d documents: %w", x.state.Rows, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return err
	}
	err = x.enc.end()
	x.state.Bytes = x.out.n
	return err
}

// copy writes lines until the server says that there are no more.
func (x *exportRun) copy(ctx context.Context, in io.Reader) (done bool, err error) {
	lines := NewLineReader(in, 2*MaxLine)
	rows := x.state.Rows
	for !done {
		line, _, tooLong, err := lines.Next()
		switch {
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, fmt.Errorf("after %d documents: %w", x.state.Rows, err)
		case tooLong:
			return false, fmt.Errorf("document %d has more than %d bytes", rows+1, 2*MaxLine)
		case !IsPosition(line):
			if err := x.enc.write(line); err != nil {
				return false, fmt.Errorf("document %d: %w", rows+1, err)
			}
			rows++
			continue
		}
		if done, err = x.reached(line, rows); err != nil {
			return false, err
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
	}
	return true, nil
}

// reached notes a position that the server has sent.
func (x *exportRun) reached(line []byte, rows int64) (done bool, err error) {
	var at struct {
		Position string `json:"$position"`
		Done     bool   `json:"done"`
	}
	if err := json.Unmarshal(line, &at); err != nil {
		return false, err
	}
	if f, ok := x.enc.(interface{ flush() error }); ok {
		if err := f.flush(); err != nil {
			return false, err
		}
	}
	x.state.Position, x.state.Rows, x.state.Bytes = at.Position, rows, x.out.n
	if x.Progress != nil {
		x.Progress.Update(Status{Bytes: x.state.Bytes, Rows: rows})
	}
	if x.Checkpoint == "" || x.state.Bytes-x.saved < cmp.Or(x.CheckpointBytes, checkpointBytes) && !at.Done {
		return at.Done, nil
	}
	if err := x.file.Sync(); err != nil { // what the checkpoint speaks of must be there
		return false, err
	}
	if err := saveCheckpoint(x.Checkpoint, &x.state); err != nil {
		return false, err
	}
	x.saved, x.resumable = x.state.Bytes, true
	return at.Done, nil
}

func (x *exportRun) encoder() (encoder, error) {
	switch x.Format {
	case JSONLines:
		return &lineEncoder{out: x.out}, nil
	case JSON:
		return &arrayEncoder{out: x.out}, nil
	case CSV:
		return &csvEncoder{out: x.out, columns: x.Fields}, nil
	case BSON:
		return &bsonEncoder{out: x.out}, nil
	case Archive:
		return &archiveEncoder{out: x.out, x: x}, nil
	}
	return nil, fmt.Errorf("the format %q does not exist: there are %q", x.Format, Formats)
}

// A lineEncoder writes JSON lines.
type lineEncoder struct {
	out io.Writer
	buf []byte
}

const encoderBytes = 256 << 10

func (e *lineEncoder) begin(int64) error { return nil }
func (e *lineEncoder) end() error        { return e.flush() }

func (e *lineEncoder) write(line []byte) error {
	if e.buf = append(append(e.buf, line...), '\n'); len(e.buf) < encoderBytes {
		return nil
	}
	return e.flush()
}

func (e *lineEncoder) flush() error {
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// An arrayEncoder writes one JSON array.
type arrayEncoder struct {
	out  io.Writer
	rows int64
	buf  []byte
}

func (e *arrayEncoder) begin(rows int64) error {
	e.rows = rows
	if rows == 0 {
		e.buf = append(e.buf, '[')
	}
	return nil
}

func (e *arrayEncoder) write(line []byte) error {
	if e.rows > 0 {
		e.buf = append(e.buf, ',')
	}
	e.rows++
	if e.buf = append(append(e.buf, '\n'), line...); len(e.buf) < encoderBytes {
		return nil
	}
	return e.flush()
}

func (e *arrayEncoder) flush() error {
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

func (e *arrayEncoder) end() error {
	e.buf = append(e.buf, "\n]\n"...)
	return e.flush()
}

// A csvEncoder writes CSV.
type csvEncoder struct {
	out     io.Writer
	columns []string
	*csvWriter
}

func (e *csvEncoder) begin(rows int64) (err error) {
	e.csvWriter, err = newCSVWriter(e.out, e.columns, rows == 0)
	return err
}

func (e *csvEncoder) end() error { return e.flush() }

// A bsonEncoder writes documents of BSON, one after the other.
type bsonEncoder struct {
	out io.Writer
	buf []byte
}

func (e *bsonEncoder) begin(int64) error { return nil }
func (e *bsonEncoder) end() error        { return e.flush() }

func (e *bsonEncoder) write(line []byte) error {
	d, err := documentOf(line)
	if err != nil {
		return err
	}
	if e.buf = append(e.buf, d...); len(e.buf) < encoderBytes {
		return nil
	}
	return e.flush()
}

func (e *bsonEncoder) flush() error {
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// documentOf is the document of a line, without its stamp, which BSON has no place for.
func documentOf(line []byte) (doc.Doc, error) {
	d, err := doc.FromJSON(nil, line, doc.ParseOptions{MaxBytes: 2 * MaxLine})
	if err != nil {
		return nil, err
	}
	if lastMember(d) != StampMember { // an item of Cosmos DB, which may have a $ts of its own
		return doc.Without(d, ItemStamp), nil
	}
	if d, err = doc.FromExtended(d); err != nil {
		return nil, err
	}
	return UnquoteStamp(doc.Without(d, StampMember)), nil
}

// An archiveEncoder writes an archive with one collection.
type archiveEncoder struct {
	out io.Writer
	x   *exportRun
	w   *archiveWriter
	buf bytes.Buffer
}

func (e *archiveEncoder) begin(int64) (err error) {
	if e.w, err = newArchiveWriter(&e.buf, e.x.Version, []Namespace{e.x.Namespace}); err != nil {
		return err
	}
	return e.w.begin(e.x.Namespace)
}

func (e *archiveEncoder) write(line []byte) error {
	d, err := documentOf(line)
	if err != nil {
		return err
	}
	if err := e.w.write(d); err != nil || e.buf.Len() < encoderBytes {
		return err
	}
	return e.flush()
}

func (e *archiveEncoder) flush() error {
	_, err := e.buf.WriteTo(e.out)
	return err
}

func (e *archiveEncoder) end() error {
	if err := e.w.end(e.x.Namespace); err != nil {
		return err
	}
	return e.flush()
}
