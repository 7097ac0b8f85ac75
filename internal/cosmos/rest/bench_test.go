package rest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv/pebble"
)

// benchItem is an item of about 1 KB.
var benchItem = `{"id":"i","pk":"a","n":1,"text":"` + strings.Repeat("x", 900) + `"}`

// BenchmarkPointRead reads one item over a connection, from the API and from a bare handler that answers the same
// bytes and headers.
func BenchmarkPointRead(b *testing.B) {
	engine, err := pebble.Open(pebble.Options{Dir: b.TempDir()})
	must(b, err)
	d := newTestAPIOn(b, engine)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`).want(201)
	d.do("POST", "/dbs/d/colls/c/docs", benchItem, "x-ms-documentdb-partitionkey", `["a"]`).want(201)
	read := newRequest("GET", "/dbs/d/colls/c/docs/i", "", "x-ms-documentdb-partitionkey", `["a"]`)
	signRequest(read)
	same := d.send(read).want(200)

	b.Run("handler", func(b *testing.B) { benchServer(b, d.api, read) })
	b.Run("bare", func(b *testing.B) {
		benchServer(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for name, values := range same.header {
				w.Header()[name] = values
			}
			io.WriteString(w, same.text)
		}), read)
	})
	b.Run("bare-body-only", func(b *testing.B) {
		benchServer(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = valueJSON
			io.WriteString(w, same.text)
		}), read)
	})
	b.Run("handler-only", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w := nullWriter{http.Header{}}
			d.api.ServeHTTP(w, read)
		}
	})
}

type nullWriter struct{ header http.Header }

func (w nullWriter) Header() http.Header         { return w.header }
func (w nullWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w nullWriter) WriteHeader(int)             {}

// benchServer sends one request over and over on one connection per processor, without
// the cost of an HTTP client: the answer is read as bytes of known length.
func benchServer(b *testing.B, h http.Handler, r *http.Request) {
	s := httptest.NewServer(h)
	defer s.Close()
	var text strings.Builder
	text.WriteString("GET " + r.URL.Path + " HTTP/1.1\r\nHost: x\r\n")
	r.Header.Write(&text)
	text.WriteString("\r\n")
	request := []byte(text.String())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		buf := make([]byte, 16<<10)
		for pb.Next() {
			c.Write(request)
			if !readAnswer(b, c, buf) {
				return
			}
		}
	})
}

// readAnswer reads until the body has come, which ends with a brace and holds no other line end.
func readAnswer(b *testing.B, c net.Conn, buf []byte) bool {
	n := 0
	for n == 0 || buf[n-1] != '}' {
		m, err := c.Read(buf[n:])
		if err != nil {
			b.Error(err)
			return false
		}
		n += m
	}
	return strings.HasPrefix(string(buf[:12]), "HTTP/1.1 200")
}
