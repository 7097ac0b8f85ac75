package transfer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// A Row is one document of a source.
type Row struct {
	Number int64  // of the line, record or document in the source, from 1 on
	Text   []byte // one line of JSON; valid until the next call
	Reason string // why it cannot be read, empty if it can; Text then has what is there

	// Where the line is in an uncompressed file of JSON lines; Size is 0 in all others.
	Offset int64
	Size   int
}

// A Source gives documents one after the other.
type Source interface {
	// Next gives the next document; io.EOF at the end. Other errors end the source: what follows cannot be read.
	Next() (Row, error)
	// Read is how many bytes of the source were read, and how many it has, 0 if that is unknown.
	Read() (done, total int64)
	Close() error
}

// A Format is the form of a file.
type Format string

// The formats. JSON is an array of objects, or objects one after the other; JSONLines has one in each line.
const (
	JSONLines Format = "jsonl"
	JSON      Format = "json"
	CSV       Format = "csv"
	BSON      Format = "bson"
	Archive   Format = "archive"
)

// Formats are all of them.
var Formats = []Format{JSONLines, JSON, CSV, BSON, Archive}

// FormatOf guesses the format of a file by its name, without .gz. Unknown names are JSON lines.
func FormatOf(path string) Format {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	switch filepath.Ext(name) {
	case ".json":
		return JSON
	case ".csv":
		return CSV
	case ".bson":
		return BSON
	case ".archive":
		return Archive
	}
	return JSONLines
}

// SourceOptions say how a file is read.
type SourceOptions struct {
	Format Format // FormatOf the file if empty

	// Relaxed gives documents of BSON as plain JSON with extended JSON for the types that it has not, for containers of
	// Cosmos DB, which have no types of numbers.
	Relaxed bool

	// Namespace is the database.collection to take from an archive. It may be empty for an archive that has only one.
	Namespace string
}

// Open opens a file. It may be compressed by gzip.
func Open(path string, o SourceOptions) (Source, error) {
	if o.Format == "" {
		o.Format = FormatOf(path)
	}
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	s, err := o.read(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return s, nil
}

func (o SourceOptions) read(f *file) (Source, error) {
	switch o.Format {
	case JSONLines:
		return &lineSource{file: f, lines: NewLineReader(f, MaxLine)}, nil
	case JSON:
		return newJSONSource(f)
	case CSV:
		return newCSVSource(f)
	case BSON:
		return &bsonSource{file: f, in: bufio.NewReaderSize(f, 256<<10), relaxed: o.Relaxed}, nil
	case Archive:
		return newArchiveSource(f, o)
	}
	return nil, fmt.Errorf("the format %q does not exist: there are %q", o.Format, Formats)
}

// A file is what a source reads from.
type file struct {
	io.Reader
	f      *os.File
	size   int64
	done   int64
	packed bool // by gzip
}

func openFile(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is a folder, not a file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	x := &file{f: f, size: info.Size()}
	buffered := bufio.NewReaderSize(counting{x}, 256<<10)
	x.Reader = buffered
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		x.Reader, x.packed = unpacked, true
	}
	return x, nil
}

// counting counts what is read from the disk.
type counting struct{ x *file }

func (c counting) Read(p []byte) (int, error) {
	n, err := c.x.f.Read(p)
	c.x.done += int64(n)
	return n, err
}

// Read and Close of the sources; Reader has the bytes.
func (x *file) progress() (done, total int64) { return x.done, x.size }
func (x *file) close() error                  { return x.f.Close() }
func (x *file) Close() error                  { return x.close() }

// A lineSource reads JSON lines.
type lineSource struct {
	file   *file
	lines  *LineReader
	number int64
	offset int64
}

func (s *lineSource) Next() (Row, error) {
	for {
		line, size, tooLong, err := s.lines.Next()
		if err != nil {
			return Row{}, err
		}
		row := Row{Number: s.number + 1, Text: line}
		if !s.file.packed {
			row.Offset, row.Size = s.offset, len(line)
		}
		s.number++
		s.offset += size
		if tooLong {
			row.Reason, row.Size = fmt.Sprintf("The line has more than %d bytes.", MaxLine), 0
			return row, nil
		}
		if row.Number == 1 {
			trimmed := bytes.TrimPrefix(row.Text, []byte("\xef\xbb\xbf"))
			row.Offset += int64(len(row.Text) - len(trimmed))
			row.Text = trimmed
			row.Size = min(row.Size, len(trimmed))
		}
		if blank(row.Text) || IsPosition(row.Text) {
			continue
		}
		return row, nil
	}
}

func (s *lineSource) Read() (done, total int64) { return s.file.progress() }
func (s *lineSource) Close() error              { return s.file.close() }

func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// A jsonSource reads an array of objects, or objects one after the other.
type jsonSource struct {
	file   *file
	in     *json.Decoder
	array  bool
	number int64
	text   bytes.Buffer
}

func newJSONSource(f *file) (Source, error) {
	in := bufio.NewReaderSize(f, 64<<10)
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	s := &jsonSource{file: f}
	for {
		c, _, err := in.ReadRune()
		if err != nil { // an empty file, or one that cannot be read, which Next will say
			break
		}
		if !unicode.IsSpace(c) {
			s.array = c == '['
			if err := in.UnreadRune(); err != nil {
				return nil, err
			}
			break
		}
	}
	s.in = json.NewDecoder(in)
	if s.array {
		if _, err := s.in.Token(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *jsonSource) Next() (Row, error) {
	if s.array && !s.in.More() {
		if _, err := s.in.Token(); err != nil {
			return Row{}, cut(err)
		}
		return Row{}, s.nothingMore()
	}
	var text json.RawMessage
	if err := s.in.Decode(&text); err != nil {
		if err == io.EOF && !s.array {
			return Row{}, io.EOF
		}
		return Row{}, fmt.Errorf("document %d, at byte %d: %w", s.number+1, s.in.InputOffset(), cut(err))
	}
	s.number++
	row := Row{Number: s.number}
	if len(text) > MaxLine {
		row.Reason = fmt.Sprintf("The document has more than %d bytes.", MaxLine)
		return row, nil
	}
	s.text.Reset()
	if err := json.Compact(&s.text, text); err != nil {
		return Row{}, err
	}
	row.Text = s.text.Bytes()
	return row, nil
}

// nothingMore is io.EOF if nothing follows an array.
func (s *jsonSource) nothingMore() error {
	if _, err := s.in.Token(); err != io.EOF {
		return errors.New("something follows the end of the array")
	}
	s.array = false // so that the next call ends, too
	return io.EOF
}

// cut says that a file ends too early, instead of that it ends.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *jsonSource) Read() (done, total int64) { return s.file.progress() }
func (s *jsonSource) Close() error              { return s.file.close() }
