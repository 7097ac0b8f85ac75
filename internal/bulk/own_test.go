package bulk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/transfer"
)

// Documents may have members with the names that lines use for positions and stamps. They go in, out, and in again.
const (
	ownItems = `{"$position":"1.1","done":true,"id":"9","_ts":999990}
{"id":"1","pk":"a","$position":"x","$ts":999980,"_ts":999991}
{"id":"2","pk":"a","$ts":"text","$$ts":1,"_ts":999992}
`
	ownDocuments = `{"_id":{"$numberInt":"1"},"$position":"1.1","done":true,"$ts":999990}
{"_id":{"$numberInt":"2"},"$$ts":{"$numberInt":"5"},"_ts":{"$numberInt":"7"},"$ts":999991}
{"_id":{"$numberInt":"3"},"$$ts":"text","$$$ts":"more","z":{"$ts":{"$numberInt":"1"}},"$ts":999992}
`
)

func TestMembersWithReservedNames(t *testing.T) {
	for container, lines := range map[string]string{"items": ownItems, "documents": ownDocuments} {
		for _, format := range transfer.Formats {
			t.Run(fmt.Sprint(container, "-", format), func(t *testing.T) {
				w, again := newWorld(t), newWorld(t)
				done, err := w.do(container, lines, "stamps=keep")
				w.ok(err)
				if done.Lines != 3 || done.Written != 3 {
					t.Fatalf("%+v, want all written", done)
				}
				got, err := w.export(container, "positions=no")
				w.ok(err)
				if got != lines {
					t.Fatalf("exported %s", got)
				}
				out := filepath.Join(t.TempDir(), "out")
				to := transfer.ExportOptions{
					Format: format, Namespace: transfer.Namespace{Database: "d", Collection: "c"},
				}
				exported, err := transfer.Export(t.Context(), &near{w: w, container: container}, out, nil, to)
				w.ok(err)
				if exported.Rows != 3 {
					t.Fatalf("%+v, want 3 rows", exported)
				}
				o := transfer.SourceOptions{Format: format, Relaxed: container == "items"}
				way := transfer.Way{Stamps: transfer.NewStamps, OnConflict: transfer.RejectExisting}
				_, err = transfer.Import(t.Context(), opened(out, o), &near{w: again, container: container},
					transfer.ImportOptions{Way: way})
				w.ok(err)
				if got, err = again.export(container, "positions=no"); err != nil {
					t.Fatal(err)
				}
				want := lines
				for _, stamp := range []string{"999990", "999991", "999992"} {
					want = strings.ReplaceAll(want, "ts\":"+stamp+"}", "ts\":1000000}")
				}
				if format == transfer.CSV {
					got, want = ordered(t, got), ordered(t, want)
				}
				if got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

// TestOrderOfItemsWithTheStampOfMongoDB imports items by _ts, although they have a $ts of their own.
func TestOrderOfItemsWithTheStampOfMongoDB(t *testing.T) {
	w := newWorld(t)
	path := w.write("in.jsonl", "{\"id\":\"b\",\"$ts\":1,\"_ts\":999990}\n{\"id\":\"a\",\"$ts\":2,\"_ts\":999980}\n")
	done, err := transfer.Import(t.Context(), opened(path, transfer.SourceOptions{}), &near{w: w, container: "items"},
		transfer.ImportOptions{Way: keepAndSkip, StampMember: transfer.ItemStamp})
	w.ok(err)
	if done.Written != 2 {
		t.Errorf("%+v, want both written", done)
	}
}

// TestStampsOfOtherPrograms imports lines whose $ts is no stamp.
func TestStampsOfOtherPrograms(t *testing.T) {
	w := newWorld(t)
	done, err := w.do("documents", `{"_id":1,"$ts":999980}
{"_id":2,"$ts":"text"}
{"_id":3,"$ts":{"$date":"2024-01-01T00:00:00Z"}}
{"_id":4,"$ts":"text","$$ts":1}
{"$position":"1.2","done":true}
{"$position":"1.2","done":false,"_id":5}
{"$position":"1.2", "done":true}
`)
	w.ok(err)
	if done.Lines != 6 || done.Written != 4 || done.Rejected != 2 {
		t.Errorf("%+v, want lines 4 and 7 rejected", done)
	}
	got, err := w.export("documents", "positions=no", "stamps=no", "format=relaxed")
	w.ok(err)
	want := `{"_id":1}
{"_id":2,"$$ts":"text"}
{"_id":3,"$$ts":{"$date":"2024-01-01T00:00:00Z"}}
{"_id":5,"$position":"1.2","done":false}
`
	if got != want {
		t.Errorf("exported %s, want %s", got, want)
	}
}

// TestPositionOfADocument exports with a checkpoint, and does not take a document for a position.
func TestPositionOfADocument(t *testing.T) {
	w := newWorld(t)
	_, err := w.do("items", ownItems, "stamps=keep")
	w.ok(err)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	_, err = transfer.Export(t.Context(), &near{w: w, container: "items"}, out, nil,
		transfer.ExportOptions{Format: transfer.JSONLines, Checkpoint: out + ".checkpoint"})
	w.ok(err)
	if text, err := os.ReadFile(out); err != nil || string(text) != ownItems {
		t.Errorf("exported %s, %v", text, err)
	}
}
