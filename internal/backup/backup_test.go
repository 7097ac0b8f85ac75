package backup

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// folder makes a folder of files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var files = map[string]string{
	"000004.sst": strings.Repeat("table four", 1000), "000005.sst": strings.Repeat("table five", 500),
	"000006.log": "log", "MANIFEST-000001": "contents", "OPTIONS-000003": "",
	"marker.manifest.000001.MANIFEST-000001": "",
}

func stream(t *testing.T, files map[string]string, have ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	m := Manifest{Version: "test", Taken: noon, Clock: noon}
	if err := Write(t.Context(), &b, folder(t, files), m, have); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// same compares the files of a backup with what they must be.
func same(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, filesFolder))
	if err != nil || len(entries) != len(want) {
		t.Fatalf("%d files, %v, want %d", len(entries), err, len(want))
	}
	for name, content := range want {
		if got, err := os.ReadFile(filepath.Join(dir, filesFolder, name)); err != nil || string(got) != content {
			t.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "backup")
	m, err := Read(t.Context(), bytes.NewReader(stream(t, files)), dir, "")
	if err != nil || !m.Clock.Equal(noon) || m.Version != "test" || len(m.Files) != len(files) {
		t.Fatalf("%+v, %v", m, err)
	}
	same(t, dir, files)
	if opened, err := Open(dir); err != nil || fmt.Sprint(opened) != fmt.Sprint(m) {
		t.Errorf("the manifest of the folder: %+v, %v", opened, err)
	}
	data := filepath.Join(t.TempDir(), "data")
	if _, err := Copy(t.Context(), dir, data); err != nil {
		t.Fatal(err)
	}
	same(t, data, files)
	if _, err := Read(t.Context(), bytes.NewReader(stream(t, files)), dir, ""); fault.KindOf(err) != fault.Exists {
		t.Errorf("over another backup: %v", err)
	}
	var passed bytes.Buffer
	if err := Pass(t.Context(), bytes.NewReader(stream(t, files)), &passed); err != nil ||
		passed.Len() != len(stream(t, files)) {
		t.Errorf("passed %d bytes, %v", passed.Len(), err)
	}
}

