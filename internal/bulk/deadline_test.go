package bulk_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/bulk"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// A wire gets an export, and asks each line whether its document lives at the time when the line is sent.
type wire struct {
	bytes.Buffer
	unsent int // bytes that are in a buffer of the server
}

func (w *wire) Write(p []byte) (int, error) {
	w.unsent += len(p)
	return w.Buffer.Write(p)
}

func (w *wire) Flush() error {
	w.unsent = 0
	return nil
}

// dated makes a collection of MongoDB whose documents end a second after their date.
func (w *world) dated() {
	w.Helper()
	w.create(catalog.Definition{Name: "dated", Dialect: catalog.Mongo})
	c, err := w.catalog.Container(w.db, "dated")
	w.ok(err)
	_, err = w.catalog.ReplaceIndexes(w.Context(), w.now, c, func(*catalog.State) ([]catalog.NamedIndex, error) {
		return []catalog.NamedIndex{{
			Name: "at_1", Columns: []catalog.NamedColumn{{Path: "at"}}, Expires: true, Seconds: 1,
		}}, nil
	})
	w.ok(err)
}

// TestExportAfterALongScan lets time pass between the look at a document and the end of the scan, as where many dead
// documents follow it: its line is not sent after its deadline.
func TestExportAfterALongScan(t *testing.T) {
	for _, c := range []struct{ name, container, lines, want string }{
		{"items", "items", `{"id":"short","ttl":10}
{"id":"long"}
{"id":"short too","ttl":9}
`, `{"id":"long","_ts":1000000}
`},
		{"a date in the document", "dated",
			`{"_id":1,"at":{"$date":{"$numberLong":"1000004000"}}}
{"_id":2,"at":{"$date":{"$numberLong":"1000900000"}}}
`, `{"_id":{"$numberInt":"2"},"at":{"$date":{"$numberLong":"1000900000"}},"$ts":1000000}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.dated()
			_, err := w.do(c.container, c.lines)
			w.ok(err)
			at := w.now
			slow := bulk.New(w.catalog, w.store, budget.New(budget.Options{}), func() expiry.Stamp {
				now := at
				at += 10 // the next time that somebody asks, as much has passed
				return now
			})
			var out wire
			w.ok(slow.Export(t.Context(), "d", c.container, map[string][]string{"positions": {"no"}}, &out))
			if out.String() != c.want {
				t.Errorf("exported %s, want %s", out.String(), c.want)
			}
		})
	}
}

// TestExportLeavesNothingInABuffer exports more than one part: no line of a part waits for the next one.
func TestExportLeavesNothingInABuffer(t *testing.T) {
	w := newWorld(t)
	var lines strings.Builder
	for i := range 300 {
		fmt.Fprintf(&lines, "{\"id\":\"%d\",\"text\":\"%s\"}\n", i, strings.Repeat("x", 1000))
	}
	_, err := w.do("items", lines.String())
	w.ok(err)
	var out wire
	most := 0
	counted := bulk.New(w.catalog, w.store, budget.New(budget.Options{}), func() expiry.Stamp {
		most = max(most, out.unsent)
		return w.now
	})
	w.ok(counted.Export(t.Context(), "d", "items", nil, &out))
	if most > 0 || out.unsent > 0 {
		t.Errorf("%d bytes wait while the scan goes on, %d at its end", most, out.unsent)
	}
	if got := strings.Count(out.String(), `"id"`); got != 300 {
		t.Errorf("%d lines, want 300", got)
	}
}
