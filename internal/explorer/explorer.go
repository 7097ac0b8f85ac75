// Package explorer is the web page at the admin address: files that the binary carries. It has no data and no rights of
// its own: the page is a client of the admin API, like any other.
package explorer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Base is the path below which the files of the page are.
const Base = "/_explorer/"

//go:embed dist vendor src/messages src/icon.svg
var files embed.FS

// Policy is the content security policy of the page: it loads nothing from other hosts, and runs no inline script or
// style. https://www.w3.org/TR/CSP3/
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A file is one file of the page, plain and compressed.
type file struct {
	mediaType string
	tag       string // of the content, without quotes
	plain     []byte
	gzipped   []byte // nil if it is not smaller
}

// A Page serves the files of the page.
type Page struct {
	files map[string]func() file // by name; made when first asked for, so that a start does not wait for it
}

// New returns the page.
func New() *Page {
	p := &Page{map[string]func() file{}}
	for _, root := range []string{"dist", "vendor", "src"} {
		err := fs.WalkDir(files, root, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				p.files[name] = sync.OnceValue(func() file { return newFile(name) })
			}
			return err
		})
		if err != nil {
			panic(err) // the files are part of the binary
		}
	}
	return p
}

func newFile(name string) file {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // as in New
	}
	sum := sha256.Sum256(content)
	f := file{mediaTypeOf(name), hex.EncodeToString(sum[:8]), content, nil}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = w.Write(content) // a buffer does not fail
	_ = w.Close()
	if packed.Len() < len(content) {
		f.gzipped = packed.Bytes()
	}
	return f
}

// mediaTypeOf does not ask the machine's tables, which may have another type for scripts.
func mediaTypeOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json":
		return "application/json"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// ServeHTTP answers GET and HEAD of the paths below Base; every other path gets the page.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, below := strings.CutPrefix(r.URL.Path, Base)
	if !below {
		name = "dist/index.html"
	}
	find, ok := p.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	f := find()
	h := w.Header()
	h.Set("Content-Type", f.mediaType)
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache") // asks each time, and gets 304
	h.Set("Vary", "Accept, Accept-Encoding")
	content, tag := f.plain, f.tag
	if f.gzipped != nil && takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		content, tag = f.gzipped, f.tag+"-gzip" // each encoding has a tag of its own: RFC 9110, 8.8.3.3
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// takesGzip reports whether the sender of a request takes gzip, which a weight of 0 forbids: RFC 9110, 12.5.3.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) == "gzip" {
			_, value, _ := strings.Cut(weight, "=")
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err != nil || q > 0
		}
	}
	return false
}
