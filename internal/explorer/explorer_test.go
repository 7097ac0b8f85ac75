package explorer

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxCompressed is the most that a browser fetches for the whole page.
const maxCompressed = 300 << 10

func TestSize(t *testing.T) {
	total := 0
	for name, find := range New().files {
		f := find()
		if strings.HasPrefix(name, "src/messages/") && name != "src/messages/pt.json" {
			continue // a browser fetches one language
		}
		size := len(f.plain)
		if f.gzipped != nil {
			size = len(f.gzipped)
		}
		total += size
	}
	t.Logf("%d bytes compressed", total)
	if total > maxCompressed {
		t.Errorf("the page has %d bytes, compressed; the limit is %d", total, maxCompressed)
	}
}

func get(t *testing.T, target string, header http.Header) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header = header
	w := httptest.NewRecorder()
	New().ServeHTTP(w, r)
	return w.Result()
}

func TestAnswers(t *testing.T) {
	answer := get(t, "/", http.Header{"Accept-Encoding": {"gzip"}})
	if policy := answer.Header.Get("Content-Security-Policy"); answer.StatusCode != 200 || policy != Policy {
		t.Errorf("%d with the policy %q", answer.StatusCode, policy)
	}
	unpacked, err := gzip.NewReader(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	packed, _ := io.ReadAll(unpacked)
	plain, _ := io.ReadAll(get(t, "/_explorer/dist/index.html", nil).Body)
	if !bytes.Equal(packed, plain) || !bytes.Contains(plain, []byte("<!doctype html>")) {
		t.Errorf("the page is %q, compressed %q", plain, packed)
	}
	again := get(t, "/", http.Header{"If-None-Match": {answer.Header.Get("ETag")}, "Accept-Encoding": {"br, gzip"}})
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("the same page again: %d", again.StatusCode)
	}
	for encodings, want := range map[string]string{"gzip;q=0": "", "identity": "", "br, gzip;q=0.5": "gzip"} {
		other := get(t, "/", http.Header{"Accept-Encoding": {encodings}})
		same := other.Header.Get("ETag") == answer.Header.Get("ETag")
		if got := other.Header.Get("Content-Encoding"); got != want || same != (want == "gzip") {
			t.Errorf("%s: the encoding %q, the same ETag %v", encodings, got, same)
		}
	}
	module := get(t, "/_explorer/dist/main.js", nil)
	if kind := module.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/javascript") {
		t.Errorf("a module has the type %q", kind)
	}
	for _, name := range []string{"src", "src/", "src/none.js", "src/main.js", "../explorer.go", "package.json", ""} {
		if status := get(t, "/_explorer/"+name, nil).StatusCode; status != http.StatusNotFound {
			t.Errorf("%q: %d", name, status)
		}
	}
}

var (
	imported = regexp.MustCompile(`(?m)(?:from|import) '([^']+)'`)
	foreign  = regexp.MustCompile(`(?:src|href|url|fetch|import)\s*[=(]\s*["'` + "`" + `]?(https?:)?//`)
	inline   = regexp.MustCompile(`(?i)innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySet|\beval\(|new Function`)
)

// TestSources holds each module to what it may do: import files that exist, load nothing from elsewhere, and leave
// documents and names text.
func TestSources(t *testing.T) {
	files := sources(t)
	used := map[string]bool{"src/index.html": true, "src/main.js": true}
	for name, plain := range files {
		if !strings.HasPrefix(name, "src/") {
			continue
		}
		if at := foreign.Find(plain); at != nil {
			t.Errorf("%s loads from another host: %s", name, at)
		}
		if at := inline.Find(plain); at != nil && path.Ext(name) == ".js" {
			t.Errorf("%s has %s: show text, not markup", name, at)
		}
		for _, m := range imported.FindAllSubmatch(plain, -1) {
			to := path.Join(path.Dir(name), string(m[1]))
			if _, ok := files[to]; !ok {
				t.Errorf("%s imports %s, which does not exist", name, to)
			}
			used[to] = true
		}
	}
	index := files["src/index.html"]
	for name := range files {
		if !used[name] && !bytes.Contains(index, []byte(Base+name)) && path.Dir(name) != "src/messages" {
			t.Errorf("nothing uses %s", name)
		}
	}
}

var (
	text    = regexp.MustCompile(`\bt\('([^']+)'`)
	textOf  = regexp.MustCompile("\\bt\\(`([^`$]*)\\$\\{")
	inBrace = regexp.MustCompile(`\{\w+\}`)
)

// TestMessages finds every text in every language, with the same names in it, and no text that nothing shows.
func TestMessages(t *testing.T) {
	files := sources(t)
	languages := map[string]map[string]any{}
	for _, language := range []string{"en", "pt", "es"} {
		var texts map[string]any
		if err := json.Unmarshal(files["src/messages/"+language+".json"], &texts); err != nil {
			t.Fatalf("%s: %v", language, err)
		}
		languages[language] = texts
	}
	var exact, prefixes []string
	for name, plain := range files {
		if !strings.HasPrefix(name, "src/") || path.Ext(name) != ".js" {
			continue
		}
		for _, m := range text.FindAllSubmatch(plain, -1) {
			exact = append(exact, string(m[1]))
		}
		for _, m := range textOf.FindAllSubmatch(plain, -1) {
			prefixes = append(prefixes, string(m[1]))
		}
	}
	english := languages["en"]
	for _, key := range exact {
		if _, ok := english[key]; !ok {
			t.Errorf("the text %q does not exist", key)
		}
	}
	everything := source(files)
	for key, want := range english {
		begins := func(prefix string) bool { return prefix != "" && strings.HasPrefix(key, prefix) }
		if !slices.Contains(exact, key) && !slices.ContainsFunc(prefixes, begins) &&
			!strings.Contains(everything, "'"+key+"'") {
			t.Errorf("nothing shows the text %q", key)
		}
		for language, texts := range languages {
			got, ok := texts[key]
			if !ok || !slices.Equal(names(got), names(want)) {
				t.Errorf("%s: %q is %v, in English %v", language, key, got, want)
			}
		}
	}
	for language, texts := range languages {
		if len(texts) != len(english) {
			t.Errorf("%s has %d texts, English %d", language, len(texts), len(english))
		}
	}
}

// names are the names in braces of a text, in all of its plural forms.
func names(text any) []string {
	encoded, _ := json.Marshal(text)
	found := inBrace.FindAllString(string(encoded), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

func source(files map[string][]byte) string {
	var all strings.Builder
	for name, plain := range files {
		if strings.HasPrefix(name, "src/") && path.Ext(name) == ".js" {
			all.Write(plain)
		}
	}
	return all.String()
}

// sources are the files of which the page is made, by their path below this folder.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, root := range []string{"src", "vendor"} {
		err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			files[filepath.ToSlash(name)], err = os.ReadFile(name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
