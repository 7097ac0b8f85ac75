package command_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/command"
)

var rewriteErrors = flag.Bool("rewrite-errors", false, "put what is answered now into docs/mongo-errors.md")

// An errorRow is a line of a table in docs/mongo-errors.md: code and name, text, command, source.
type errorRow struct{ code, text, command, source string }

// readErrorRow reads a line; not ok: it is no such row.
func readErrorRow(line string) (r errorRow, ok bool) {
	cells := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "\x01"), "|"), " | ")
	if !strings.HasPrefix(line, "| ") || len(cells) != 4 || strings.HasPrefix(line, "| code") {
		return r, false
	}
	for i, cell := range []*string{&r.code, &r.text, &r.command, &r.source} {
		*cell = strings.Trim(strings.TrimSpace(strings.ReplaceAll(cells[i], "\x01", "|")), "`")
	}
	return r, true
}

func (r errorRow) String() string {
	escape := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	return fmt.Sprintf("| %s | `%s` | `%s` | %s |", r.code, escape(r.text), escape(r.command), r.source)
}

// TestErrorsPage sends the command of each row of docs/mongo-errors.md and compares code, name and text. "use x; {…}"
// sends it to another database, "stand-alone; {…}" to a server that is no replica set. An error of a write has no name.
func TestErrorsPage(t *testing.T) {
	const file = "../../../docs/mongo-errors.md"
	page, err := os.ReadFile(file)
	must(t, err)
	d, alone := newServer(t, func(o *command.Options) { o.ReplSet = "rs" }), newServer(t, nil)
	for _, given := range []string{
		`{insert: 'c', documents: [{_id: 1, a: 1, s: 'x', l: [1, 2], o: {p: 1}, n: {$numberLong: '9223372036854775807'}}, {_id: 2, a: 2}]}`,
		`{createIndexes: 'c', indexes: [{key: {a: 1}, name: 'a_1', unique: true}]}`,
		`{create: 'v', viewOn: 'c', pipeline: []}`,
		`{create: 'strict', validator: {a: {$type: 'string'}}}`,
	} {
		_, err := d.run(document(t, given))
		must(t, err)
	}
	lines, rows := strings.Split(string(page), "\n"), 0
	for i, line := range lines {
		row, ok := readErrorRow(line)
		if !ok {
			continue
		}
		rows++
		got := row
		if cmd, ok := strings.CutPrefix(row.command, "stand-alone; "); ok {
			got.code, got.text = alone.provoke(t, cmd)
		} else {
			got.code, got.text = d.provoke(t, row.command)
		}
		lines[i] = got.String()
		if got != row && !*rewriteErrors {
			t.Errorf("docs/mongo-errors.md:%d\n%s\nis answered\n%s %s", i+1, line, got.code, got.text)
		}
	}
	if rows < 100 {
		t.Errorf("%d rows", rows)
	}
	if *rewriteErrors {
		must(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644))
	}
}

// provoke runs a command and gives the error that it answers with: code with name, and text.
func (d *testServer) provoke(t *testing.T, text string) (code, message string) {
	t.Helper()
	db := "test"
	if rest, ok := strings.CutPrefix(text, "use "); ok {
		db, text, _ = strings.Cut(rest, "; ")
	}
	answer := doc.Doc(answerTo(t, d.Database(db), document(t, text)))
	if list := doc.Lookup(answer, "writeErrors"); list.Type != 0 {
		for e := range doc.Elements(list) {
			answer = doc.Doc(e.Data)
			break
		}
	}
	number, _ := doc.AsInt64Exact(doc.Lookup(answer, "code"))
	name, _ := doc.AsString(doc.Lookup(answer, "codeName"))
	message, _ = doc.AsString(doc.Lookup(answer, "errmsg"))
	return strings.TrimSpace(fmt.Sprint(number, " ", name)), message
}
