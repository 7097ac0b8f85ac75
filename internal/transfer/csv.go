package transfer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/doc"
)

// The first record of a CSV file names the members. A cell is
//
//   - nothing, if it is empty: the member is left out;
//   - a number, true, false, null, an object or an array, if it is one in JSON: 7, but not 007;
//   - a string, if it is a string in JSON, in quotes of its own: "7" or "", which a cell has as """7""" and """""";
//   - itself otherwise, a string.
//
// So every value has a cell, and each cell one value. The types that JSON does not have are objects of extended JSON.

// A csvSource reads CSV (RFC 4180).
type csvSource struct {
	file   *file
	in     *csv.Reader
	names  [][]byte // as JSON strings
	number int64    // of records, the header not counted
	text   []byte
}

func newCSVSource(f *file) (Source, error) {
	s := &csvSource{file: f, in: csv.NewReader(f)}
	s.in.ReuseRecord = true
	header, err := s.in.Read()
	if err != nil {
		return nil, fmt.Errorf("the header cannot be read: %w", cut(err))
	}
	seen := map[string]bool{}
	for i, name := range header {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff")
		}
		if name == "" || seen[name] {
			return nil, fmt.Errorf("column %d has the name %q: each needs a name of its own", i+1, name)
		}
		seen[name] = true
		s.names = append(s.names, doc.AppendJSONString(nil, name))
	}
	return s, nil
}

func (s *csvSource) Next() (Row, error) {
	record, err := s.in.Read()
	var wrong *csv.ParseError
	switch {
	case errors.As(err, &wrong):
		s.number++
		return Row{Number: s.number, Reason: wrong.Error(), Text: []byte(strings.Join(record, ","))}, nil
	case err != nil:
		return Row{}, err
	}
	s.number++
	s.text = append(s.text[:0], '{')
	for i, cell := range record {
		if cell == "" {
			continue
		}
		if len(s.text) > 1 {
			s.text = append(s.text, ',')
		}
		s.text = append(append(s.text, s.names[i]...), ':')
		s.text = appendCell(s.text, cell)
	}
	s.text = append(s.text, '}')
	return Row{Number: s.number, Text: s.text}, nil
}

// appendCell appends the JSON of a cell that is not empty.
func appendCell(dst []byte, cell string) []byte {
	if isJSON(cell) {
		start := len(dst)
		dst = append(dst, cell...)
		for i, c := range dst[start:] { // line breaks outside of strings; inside, JSON has none
			if c == '\n' || c == '\r' {
				dst[start+i] = ' '
			}
		}
		return dst
	}
	return doc.AppendJSONString(dst, cell)
}

// isJSON reports whether a cell is a value in JSON.
func isJSON(cell string) bool {
	if strings.IndexByte(`{["-0123456789tfn`, cell[0]) < 0 {
		return false
	}
	_, err := doc.ValueFromJSON([]byte(cell))
	return err == nil
}

func (s *csvSource) Read() (done, total int64) { return s.file.progress() }
func (s *csvSource) Close() error              { return s.file.close() }

// A csvWriter writes lines of JSON as CSV with these columns.
type csvWriter struct {
	out     *csv.Writer
	columns map[string]int
	record  []string
}

func newCSVWriter(out io.Writer, columns []string, header bool) (*csvWriter, error) {
	w := &csvWriter{out: csv.NewWriter(out), columns: map[string]int{}, record: make([]string, len(columns))}
	for i, name := range columns {
		w.columns[name] = i
	}
	if header {
		if err := w.out.Write(columns); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// write writes one document. Members that have no column are left out.
func (w *csvWriter) write(line []byte) error {
	d, err := doc.FromJSON(nil, line, doc.ParseOptions{MaxBytes: MaxLine})
	if err != nil {
		return err
	}
	clear(w.record)
	for name, v := range doc.Members(d) {
		if i, ok := w.columns[name]; ok {
			w.record[i] = cellOf(v)
		}
	}
	return w.out.Write(w.record)
}

func (w *csvWriter) flush() error {
	w.out.Flush()
	return w.out.Error()
}

// cellOf is the cell that reads back as a value.
func cellOf(v doc.Value) string {
	if text, ok := doc.AsString(v); ok && text != "" && !isJSON(text) && !strings.ContainsRune(text, '\r') &&
		utf8.ValidString(text) {
		return strings.Clone(text)
	}
	return string(doc.AppendJSONValue(nil, v))
}
