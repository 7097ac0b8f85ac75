package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/terminal"
)

// rowOutput holds the flags of how rows are printed.
type rowOutput struct {
	format string
	most   int
}

// pageRows is how many rows are requested at once: more than a screen.
const pageRows = 100

func (o *rowOutput) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.format, "format", "table", "table, jsonl or csv; --json is the same as jsonl")
	cmd.Flags().IntVar(&o.most, "max", 0, "print at most so many rows; 0 prints all")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions( // it has the flag
		[]string{"table", "jsonl", "csv"}, cobra.ShellCompDirectiveNoFileComp))
}

// page is how many rows to request at once.
func (o *rowOutput) page() int {
	if o.most > 0 && o.most < pageRows {
		return o.most
	}
	return pageRows
}

// A rowWriter writes pages of rows in one format.
type rowWriter interface {
	write(rows []row) error
	end() error
}

// print writes the rows of pages, which it requests as they are read.
func (o *rowOutput) print(s *session, pages iter.Seq2[[]json.RawMessage, error]) error {
	if s.json {
		o.format = "jsonl"
	}
	if !slices.Contains([]string{"table", "jsonl", "csv"}, o.format) {
		return usage{fmt.Errorf("--format: %q is not table, jsonl or csv", o.format)}
	}
	if o.most < 0 {
		return usage{fmt.Errorf("--max: %d is less than 0", o.most)}
	}
	pager, _ := s.c.getenv("PAGER")
	var last error
	err := s.screen.Page(pager, func(screen terminal.Screen) error {
		w := o.writer(s, screen)
		if last = o.copy(w, pages); last != nil {
			return nil // a failure of the server is no failure of the pager
		}
		return w.end()
	})
	if last != nil && !terminal.Left(last) {
		return last
	}
	return err
}

func (o *rowOutput) writer(s *session, screen terminal.Screen) rowWriter {
	switch o.format {
	case "jsonl":
		return &jsonRows{screen.Out}
	case "csv":
		return &csvRows{w: csv.NewWriter(screen.Out)}
	}
	return &tableRows{screen: screen, notes: s.c.err}
}

func (o *rowOutput) copy(w rowWriter, pages iter.Seq2[[]json.RawMessage, error]) error {
	left := o.most
	for page, err := range pages {
		if err != nil {
			return err
		}
		if o.most > 0 {
			page = page[:min(len(page), left)]
			left -= len(page)
		}
		rows := make([]row, len(page))
		for i, text := range page {
			rows[i] = rowOf(text)
		}
		if len(rows) > 0 {
			if err := w.write(rows); err != nil {
				return err
			}
		}
		if o.most > 0 && left == 0 {
			return nil
		}
	}
	return nil
}

// A row is a value of an answer. If it is an object, it has members.
type row struct {
	text  json.RawMessage
	names []string
	cells map[string]json.RawMessage
}

// valueColumn is the column of a row that is no object.
const valueColumn = "value"

func rowOf(text json.RawMessage) row {
	r := row{text: text, cells: map[string]json.RawMessage{}}
	in := json.NewDecoder(bytes.NewReader(text))
	if start, err := in.Token(); err != nil || start != json.Delim('{') {
		return row{text, []string{valueColumn}, map[string]json.RawMessage{valueColumn: text}}
	}
	for in.More() {
		name, err := in.Token()
		var value json.RawMessage
		if err != nil || in.Decode(&value) != nil {
			break // the text was part of valid JSON
		}
		key, _ := name.(string)
		if _, twice := r.cells[key]; !twice {
			r.names = append(r.names, key)
		}
		r.cells[key] = value
	}
	return r
}

// cell writes a value for a person: texts without quotes, and the common values of extended JSON without their frames.
func cell(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && bytes.HasPrefix(value, []byte(`"`)) {
		return text
	}
	if framed := rowOfFrame(value); framed != nil {
		return cell(framed)
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value)
	}
	return b.String()
}

// rowOfFrame is the value in {"$oid": value} and the like, nil for others.
func rowOfFrame(value json.RawMessage) json.RawMessage {
	if !bytes.HasPrefix(value, []byte(`{"$`)) {
		return nil
	}
	var frame map[string]json.RawMessage
	if json.Unmarshal(value, &frame) != nil || len(frame) != 1 {
		return nil
	}
	for _, name := range []string{"$oid", "$date", "$numberDecimal", "$numberLong", "$numberDouble", "$symbol"} {
		if frame[name] != nil {
			return frame[name]
		}
	}
	return nil
}