// A later backup leaves out the tables of an earlier one, and shares them.
func TestIncremental(t *testing.T) {
	root := t.TempDir()
	first, second := filepath.Join(root, "first"), filepath.Join(root, "second")
	m, err := Read(t.Context(), bytes.NewReader(stream(t, files)), first, "")
	if err != nil {
		t.Fatal(err)
	}
	later := map[string]string{"000007.sst": "table seven", "000006.log": "longer log"}
	for name, content := range files {
		if name != "000005.sst" && name != "000006.log" {
			later[name] = content
		}
	}
	sent := stream(t, later, m.Tables()...)
	if len(sent) > 16<<10 || bytes.Contains(sent, []byte("table four")) {
		t.Errorf("%d bytes are sent", len(sent))
	}
	if _, err := Read(t.Context(), bytes.NewReader(sent), second, first); err != nil {
		t.Fatal(err)
	}
	same(t, second, later)
	a, err := os.Stat(filepath.Join(first, filesFolder, "000004.sst"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(filepath.Join(second, filesFolder, "000004.sst"))
	if err != nil || !os.SameFile(a, b) {
		t.Errorf("the table is not shared: %v", err)
	}
	_, err = Read(t.Context(), bytes.NewReader(sent), filepath.Join(root, "third"), "")
	if fault.KindOf(err) != fault.Corrupt {
		t.Errorf("without the earlier backup: %v", err)
	}
	if err := os.Chmod(filepath.Join(first, filesFolder, "000004.sst"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(first, filesFolder, "000004.sst"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Read(t.Context(), bytes.NewReader(sent), filepath.Join(root, "third"), first)
	if fault.KindOf(err) != fault.Corrupt {
		t.Errorf("with a damaged earlier backup: %v", err)
	}
	if err := os.RemoveAll(first); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(second); err != nil {
		t.Errorf("without the first: %v", err)
	}
}

// A stream that breaks off anywhere is noticed, and leaves nothing.
func TestBrokenOff(t *testing.T) {
	whole := stream(t, map[string]string{"000004.sst": strings.Repeat("x", 3000), "000006.log": "log"})
	root := t.TempDir()
	least := len(whole) - 1024 - 512 // the trailer's content, and the two empty blocks behind it
	for n := 0; n < least; n += 97 {
		dir := filepath.Join(root, "backup")
		if _, err := Read(t.Context(), bytes.NewReader(whole[:n]), dir, ""); err == nil {
			t.Fatalf("%d of %d bytes are accepted", n, len(whole))
		}
		if err := Pass(t.Context(), bytes.NewReader(whole[:n]), io.Discard); err == nil {
			t.Fatalf("%d of %d bytes are passed", n, len(whole))
		}
	}
	if left, _ := os.ReadDir(root); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

// A changed byte is noticed wherever it matters.
func TestDamaged(t *testing.T) {
	want := map[string]string{"000004.sst": strings.Repeat("x", 3000), "000006.log": "log"}
	whole := stream(t, want)
	root := t.TempDir()
	for i := 0; i < len(whole); i += 61 {
		changed := bytes.Clone(whole)
		changed[i] ^= 0x20
		dir := filepath.Join(root, fmt.Sprint(i))
		if _, err := Read(t.Context(), bytes.NewReader(changed), dir, ""); err == nil {
			same(t, dir, want) // the byte was padding, or says nothing about the content
		}
	}
}

// Nothing of a stream that somebody has made leads out of the folder, or takes more than it says.
func TestHostile(t *testing.T) {
	sum := strings.Repeat("0", 64)
	entry := func(name string, size int64) File { return File{name, size, sum} }
	for name, c := range map[string]struct {
		files   []File
		entries []tar.Header
	}{
		"path upwards":    {[]File{entry("../x.sst", 1)}, nil},
		"absolute path":   {[]File{entry("/etc/x", 1)}, nil},
		"hidden":          {[]File{entry(".x", 1)}, nil},
		"backslash":       {[]File{entry(`a\b`, 1)}, nil},
		"no name":         {[]File{entry("", 1)}, nil},
		"negative":        {[]File{entry("a.sst", -1)}, nil},
		"twice":           {[]File{entry("a.sst", 1), entry("a.sst", 1)}, nil},
		"not in manifest": {nil, []tar.Header{{Name: "db/../../x", Size: 1, Typeflag: tar.TypeReg}}},
		"larger than it was": {[]File{entry("a.sst", 1)},
			[]tar.Header{{Name: "db/a.sst", Size: 2, Typeflag: tar.TypeReg}}},
		"a link": {[]File{entry("a.sst", 0)},
			[]tar.Header{{Name: "db/a.sst", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}}},
		"another content": {[]File{entry("a.sst", 1)},
			[]tar.Header{{Name: "db/a.sst", Size: 1, Typeflag: tar.TypeReg}}},
	} {
		t.Run(name, func(t *testing.T) {
			text, _ := json.Marshal(Manifest{Format: Format, Files: c.files})
			var b bytes.Buffer
			out := tar.NewWriter(&b)
			add := func(h tar.Header, content []byte) {
				h.Mode, h.Size = 0o600, int64(len(content))
				if err := out.WriteHeader(&h); err != nil {
					t.Fatal(err)
				}
				out.Write(content)
			}
			add(tar.Header{Name: manifestName}, text)
			for _, h := range c.entries {
				add(h, make([]byte, h.Size))
			}
			add(tar.Header{Name: trailerName}, trailer(text))
			out.Close()
			root := t.TempDir()
			_, err := Read(t.Context(), &b, filepath.Join(root, "in", "backup"), "")
			if fault.KindOf(err) != fault.Corrupt {
				t.Errorf("error %v", err)
			}
			left := 0
			filepath.WalkDir(root, func(string, os.DirEntry, error) error { left++; return nil })
			if left != 2 {
				t.Errorf("%d files and folders are left", left)
			}
		})
	}
}

func TestWhatIsNoBackup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backup")
	_, err := Read(t.Context(), strings.NewReader(strings.Repeat("no backup ", 1000)), dir, "")
	if fault.KindOf(err) != fault.Corrupt {
		t.Errorf("a text: %v", err)
	}
	if _, err := Open(t.TempDir()); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an empty folder: %v", err)
	}
	newer := folder(t, map[string]string{manifestName: `{"format": 2, "version": "9.0"}`})
	if _, err := Open(newer); fault.KindOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "9.0") {
		t.Errorf("a newer format: %v", err)
	}
}
