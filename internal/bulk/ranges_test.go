package bulk_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

var positionLine = regexp.MustCompile(`\{"\$position":"([^"]+)","done":(true|false)\}\n`)

// TestExportOverRanges takes a container of several ranges out, from the beginning and from each place on the way, and
// in again with its stamps, into one range and into several.
func TestExportOverRanges(t *testing.T) {
	w := newWorld(t)
	for name, n := range map[string]int{"four": 4, "also": 4, "one": 1} {
		w.create(catalog.Definition{
			Name: name, TTL: -1, Partition: catalog.PartitionKey{Paths: []string{"/pk"}, Version: 2}, Partitions: n,
		})
	}
	const items = 2_500
	var in strings.Builder
	for i := range items {
		fmt.Fprintf(&in, `{"id":"%d","pk":"p%d","_ts":%d}`+"\n", i, i%13, 900_000+i/9)
	}
	done, err := w.do("four", in.String(), "stamps=keep")
	w.ok(err)
	if done.Written != items {
		t.Fatalf("%+v", done)
	}
	whole, err := w.export("four")
	w.ok(err)
	lines := positionLine.ReplaceAllString(whole, "")
	if n := strings.Count(lines, "\n"); n != items {
		t.Fatalf("%d lines, want %d", n, items)
	}
	at := positionLine.FindAllStringSubmatchIndex(whole, -1)
	if len(at) < 3 {
		t.Fatalf("%d positions", len(at))
	}
	for _, m := range at {
		position := whole[m[2]:m[3]]
		rest, err := w.export("four", "after="+position, "positions=no")
		w.ok(err)
		if want := positionLine.ReplaceAllString(whole[m[1]:], ""); rest != want {
			t.Errorf("behind %s come %d lines, want %d", position, strings.Count(rest, "\n"), strings.Count(want, "\n"))
		}
	}
	for _, target := range []string{"one", "also"} {
		done, err := w.do(target, whole, "stamps=keep")
		w.ok(err)
		if done.Written != items {
			t.Errorf("into %s: %+v", target, done)
		}
		again, err := w.export(target, "positions=no")
		w.ok(err)
		if target == "also" && again != lines {
			t.Errorf("%s has other items, or has them in another order", target)
		}
		if n := strings.Count(again, "\n"); n != items {
			t.Errorf("%s has %d items", target, n)
		}
	}
	_, err = w.export("one", "after="+regexp.MustCompile(`^\d+`).ReplaceAllString(whole[at[0][2]:at[0][3]], "5"))
	if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.Precondition {
		t.Errorf("a position of several ranges in a container of one: %v", err)
	}
}
