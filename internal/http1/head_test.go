package http1

import (
	"bufio"
	"bytes"
	"io"
	"log"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

var discarded = log.New(io.Discard, "", 0)

// FuzzHead holds that net/http reads what this package reads in the same way.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
		"POST /dbs/a%20b?c=d HTTP/1.1\r\nHost: h:1\r\nx-ms-date: a\r\nX-MS-Date: b\r\nContent-Length: 12\r\n\r\n",
		"DELETE //a/../b HTTP/1.1\r\nhost: [::1]:80\r\nConnection: Keep-Alive\r\nEmpty:\r\n\r\n",
		"PUT /?a#b HTTP/1.1\r\nHost: h\r\nAccept : x\r\n\r\n", "PATCH /;=+@!$&'()*,: HTTP/1.1\r\nHost: _-.\r\nA: \t b \t\r\n\r\n",
		"GET /\"<>[]^`{|} HTTP/1.1\r\nHost: h\r\nContent-Length: 007\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	var h head // one, as for a connection
	var n names
	f.Fuzz(func(t *testing.T, text []byte) {
		length, err := h.parse(text, &n)
		if length == 0 || err != nil {
			return
		}
		if end := bytes.Index(text, headEnd); length != end+4 {
			t.Fatalf("length %d, the empty line is at %d", length, end)
		}
		got := h.request(t.Context())
		want, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(text[:length]),
			strings.NewReader(strings.Repeat("b", int(min(h.length, 1000)))))))
		if err != nil {
			t.Fatalf("%q: net/http refuses it: %v", text[:length], err)
		}
		if got.Method != want.Method || got.RequestURI != want.RequestURI || got.Proto != want.Proto ||
			got.Host != want.Host || got.ContentLength != want.ContentLength || got.Close != want.Close ||
			want.TransferEncoding != nil || want.Trailer != nil || !reflect.DeepEqual(got.URL, want.URL) ||
			!reflect.DeepEqual(got.Header, want.Header) {
			t.Errorf("%q:\n got %#v\n%#v\nwant %#v\n%#v", text[:length], got, got.URL, want, want.URL)
		}
	})
}

// Heads that are complete are read without allocations but those for what the handler keeps.
func TestHeadAllocates(t *testing.T) {
	text := []byte("GET /dbs/d/colls/c/docs/i HTTP/1.1\r\nHost: localhost:8081\r\nAuthorization: type%3Dmaster%26ver%3D1.0%26sig%3Dx\r\n" +
		"x-ms-date: Thu, 26 Nov 2026 02:00:00 GMT\r\nx-ms-version: 2020-07-15\r\nx-ms-documentdb-partitionkey: [\"a\"]\r\n\r\n")
	var h head
	var n names
	if allocations := testing.AllocsPerRun(100, func() {
		if _, err := h.parse(text, &n); err != nil {
			t.Fatal(err)
		}
	}); allocations > 1 {
		t.Errorf("%v allocations, want that of the text", allocations)
	}
}
