package transfer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
)

// An archive of mongodump is: a magic number, a header, a document for each collection, a terminator; then blocks, each
// of a document that names a collection, documents of that collection, and a terminator. Blocks of collections may
// alternate. The last block of a collection has no documents; its head says EOF and the CRC of all documents before.
// https://github.com/mongodb/mongo-tools: common/archive/spec.md, archive.go, multiplexer.go

const (
	archiveMagic   = 0x8199e26d
	archiveEnd     = 0xffffffff // the terminator
	archiveVersion = "0.1"
)

// Limits of what an archive may say about itself.
const (
	maxCollections = 100_000
	maxNames       = 1 << 10
)

// maxArchiveHead is the most bytes of all that an archive says about its collections, which a reader holds in memory.
// It is a variable so that tests can change it.
var maxArchiveHead = 64 << 20

// archiveCRC is the polynomial of the checksums.
var archiveCRC = crc64.MakeTable(crc64.ECMA)

// A Namespace is a collection in an archive.
type Namespace struct {
	Database, Collection string
	Metadata             string // the text of its metadata.json, empty if there is none
	Type                 string // collection, view or timeseries; empty in old archives
}

func (n Namespace) String() string { return n.Database + "." + n.Collection }

// holds reports whether the archive has documents of it.
func (n Namespace) holds() bool { return n.Type != "view" && n.Type != "timeseries" }

// An archiveReader reads an archive block by block.
type archiveReader struct {
	in         *bufio.Reader
	room       []byte
	Namespaces []Namespace

	sums    map[string]hash.Hash64 // of collections that have begun and not ended
	ended   map[string]bool
	current string // of the block, empty between blocks
	held    int    // bytes of names and metadata, at most maxArchiveHead
}

func newArchiveReader(in io.Reader) (*archiveReader, error) {
	r := &archiveReader{in: bufio.NewReaderSize(in, 256<<10), sums: map[string]hash.Hash64{}, ended: map[string]bool{}}
	var magic [4]byte
	if _, err := io.ReadFull(r.in, magic[:]); err != nil || binary.LittleEndian.Uint32(magic[:]) != archiveMagic {
		return nil, errors.New("this is no archive of mongodump: its first bytes are others")
	}
	header, err := r.document()
	if err != nil {
		return nil, cut(err)
	}
	if version, _ := doc.AsString(doc.Lookup(header, "version")); version != archiveVersion {
		return nil, fmt.Errorf("the archive has the version %q: only %s is known", version, archiveVersion)
	}
	for {
		d, err := r.document()
		if err == errTerminator {
			return r, nil
		}
		if err != nil {
			return nil, cut(err)
		}
		if len(r.Namespaces) == maxCollections {
			return nil, fmt.Errorf("the archive has more than %d collections", maxCollections)
		}
		if err := r.hold(len(d)); err != nil {
			return nil, err
		}
		n := Namespace{}
		for name, to := range map[string]*string{
			"db": &n.Database, "collection": &n.Collection, "metadata": &n.Metadata, "type": &n.Type,
		} {
			text, _ := doc.AsString(doc.Lookup(d, name))
			*to = strings.Clone(text)
		}
		r.Namespaces = append(r.Namespaces, n)
	}
}

// hold counts bytes that stay in memory.
func (r *archiveReader) hold(bytes int) error {
	if r.held += bytes; r.held > maxArchiveHead {
		return fmt.Errorf("the names and metadata of the archive's collections have more than %d bytes", maxArchiveHead)
	}
	return nil
}

// errTerminator is the end of a block.
var errTerminator = errors.New("unexpected end of a block")

// document reads a document; errTerminator at a terminator, io.EOF at the end of the file.
func (r *archiveReader) document() (doc.Doc, error) {
	head, err := r.in.Peek(4)
	if err == nil && binary.LittleEndian.Uint32(head) == archiveEnd {
		if _, err := r.in.Discard(4); err != nil {
			return nil, err
		}
		return nil, errTerminator
	}
	d, err := readBSON(r.in, &r.room)
	if err == nil {
		err = d.Validate()
	}
	return d, err
}

// next gives the next document of any collection. At the end it checks that every collection is complete.
func (r *archiveReader) next() (namespace string, d doc.Doc, err error) {
	for {
		if r.current == "" {
			if err := r.begin(); err != nil {
				return "", nil, err
			}
			continue
		}
		d, err := r.document()
		switch {
		case err == errTerminator:
			r.current = ""
		case err != nil:
			return "", nil, fmt.Errorf("in %s: %w", r.current, cut(err))
		default:
			_, _ = r.sums[r.current].Write(d)
			return r.current, d, nil
		}
	}
}

