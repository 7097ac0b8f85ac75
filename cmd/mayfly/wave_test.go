package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/node"
)

var wave = flag.Int("wave", 20_000, "documents that TestWave lets expire at once")

// TestWave moves the clock over the deadline of nine tenths of a container's
// documents: they vanish at once, the others stay, and the disk space comes back.
func TestWave(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, *wave, 3600)
	full := diskUse(t, dir)
	s := serve(t, "--data", dir, "--nosql=127.0.0.1:0", "--admin=127.0.0.1:0", "--clock=virtual=1970-01-01T00:30:00Z")
	defer s.stop(t, os.Interrupt)
	nosql, admin := s.address(t, ""), s.address(t, "Admin")

	watch := clock.Start()
	if got := documents(t, nosql); got != *wave {
		t.Errorf("before: %d documents, want %d", got, *wave)
	}
	t.Logf("counted by usage in %v, %d MiB on disk", watch.Elapsed(), full>>20)
	watch = clock.Start()
	post(t, admin+"clock/advance", `{"duration":"1h"}`)
	if code := get(t, nosql, "dbs/d/colls/c/docs/item1", "docs", "dbs/d/colls/c/docs/item1", `["p1"]`,
		nil); code != http.StatusNotFound {
		t.Errorf("an expired document answers %d", code)
	}
	t.Logf("gone %v after the clock was moved", watch.Elapsed())
	if code := get(t, nosql, "dbs/d/colls/c/docs/item0", "docs", "dbs/d/colls/c/docs/item0", `["p0"]`,
		nil); code != http.StatusOK {
		t.Errorf("a document that lives for ever answers %d", code)
	}
	if got := documents(t, nosql); got != *wave/10 {
		t.Errorf("after: %d documents, want %d", got, *wave/10)
	}
	watch = clock.Start()
	post(t, admin+"reclaim", ``)
	took, left := watch.Elapsed(), diskUse(t, dir)
	t.Logf("reclaimed in %v, %.0f documents/s, %d MiB on disk", took, float64(*wave)*0.9/took.Seconds(), left>>20)
	if got := documents(t, nosql); got != *wave/10 {
		t.Errorf("after reclaiming: %d documents, want %d", got, *wave/10)
	}
	for watch = clock.Start(); left > full*13/100 && watch.Elapsed() < 30*time.Second; left = diskUse(t, dir) {
		if err := clock.Pause(t.Context(), 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d MiB on disk %v later", left>>20, watch.Elapsed())
	if left > full*13/100 {
		t.Errorf("%d of %d bytes are still on disk, more than 1.3 times what lives", left, full)
	}
}

// documents asks the container how many documents it has.
func documents(t *testing.T, nosql string) int {
	t.Helper()
	var header http.Header
	if code := get(t, nosql, "dbs/d/colls/c", "colls", "dbs/d/colls/c", "", &header); code != http.StatusOK {
		t.Fatalf("container: %d", code)
	}
	_, rest, _ := strings.Cut(header.Get("x-ms-resource-usage"), "documentsCount=")
	count, _, _ := strings.Cut(rest, ";")
	var n int
	if err := json.Unmarshal([]byte(count), &n); err != nil {
		t.Fatalf("usage %q: %v", header.Get("x-ms-resource-usage"), err)
	}
	return n
}

// get asks for a resource.
func get(t *testing.T, base, path, kind, link, partition string, header *http.Header) int {
	t.Helper()
	code, _, answered := send(t, http.MethodGet, base, path, kind, link, partition, "")
	if header != nil {
		*header = answered
	}
	return code
}

// send sends a signed request and wants an answer.
func send(t *testing.T, method, base, path, kind, link, partition, body string) (int, string, http.Header) {
	t.Helper()
	code, text, header, err := try(t.Context(), method, base, path, kind, link, partition, body)
	if err != nil {
		t.Fatal(err)
	}
	return code, text, header
}

// clients keeps a connection for each of many.
var clients = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// try sends a signed request.
// https://learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources
func try(
	ctx context.Context, method, base, path, kind, link, partition, body string,
) (int, string, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	date := clock.Wall().UTC().Format(http.TimeFormat)
	secret, _ := base64.StdEncoding.DecodeString(node.WellKnownKey)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.ToLower(method) + "\n" + kind + "\n" + link + "\n" + strings.ToLower(date) + "\n\n"))
	r.Header.Set("Authorization",
		url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
	r.Header.Set("x-ms-date", date)
	r.Header.Set("x-ms-documentdb-populatequotainfo", "true")
	if partition != "" {
		r.Header.Set("x-ms-documentdb-partitionkey", partition)
	}
	answer, err := clients.Do(r)
	if err != nil {
		return 0, "", nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), answer.Header, err
}

func post(t *testing.T, url, body string) {
	t.Helper()
	answer, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", url, answer.Status)
	}
}

// diskUse is how many bytes a data folder's tables take; logs are used again and do not count.
func diskUse(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sst" {
			return nil // deleted while we look
		}
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}
