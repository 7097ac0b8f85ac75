package transfer

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
)

// inOrder gives a way to open a source in the order of stamps. A source that is in that order is read as it is. Any
// other one is read by an index of its documents, 32 bytes for each, in memory; its documents are copied to a temporary
// file, unless they are lines of an uncompressed file. Documents without a stamp come first; the server rejects them.
//
// member is the one that carries stamps, empty for `$ts` if a document has that, else `_ts`.
func inOrder(
	ctx context.Context, open func() (Source, error), member string, progress Progress,
) (func() (Source, error), error) {
	sorted, err := isSorted(ctx, open, member, progress)
	if err != nil || sorted {
		return open, err
	}
	return func() (Source, error) { return newSorted(ctx, open, member, progress) }, nil
}

// eachRow calls take with all documents of a source.
func eachRow(
	ctx context.Context, open func() (Source, error), progress Progress, take func(*Row) (goOn bool, err error),
) (err error) {
	s, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for n := int64(0); ; n++ {
		if n%chunkRows == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if progress != nil {
				done, total := s.Read()
				progress.Update(Status{Bytes: done, Total: total, Rows: n, Sorting: true})
			}
		}
		row, err := s.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if goOn, err := take(&row); err != nil || !goOn {
			return err
		}
	}
}

func isSorted(
	ctx context.Context, open func() (Source, error), member string, progress Progress,
) (sorted bool, err error) {
	last := int64(0)
	sorted = true
	err = eachRow(ctx, open, progress, func(row *Row) (bool, error) {
		stamp := stampIn(row, member)
		sorted = stamp == 0 || stamp >= last
		last = max(last, stamp)
		return sorted, nil
	})
	return sorted, err
}

// stampIn is the stamp of a document, 0 if it has none.
func stampIn(row *Row, member string) int64 {
	if row.Reason != "" {
		return 0
	}
	d, err := doc.FromJSON(nil, row.Text, doc.ParseOptions{MaxBytes: MaxLine})
	if err != nil {
		return 0
	}
	if member == "" {
		if member = StampMember; doc.IsUndefined(doc.Lookup(d, member)) {
			member = ItemStamp
		}
	}
	v := doc.Lookup(d, member)
	if inner, ok := doc.AsDoc(v); ok && member == StampMember {
		if d, err := doc.FromExtended(doc.Single(member, doc.Object(inner))); err == nil {
			v = doc.Lookup(d, member)
		}
	}
	stamp, _ := doc.AsInt(v)
	return max(stamp, 0)
}

// A place is where a document is.
type place struct {
	stamp, number, offset int64
	size                  int32
	unread                bool // it has a reason instead
}

// A sortedSource gives the documents of another one in the order of stamps.
type sortedSource struct {
	member  string // that carries stamps
	places  []place
	reasons map[int64]Row // by number
	at      int
	from    io.ReaderAt
	closers []func() error
	text    []byte
	total   int64
}

func newSorted(
	ctx context.Context, open func() (Source, error), member string, progress Progress,
) (Source, error) {
	s := &sortedSource{member: member, reasons: map[int64]Row{}}
	inPlace, err := fileOf(open)
	if err != nil {
		return nil, err
	}
	if inPlace != nil {
		s.from, s.closers = inPlace, append(s.closers, inPlace.Close)
		err = s.index(ctx, open, progress, func(row *Row) (int64, error) { return row.Offset, nil })
	} else {
		err = s.spool(ctx, open, progress)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	slices.SortFunc(s.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.stamp, b.stamp), cmp.Compare(a.number, b.number))
	})
	return s, nil
}

// fileOf opens the file whose lines a source gives as they are, nil if it is another one.
func fileOf(open func() (Source, error)) (*os.File, error) {
	s, err := open()
	if err != nil {
		return nil, err
	}
	lines, ok := s.(*lineSource)
	var f *os.File
	if ok && !lines.file.packed {
		f, err = os.Open(lines.file.f.Name())
	}
	return f, errors.Join(err, s.Close())
}

func (s *sortedSource) index(
	ctx context.Context, open func() (Source, error), progress Progress, where func(*Row) (int64, error),
) error {
	return eachRow(ctx, open, progress, func(row *Row) (bool, error) {
		offset, err := where(row)
		s.places = append(s.places, place{
			stamp: stampIn(row, s.member), number: row.Number, offset: offset, size: int32(len(row.Text)),
			unread: row.Reason != "",
		})
		if row.Reason != "" {
			s.reasons[row.Number] = Row{Number: row.Number, Reason: row.Reason, Text: slices.Clone(row.Text)}
		}
		s.total += int64(len(row.Text))
		return true, err
	})
}

// spool copies the documents to a temporary file, which Close removes.
func (s *sortedSource) spool(ctx context.Context, open func() (Source, error), progress Progress) error {
	f, err := os.CreateTemp("", "mayfly-import-*")
	if err != nil {
		return err
	}
	s.from = f
	s.closers = append(s.closers, f.Close, func() error { return os.Remove(f.Name()) })
	out := bufio.NewWriterSize(f, 256<<10)
	at := int64(0)
	err = s.index(ctx, open, progress, func(row *Row) (int64, error) {
		offset := at
		at += int64(len(row.Text))
		_, err := out.Write(row.Text)
		return offset, err
	})
	return errors.Join(err, out.Flush())
}

func (s *sortedSource) Next() (Row, error) {
	if s.at == len(s.places) {
		return Row{}, io.EOF
	}
	p := s.places[s.at]
	s.at++
	if p.unread {
		return s.reasons[p.number], nil
	}
	s.text = slices.Grow(s.text[:0], int(p.size))[:p.size]
	if _, err := s.from.ReadAt(s.text, p.offset); err != nil {
		return Row{}, fmt.Errorf("document %d: %w", p.number, cut(err))
	}
	return Row{Number: p.number, Text: s.text}, nil
}

func (s *sortedSource) Read() (done, total int64) {
	if len(s.places) == 0 {
		return 0, 0
	}
	return s.total / int64(len(s.places)) * int64(s.at), s.total
}

func (s *sortedSource) Close() error {
	var err error
	for _, closer := range s.closers {
		err = errors.Join(err, closer())
	}
	return err
}
