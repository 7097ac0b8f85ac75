package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// built is a release for one platform, made once for all tests, and a folder with its archive unpacked.
var built struct {
	release
	unpacked string
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "mayfly-release-test")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		r, err := newRelease(context.Background(), "v0.1.0-rc.1", "..", filepath.Join(dir, "dist"),
			[]string{"linux/amd64"})
		if err != nil {
			panic(err)
		}
		if err := r.build(context.Background()); err != nil {
			panic(err)
		}
		built.release, built.unpacked = *r, filepath.Join(dir, "unpacked")
		return m.Run()
	}())
}

// dist is the path of a file of the release.
func dist(name string) string { return filepath.Join(built.out, name) }

// A member is one file of an archive.
type member struct {
	header  tar.Header
	content []byte
}

// members reads a tar.
func members(t *testing.T, r io.Reader) map[string]member {
	t.Helper()
	found := map[string]member{}
	archive := tar.NewReader(r)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := found[header.Name]; twice {
			t.Errorf("%s is there twice", header.Name)
		}
		if !header.ModTime.Equal(built.date) {
			t.Errorf("%s is of %s, want that of the commit, %s", header.Name, header.ModTime, built.date)
		}
		found[header.Name] = member{*header, content}
	}
}

func gunzip(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// program is the binary of the release, unpacked.
func program(t *testing.T) string {
	t.Helper()
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		t.Skip("the binary under test is for linux/amd64")
	}
	path := filepath.Join(built.unpacked, "mayfly")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	found := members(t, bytes.NewReader(gunzip(t, readFile(t, dist("mayfly_v0.1.0-rc.1_linux_amd64.tar.gz")))))
	if err := os.MkdirAll(built.unpacked, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, found["mayfly"].content, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// settings are the flags of `mayfly serve`, as its help lists them.
func settings(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command(program(t), "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--"); ok {
			name, _, _ = strings.Cut(name, " ")
			name, _, _ = strings.Cut(name, "[")
			found = append(found, name)
		}
	}
	if len(found) < 20 {
		t.Fatalf("the help lists %q", found)
	}
	return found
}

// wantSettings checks that environment variables are settings.
func wantSettings(t *testing.T, variables []string) {
	t.Helper()
	known := settings(t)
	for _, name := range variables {
		flag, ours := strings.CutPrefix(name, "MAYFLY_")
		if ours && !slices.Contains(known, strings.ToLower(strings.ReplaceAll(flag, "_", "-"))) {
			t.Errorf("%s is no setting", name)
		}
	}
}

func TestEverythingIsThere(t *testing.T) {
	files, err := os.ReadDir(built.out)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Name())
	}
	want := []string{
		"SHA256SUMS", "mayfly_0.1.0~rc.1_amd64.deb", "mayfly_v0.1.0-rc.1.cdx.json", "mayfly_v0.1.0-rc.1_image.tar",
		"mayfly_v0.1.0-rc.1_linux_amd64.tar.gz",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the release has %q, want %q", got, want)
	}
	var sums strings.Builder
	for _, name := range want[1:] {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(readFile(t, dist(name))), name)
	}
	if got := string(readFile(t, dist("SHA256SUMS"))); got != sums.String() {
		t.Errorf("checksums\n%s, want\n%s", got, sums.String())
	}
}

func TestArchive(t *testing.T) {
	found := members(t, bytes.NewReader(gunzip(t, readFile(t, dist("mayfly_v0.1.0-rc.1_linux_amd64.tar.gz")))))
	for name, mode := range map[string]int64{
		"mayfly": 0o755, "LICENSE": 0o644, "README.md": 0o644, "man/mayfly.1": 0o644, "man/mayfly-serve.1": 0o644,
		"man/mayfly-health.1":     0o644,
		"completions/mayfly.bash": 0o644, "completions/_mayfly": 0o644, "completions/mayfly.fish": 0o644,
		"completions/mayfly.ps1": 0o644,
	} {
		if m, ok := found[name]; !ok || m.header.Mode != mode || len(m.content) == 0 {
			t.Errorf("%s: %d bytes, mode %o, want mode %o", name, len(m.content), m.header.Mode, mode)
		}
	}
	// The official clients that bench and copy use, and OpenTelemetry, take about 8 MB of this, and the client of TiKV
	// 14 MB.
	const limit = 64_000_000
	if size := len(found["mayfly"].content); size > limit {
		t.Errorf("the binary has %d bytes, want at most %d", size, limit)
	}
	manual(t, found["man/mayfly-serve.1"].content)
}