// begin reads the head of a block, and the rest of one that ends a collection.
func (r *archiveReader) begin() error {
	head, err := r.document()
	if err == io.EOF {
		return r.complete()
	}
	if err != nil {
		return fmt.Errorf("between collections: %w", err)
	}
	db, _ := doc.AsString(doc.Lookup(head, "db"))
	collection, ok := doc.AsString(doc.Lookup(head, "collection"))
	name := db + "." + collection
	if !ok || collection == "" || len(name) > maxNames {
		return errors.New("a block names no collection")
	}
	if r.ended[name] {
		return fmt.Errorf("%s goes on after its end", name)
	}
	sum := r.sums[name]
	if sum == nil {
		if len(r.sums)+len(r.ended) >= maxCollections {
			return fmt.Errorf("the archive has more than %d collections", maxCollections)
		}
		if err := r.hold(len(name)); err != nil {
			return err
		}
		sum = crc64.New(archiveCRC)
		r.sums[name] = sum
	}
	if last, _ := doc.AsBool(doc.Lookup(head, "EOF")); !last {
		r.current = name
		return nil
	}
	crc, _ := doc.AsInt(doc.Lookup(head, "CRC"))
	if crc != int64(sum.Sum64()) {
		return fmt.Errorf("the documents of %s are damaged: their checksum is %d, not %d", name, int64(sum.Sum64()),
			crc)
	}
	delete(r.sums, name)
	r.ended[name] = true
	if _, err := r.document(); err != errTerminator {
		return fmt.Errorf("at the end of %s: a terminator is missing", name)
	}
	return nil
}

// complete is io.EOF if every collection has ended.
func (r *archiveReader) complete() error {
	for name := range r.sums {
		return fmt.Errorf("the archive ends before %s does", name)
	}
	for _, n := range r.Namespaces {
		if n.holds() && !r.ended[n.String()] {
			return fmt.Errorf("the archive ends before %s begins", n)
		}
	}
	return io.EOF
}

// Namespaces lists the collections of an archive, which may be compressed by gzip.
func Namespaces(path string) ([]Namespace, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	r, err := newArchiveReader(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.close())
	}
	return r.Namespaces, f.close()
}

// An archiveSource reads one collection of an archive.
type archiveSource struct {
	file      *file
	in        *archiveReader
	namespace string
	relaxed   bool
	number    int64
	text      []byte
}

func newArchiveSource(f *file, o SourceOptions) (Source, error) {
	in, err := newArchiveReader(f)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range in.Namespaces {
		if n.holds() {
			names = append(names, n.String())
		}
	}
	switch {
	case o.Namespace == "" && len(names) == 1:
		o.Namespace = names[0]
	case o.Namespace == "":
		return nil, fmt.Errorf("the archive has %d collections: name one of %s", len(names), strings.Join(names, ", "))
	case !slices.Contains(names, o.Namespace):
		return nil, fmt.Errorf("the archive has no %s: there are %s", o.Namespace, strings.Join(names, ", "))
	}
	return &archiveSource{file: f, in: in, namespace: o.Namespace, relaxed: o.Relaxed}, nil
}

func (s *archiveSource) Next() (Row, error) {
	for {
		name, d, err := s.in.next()
		if err != nil {
			return Row{}, err
		}
		if name != s.namespace {
			continue
		}
		s.number++
		row := Row{Number: s.number}
		s.text, row.Reason = appendBSONLine(s.text[:0], d, s.relaxed)
		row.Text = s.text
		return row, nil
	}
}

func (s *archiveSource) Read() (done, total int64) { return s.file.progress() }
func (s *archiveSource) Close() error              { return s.file.close() }

// An archiveWriter writes an archive with one collection after the other.
type archiveWriter struct {
	out io.Writer
	sum hash.Hash64
	buf []byte
}

// newArchiveWriter writes the head of an archive. version is the writer's own.
func newArchiveWriter(out io.Writer, version string, namespaces []Namespace) (*archiveWriter, error) {
	b := binary.LittleEndian.AppendUint32(nil, archiveMagic)
	w := doc.NewWriter(b)
	w.Int32("concurrent_collections", 1)
	w.String("version", archiveVersion)
	w.String("server_version", archiveServer)
	w.String("tool_version", "mayfly "+version)
	b = w.End()
	for _, n := range namespaces {
		w := doc.NewWriter(b)
		w.String("db", n.Database)
		w.String("collection", n.Collection)
		w.String("metadata", n.Metadata)
		w.Int32("size", 0)
		w.String("type", "collection")
		b = w.End()
	}
	b = binary.LittleEndian.AppendUint32(b, archiveEnd)
	_, err := out.Write(b)
	return &archiveWriter{out: out}, err
}

// archiveServer is the version of MongoDB whose documents and indexes mayfly has; mongorestore parses it.
const archiveServer = "7.0.0"

// begin begins the documents of a collection.
func (w *archiveWriter) begin(n Namespace) error {
	w.sum = crc64.New(archiveCRC)
	return w.head(n, false)
}

func (w *archiveWriter) head(n Namespace, last bool) error {
	d := doc.NewWriter(w.buf[:0])
	d.String("db", n.Database)
	d.String("collection", n.Collection)
	d.Bool("EOF", last)
	crc := int64(0)
	if last {
		crc = int64(w.sum.Sum64())
	}
	d.Int64("CRC", crc)
	w.buf = d.End()
	_, err := w.out.Write(w.buf)
	return err
}

func (w *archiveWriter) write(d doc.Doc) error {
	_, _ = w.sum.Write(d)
	_, err := w.out.Write(d)
	return err
}

// end ends the documents of a collection.
func (w *archiveWriter) end(n Namespace) error {
	terminator := binary.LittleEndian.AppendUint32(nil, archiveEnd)
	if _, err := w.out.Write(terminator); err != nil {
		return err
	}
	if err := w.head(n, true); err != nil {
		return err
	}
	_, err := w.out.Write(terminator)
	return err
}