// jsonRows writes one row per line.
type jsonRows struct{ out io.Writer }

func (j *jsonRows) write(rows []row) error {
	var b bytes.Buffer
	for _, r := range rows {
		if err := json.Compact(&b, r.text); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	_, err := j.out.Write(b.Bytes())
	return err
}

func (j *jsonRows) end() error { return nil }

// columnsOf are the names of all members, in the order in which they first appear.
func columnsOf(rows []row) (names []string) {
	seen := map[string]bool{}
	for _, r := range rows {
		for _, name := range r.names {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// csvRows writes CSV (RFC 4180). The first page decides the columns: a later row with another member is an error, so
// that nothing is left out silently.
type csvRows struct {
	w       *csv.Writer
	columns []string
	count   int
}

func (c *csvRows) write(rows []row) error {
	if c.columns == nil {
		c.columns = columnsOf(rows)
		if err := c.w.Write(c.columns); err != nil {
			return err
		}
	}
	for _, r := range rows {
		c.count++
		for _, name := range r.names {
			if !slices.Contains(c.columns, name) {
				return fmt.Errorf("row %d has the member %q, which no row of the first page has: name the members in "+
					"the query, or use --format jsonl", c.count, terminal.Plain(name))
			}
		}
		cells := make([]string, len(c.columns))
		for i, name := range c.columns {
			if value := r.cells[name]; value != nil {
				cells[i] = cell(value)
			}
		}
		if err := c.w.Write(cells); err != nil {
			return err
		}
	}
	c.w.Flush()
	return c.w.Error()
}

func (c *csvRows) end() error { return nil }

// tableRows writes a table that fits the screen. The first page decides the columns.
type tableRows struct {
	screen  terminal.Screen
	notes   io.Writer
	table   *terminal.Table
	columns []string
	left    []string // names of members that are not shown
}

// serviceMembers are members that the service adds to each item, and that would fill the screen.
var serviceMembers = []string{"_rid", "_self", "_etag", "_attachments"}

func (t *tableRows) write(rows []row) error {
	if t.table == nil {
		t.columns = columnsOf(rows)
		if !slices.Equal(t.columns, serviceMembers) {
			t.columns = slices.DeleteFunc(t.columns, func(name string) bool {
				return slices.Contains(serviceMembers, name)
			})
		}
		if len(t.columns) == 0 {
			t.columns = []string{valueColumn} // rows of {}
		}
		columns := make([]terminal.Column, len(t.columns))
		for i, name := range t.columns {
			columns[i] = terminal.Column{Name: name, Right: allNumbers(rows, name)}
		}
		t.table = t.screen.Table(columns)
	}
	lines := make([][]string, len(rows))
	for i, r := range rows {
		lines[i] = make([]string, len(t.columns))
		for j, name := range t.columns {
			if value := r.cells[name]; value != nil {
				lines[i][j] = cell(value)
			}
		}
		for _, name := range r.names {
			if !slices.Contains(t.columns, name) && !slices.Contains(serviceMembers, name) &&
				!slices.Contains(t.left, name) {
				t.left = append(t.left, name)
			}
		}
	}
	return t.table.Write(lines)
}

func (t *tableRows) end() error {
	switch {
	case t.table == nil:
		_, err := fmt.Fprintln(t.screen.Out, "no rows")
		return err
	case len(t.left) > 0:
		fmt.Fprintf(t.notes, "mayfly: members that only later rows have are not shown: %s; --format jsonl shows all\n",
			terminal.Plain(strings.Join(t.left[:min(len(t.left), 5)], ", ")))
	}
	return nil
}

// allNumbers reports whether a column has numbers alone.
func allNumbers(rows []row, name string) bool {
	some := false
	for _, r := range rows {
		value := bytes.TrimSpace(r.cells[name])
		if len(value) == 0 {
			continue
		}
		if c := value[0]; c != '-' && (c < '0' || c > '9') {
			return false
		}
		some = true
	}
	return some
}