// manual checks a page of serve.
func manual(t *testing.T, page []byte) {
	t.Helper()
	for _, want := range []string{`.TH "MAYFLY-SERVE" "1"`, built.date.Format("Jan 2006"), "mayfly v0.1.0-rc.1",
		"emulator"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("no %q in the manual:\n%s", want, page)
		}
	}
}

// TestZip packs as for Windows.
func TestZip(t *testing.T) {
	source, date := filepath.Join(t.TempDir(), "a"), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if err := os.WriteFile(source, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := writeZip(&packed, []entry{{"mayfly.exe", source, 0o755}}, date); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		t.Fatal(err)
	}
	f := archive.File[0]
	if f.Name != "mayfly.exe" || f.Mode() != 0o755 || !f.Modified.Equal(date) || f.UncompressedSize64 != 7 {
		t.Errorf("%s, mode %v, %s, %d bytes", f.Name, f.Mode(), f.Modified, f.UncompressedSize64)
	}
}

func TestVersion(t *testing.T) {
	out, err := exec.Command(program(t), "version").Output()
	want := "mayfly v0.1.0-rc.1\ncommit " + built.commit + "\n" + runtime.Version() + " linux/amd64\n"
	if err != nil || string(out) != want {
		t.Errorf("%q, error %v, want %q", out, err, want)
	}
}

// TestBill holds the bill of materials to what the go command links.
func TestBill(t *testing.T) {
	var bill cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(readFile(t, dist("mayfly_v0.1.0-rc.1.cdx.json"))),
		cdx.BOMFileFormatJSON).Decode(&bill); err != nil {
		t.Fatal(err)
	}
	list := built.goCommand(t.Context(), built.root, built.platforms[0], "list", "-deps", "-f",
		"{{with .Module}}{{.Path}} {{.Version}}{{end}}", "./cmd/mayfly")
	out, err := output(list)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 2 { // mayfly itself has no version
			want = append(want, fields[0]+" "+fields[1])
		}
	}
	want = append(want, "std "+strings.TrimPrefix(runtime.Version(), "go"))
	slices.Sort(want)
	want = slices.Compact(want)
	for _, c := range *bill.Components {
		got = append(got, c.Name+" "+c.Version)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the bill lists\n%s\nthe binary is made of\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := bill.Metadata.Component; c.Version != "v0.1.0-rc.1" || c.Name != "github.com/mayflydb/mayfly" {
		t.Errorf("it is of %s %s", c.Name, c.Version)
	}
}

// TestReproducible builds the same sources in another folder.
func TestReproducible(t *testing.T) {
	again := built.release
	again.root, again.out = t.TempDir(), filepath.Join(t.TempDir(), "dist")
	files, err := built.git(t.Context(), "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.Trim(files, "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(built.root, name))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(again.root, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if first, second := readFile(t, dist(sumsFile)), readFile(t,
		filepath.Join(again.out, sumsFile)); !bytes.Equal(first, second) {
		t.Errorf("one build has\n%s\nanother\n%s", first, second)
	}
}

func TestWrongVersions(t *testing.T) {
	for _, version := range []string{"", "0.1.0", "v0.1", "v0.1.0 ", "latest", "v01.0.0"} {
		if _, err := newRelease(t.Context(), version, "..", t.TempDir(), nil); err == nil {
			t.Errorf("%q is taken", version)
		}
	}
	if _, err := newRelease(t.Context(), "v0.1.0", "..", t.TempDir(), []string{"plan9/amd64"}); err == nil {
		t.Error("plan9/amd64 is taken")
	}
}

// mode is that of a member, without its kind.
func (m member) mode() fs.FileMode { return fs.FileMode(m.header.Mode) }
