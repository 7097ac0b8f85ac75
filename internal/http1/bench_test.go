package http1

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkServer compares one request at a time on one connection: a body of 1 KiB as the API for NoSQL sends it. The
// client writes and reads bytes, and so costs little.
func BenchmarkServer(b *testing.B) {
	body := make([]byte, 1024)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Content-Type"], h["Content-Length"] = []string{"application/json"}, []string{"1024"}
		for _, name := range []string{"x-ms-activity-id", "x-ms-request-charge", "x-ms-session-token", "etag", "lsn"} {
			h[name] = []string{"0:-1#12345"}
		}
		w.Write(body)
	})
	b.Run("http1", func(b *testing.B) {
		_, address := start(b, handler, nil)
		requests(b, address)
	})
	b.Run("net-http", func(b *testing.B) {
		s := httptest.NewServer(handler)
		defer s.Close()
		requests(b, s.Listener.Addr().String())
	})
}

func requests(b *testing.B, address string) {
	const sent = "GET /dbs/d/colls/c/docs/i HTTP/1.1\r\nHost: localhost:8081\r\nUser-Agent: bench\r\n" +
		"Authorization: type%3Dmaster%26ver%3D1.0%26sig%3Dabcdefghijklmnopqrstuvwxyz\r\nAccept: application/json\r\n" +
		"x-ms-date: Thu, 26 Nov 2026 02:00:00 GMT\r\nx-ms-version: 2020-07-15\r\n" +
		"x-ms-documentdb-partitionkey: [\"a\"]\r\nx-ms-activity-id: 00000000-0000-0000-0000-000000000000\r\n\r\n"
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	ask := func() int64 {
		io.WriteString(conn, sent)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			b.Fatal(err)
		}
		n, _ := io.Copy(io.Discard, resp.Body)
		return n
	}
	if n := ask(); n != 1024 {
		b.Fatalf("%d bytes", n)
	}
	// All answers have the same length but for the date, which has always the same.
	buffer := make([]byte, 64<<10)
	io.WriteString(conn, sent)
	length, err := conn.Read(buffer)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.WriteString(conn, sent); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(conn, buffer[:length]); err != nil {
			b.Fatal(err)
		}
	}
}
