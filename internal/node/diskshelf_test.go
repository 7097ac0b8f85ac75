package node

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A switch to a loaded snapshot has happened, or has not, whatever error the disk gives.
func TestSwitchOnAFailingDisk(t *testing.T) {
	failed := errors.New("the disk fails")
	for _, renamed := range []bool{true, false} {
		dir := t.TempDir()
		n := startOn(t, dir, noon)
		makeContainer(t, n, "")
		if _, err := n.Save(t.Context(), "start"); err != nil {
			t.Fatal(err)
		}
		n.shelf.(*diskShelf).write = func(path string, content []byte) error {
			if renamed {
				return errors.Join(failed, writeFile(path, content))
			}
			return failed
		}
		if _, err := n.Load(t.Context(), "start"); (err == nil) != renamed {
			t.Errorf("renamed %v: %v", renamed, err)
		}
		put(t, n, "acknowledged", "")
		if _, err := os.Stat(filepath.Join(EngineDir(dir), abandonedFile)); err == nil {
			t.Errorf("renamed %v: the folder in use is marked", renamed)
		}
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !has(t, startOn(t, dir, noon), "acknowledged") {
			t.Errorf("renamed %v: an acknowledged item is lost", renamed)
		}
	}
}

func TestCheckEngineDir(t *testing.T) {
	dir := t.TempDir()
	if err := CheckEngineDir(dir); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, currentFile), []byte("db.7"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckEngineDir(dir); err == nil || !strings.Contains(err.Error(), `"db.7", which does not exist`) {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "db.7"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := CheckEngineDir(dir); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, currentFile)); err != nil {
		t.Fatal(err)
	}
	if err := CheckEngineDir(dir); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Error("the file that names db.7 is lost:", err)
	}
}

// After a load, no document gets a number, and so a _rid, that was given out before.
func TestLoadRepeatsNoNumber(t *testing.T) {
	n := startOn(t, "", noon)
	makeContainer(t, n, "")
	rid := func(id string) string {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://localhost/dbs/d/colls/c/docs/"+id, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("x-ms-documentdb-partitionkey", `["`+id+`"]`)
		response, err := n.local.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		var item struct {
			RID string `json:"_rid"`
		}
		if err := json.NewDecoder(response.Body).Decode(&item); err != nil || item.RID == "" {
			t.Fatal(item, err)
		}
		return item.RID
	}
	if _, err := n.Save(t.Context(), "start"); err != nil {
		t.Fatal(err)
	}
	put(t, n, "a", "")
	before := rid("a")
	if _, err := n.Load(t.Context(), "start"); err != nil {
		t.Fatal(err)
	}
	put(t, n, "b", "")
	if after := rid("b"); after == before {
		t.Errorf("_rid %s comes twice", after)
	}
}

// A snapshot that cannot be read is in nobody's way, and can be deleted; what a crash has left goes at the start.
func TestStrayFolders(t *testing.T) {
	dir := t.TempDir()
	for _, stray := range []string{"snapshots/stray", "db.8", "db.9", "db.x"} {
		if err := os.MkdirAll(filepath.Join(dir, stray), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "db.9", preparedFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n := startOn(t, dir, noon)
	makeContainer(t, n, "")
	if _, err := n.Save(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	if all, err := n.Snapshots(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	for _, name := range []string{"good", "stray"} {
		if err := n.DeleteSnapshot(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if err := n.DeleteSnapshot(t.Context(), "good"); err == nil {
		t.Error("a snapshot was deleted twice")
	}
	if _, err := os.Stat(filepath.Join(dir, "db.9")); err == nil {
		t.Error("an engine that nothing uses is left")
	}
	for _, kept := range []string{"db.8", "db.x"} { // an operator's copies
		if _, err := os.Stat(filepath.Join(dir, kept)); err != nil {
			t.Error("a folder without a mark is gone:", kept)
		}
	}
}

// Snapshots in memory stay within the memory that the node may use.
func TestSnapshotsInMemoryAreBounded(t *testing.T) {
	n := startOn(t, "", noon)
	makeContainer(t, n, "")
	if _, err := n.Save(t.Context(), "fits"); err != nil {
		t.Fatal(err)
	}
	n.options.Memory = 1
	if _, err := n.Save(t.Context(), "second"); fault.KindOf(err) != fault.OutOfSpace {
		t.Errorf("with a limit of one byte: %v", err)
	}
}

// What is in the folder of the snapshots and is none is named when a snapshot would have its name.
func TestSaveWhereSomethingElseIs(t *testing.T) {
	dir := t.TempDir()
	n := startOn(t, dir, noon)
	if err := os.MkdirAll(filepath.Join(dir, snapshotsFolder, "notes", "mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, snapshotsFolder, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes", "file"} {
		_, err := n.Save(t.Context(), name)
		if where := filepath.Join(dir, snapshotsFolder, name); fault.KindOf(err) != fault.Exists ||
			!strings.Contains(fault.Message(err), where+" is in the way") {
			t.Errorf("save %s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, snapshotsFolder, "notes", "mine")); err != nil {
		t.Errorf("the folder of somebody else: %v", err)
	}
	for _, name := range []string{"notes", "file"} {
		if err := n.DeleteSnapshot(t.Context(), name); err != nil {
			t.Errorf("delete %s: %v", name, err)
		}
		if _, err := n.Save(t.Context(), name); err != nil {
			t.Errorf("save %s after it was deleted: %v", name, err)
		}
	}
}
