package http1

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// start serves on loopback until the test ends. change changes the server before that.
func start(t testing.TB, handler http.Handler, change func(*Server)) (s *Server, address string) {
	t.Helper()
	return startOn(t, handler, change, func(l net.Listener) net.Listener { return l })
}

// startOn is start on what wrap makes of the listener.
func startOn(t testing.TB, handler http.Handler, change func(*Server), wrap func(net.Listener) net.Listener) (
	s *Server, address string,
) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = wrap(l)
	s = &Server{HTTP: &http.Server{
		Handler: handler, ReadHeaderTimeout: time.Minute, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: discarded,
	}}
	s.HTTP.Protocols = protocols()
	if change != nil {
		change(s)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-served; err != http.ErrServerClosed {
			t.Errorf("Serve: %v, want http.ErrServerClosed", err)
		}
	})
	return s, l.Addr().String()
}

func protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return p
}

// dial connects to a server until the test ends.
func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	return conn
}

// told answers with all that a handler can see of a request.
func told(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	w.Header()["x-Spelled-as-Given"] = []string{"1"}
	if r.URL.Query().Has("length") {
		w.Header().Set("Content-Type", "text/plain")
	}
	fmt.Fprintf(w, "%s %q path %q raw %q query %q %s host %q length %d chunks %q close %v\n%v\n%d bytes %q %v\n",
		r.Method, r.RequestURI, r.URL.Path, r.URL.RawPath, r.URL.RawQuery, r.Proto, r.Host, r.ContentLength,
		r.TransferEncoding, r.Close, r.Header, len(body), body[:min(len(body), 100)], err)
}

// Whatever a client sends, it gets what net/http would answer.
func TestAnswersAsNetHTTP(t *testing.T) {
	handler := http.NewServeMux()
	handler.HandleFunc("/", told)
	handler.HandleFunc("/nothing", func(w http.ResponseWriter, r *http.Request) {})
	handler.HandleFunc("/204", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"a"`)
		w.WriteHeader(204)
	})
	handler.HandleFunc("/304", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(304)
		if _, err := w.Write([]byte("x")); err != http.ErrBodyNotAllowed {
			t.Errorf("body of a 304: %v", err)
		}
	})
	handler.HandleFunc("/599", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(599) })
	handler.HandleFunc("/twice", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(409)
		w.WriteHeader(200)
		w.Header().Set("Late", "yes")
	})
	handler.HandleFunc("/long", func(w http.ResponseWriter, r *http.Request) {
		for range 1000 {
			io.WriteString(w, "a line of a body without a length\n")
		}
	})
	handler.HandleFunc("/declared", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "200000")
		for range 100 {
			w.Write(bytes.Repeat([]byte("x"), 2000))
		}
		if _, err := w.Write([]byte("more")); err != http.ErrContentLength {
			t.Errorf("more than the Content-Length: %v", err)
		}
	})
	handler.HandleFunc("/short", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		w.Write([]byte("few"))
	})
	handler.HandleFunc("/flushed", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "one,")
		http.NewResponseController(w).Flush()
		io.WriteString(w, "two")
	})
	handler.HandleFunc("/split", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-A", "a\r\nX-B: b")
		w.Header()["bad name"] = []string{"x"}
		w.Header()["X-Many"] = []string{"1", "2"}
	})
	handler.HandleFunc("/close", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Connection", "close") })
	handler.HandleFunc("/unread", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "not read") })
	handler.HandleFunc("/abort", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "half")
		panic(http.ErrAbortHandler)
	})
	_, ours := start(t, handler, nil)
	plain := httptest.NewUnstartedServer(handler)
	plain.Config.ErrorLog = discarded
	plain.Config.MaxHeaderBytes, plain.Config.Protocols = 64<<10, protocols()
	plain.Start()
	t.Cleanup(plain.Close)
	theirs := plain.Listener.Addr().String()

	get := func(path string, headers ...string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: h\r\n" + strings.Join(append(headers, "\r\n"), "\r\n")
	}
	head := func(rest string) string { return "GET /x HTTP/1.1\r\n" + rest + "\r\n\r\n" }
	post := func(path string, length int, body string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h:80\r\nContent-Length: %d\r\n\r\n%s", path, length, body)
	}
	long := strings.Repeat("y", 300<<10)
	for _, sent := range []string{
		get("/"), get("/a/b?c=d&length=1", "x-MS-date: now", "X-ms-Date:  later\t"), get("/a%20b/%2F?%zz"),
		get("/%zz"),
		get("//a//b"), get("/dbs/a;b/,:&$!*'()"), get("/é"), get("/a b"), get("/#f"), get("http://other/x"),
		get("*"),
		get("/\"<>\\^`{|}"), get("/a?b?c"), get("/?"), get("/a+b=@~_.-"), get("/a?"),
		get("/", "Empty:", "Accept: a, b", "Accept: c", "Accept: d"),
		get("/", "Connection: keep-alive"),
		get("/", "Connection: close"), get("/", "Connection: Upgrade", "Upgrade: x"),
		get("/", "Pragma: no-cache"),
		get("/", "Bad Name: x"), get("/", "Bad: \x01"), get("/", "Folded: a\r\n b"), get("/", "no colon"),
		get("/", ": x"),
		get("/", "Tab: a\tb"), get("/", "Text: \xc3\xa9"), get("/", "Host: two"),
		get("/", "X_y: 1", "x!#$%&'*+-.^_`|~: 1"),
		head("Host: "), head("Host: a b"), head("Host: a/b"), head("Host: [::1]:80"), head("Host: user@h"),
		head("X: y"),
		"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/2.0\r\nHost: h\r\n\r\n",
		"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "get / HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET / http/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n", "nonsense\r\n\r\n",
		"GET\r\n\r\n",
		"HEAD /long HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
		"DELETE / HTTP/1.1\r\nHost: h\r\n\r\n", "PATCH / HTTP/1.1\r\nHost: h\r\n\r\n",
		"PUT / HTTP/1.1\r\nHost: h\r\n\r\n",
		post("/", 5, "hello"), post("/", 0, ""), post("/", 100000, long[:100000]),
		post("/", 5, "hello"+get("/next")),
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
		get("/nothing"), get("/204"), get("/304"), get("/599"), get("/twice"), get("/long"),
		get("/declared"), get("/short"),
		get("/flushed"), get("/split"), get("/close"), get("/abort"),
		get("/nothing") + get("/204") + get("/long") + get("/close"),
		post("/unread", 3000, long[:3000]), post("/unread", len(long), long),
		post("/unread", 3000, long[:3000]+get("/")),
		get("/", "Many: "+long[:10000]), get("/", "Many: "+long[:30000]),
		get("/", "Many: "+long[:100000]),
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			want, got := answers(t, theirs, sent), answers(t, ours, sent)
			if !slices.Equal(got, want) {
				t.Errorf("%.300q:\n got %.2000q\nwant %.2000q", sent, got, want)
			}
		})
	}
}

// answers are all answers to what a client sends before it closes its side of the connection.
func answers(t *testing.T, address, sent string) (all []string) {
	t.Helper()
	conn := dial(t, address)
	defer conn.Close()
	go func() {
		io.WriteString(conn, sent)
		conn.(*net.TCPConn).CloseWrite()
	}()
	r := bufio.NewReader(conn)
	for {
		if _, err := r.Peek(1); os.IsTimeout(err) {
			return append(all, "the server does not end the connection")
		} else if err != nil {
			return all
		}
		method, _, _ := strings.Cut(sent, " ")
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return append(all, fmt.Sprintf("no answer: %v", err))
		}
		body, err := io.ReadAll(resp.Body)
		if resp.Header.Get("Date") == "" && 200 <= resp.StatusCode && resp.StatusCode < 400 {
			t.Errorf("%.100q: the answer has no date", sent)
		}
		resp.Header.Del("Date")
		if resp.Close {
			err = nil // whether the end was read or the connection was reset depends on how fast the client is
		}
		all = append(all, fmt.Sprintf("%s %v length %d chunks %v close %v %d bytes %q %v", resp.Status, resp.Header,
			resp.ContentLength, resp.TransferEncoding, resp.Close, len(body), body[:min(len(body), 1000)], err))
	}
}

// A client that sends its request byte by byte gets the same answer.
func TestSlowClient(t *testing.T) {
	_, address := start(t, http.HandlerFunc(told), nil)
	sent := "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n\r\nhello, world"
	var want []string
	for _, step := range []int{len(sent), 1} {
		conn := dial(t, address)
		for i := 0; i < len(sent); i += step {
			io.WriteString(conn, sent[i:i+step])
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		want = append(want, string(body))
	}
	if want[0] != want[1] || !strings.Contains(want[0], "hello, world") {
		t.Errorf("answers %q", want)
	}
}

// The timeouts of the http.Server apply.
func TestTimeouts(t *testing.T) {
	short := 100 * time.Millisecond
	failed := make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		failed <- err
	})
	for _, c := range []struct {
		name, sent string
		set        func(*http.Server)
		handled    bool
	}{
		{"idle", "", func(s *http.Server) { s.IdleTimeout = short - slack }, false},
		{"head", "GET / HTTP/1.1\r\nHost: h", func(s *http.Server) { s.ReadHeaderTimeout = short }, false},
		{"body", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nx",
			func(s *http.Server) { s.ReadTimeout = short }, true},
	} {
		_, address := start(t, handler, func(s *Server) { c.set(s.HTTP) })
		conn := dial(t, address)
		io.WriteString(conn, c.sent)
		if c.handled {
			if err := <-failed; !os.IsTimeout(err) {
				t.Errorf("%s: the handler reads with error %v, want a timeout", c.name, err)
			}
		}
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("%s: %v, want the end of the connection", c.name, err)
		}
	}
}

// A request ends when its client goes away, however it is read.
func TestClientGone(t *testing.T) {
	entered, ended := make(chan bool), make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		entered <- true
		select {
		case <-r.Context().Done():
			ended <- nil
		case <-time.After(10 * time.Second):
			ended <- fmt.Errorf("the request goes on")
		}
	})
	_, address := start(t, handler, nil)
	for _, sent := range []string{
		"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx",
		"GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\n",
	} {
		conn := dial(t, address)
		io.WriteString(conn, sent)
		<-entered
		conn.Close()
		if err := <-ended; err != nil {
			t.Errorf("%q: %v", sent, err)
		}
	}
}

// What a client sends while a long request runs is its next request. The context of a request ends with it.
func TestNextDuringLongRequest(t *testing.T) {
	var contexts []context.Context
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		contexts = append(contexts, r.Context())
		if r.URL.Path == "/long" {
			select {
			case <-time.After(4 * watchAfter):
			case <-r.Context().Done():
				t.Error("the long request was cancelled")
			}
		}
		io.WriteString(w, r.URL.Path)
	})
	_, address := start(t, handler, nil)
	conn := dial(t, address)
	r := bufio.NewReader(conn)
	for range 3 {
		io.WriteString(conn, "GET /long HTTP/1.1\r\nHost: h\r\n\r\n")
		<-time.After(2 * watchAfter)
		io.WriteString(conn, "GET /next HTTP/1.1\r\nHost: h\r\n\r\n")
		for _, want := range []string{"/long", "/next"} {
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := io.ReadAll(resp.Body); string(body) != want {
				t.Errorf("answer %q, want %q", body, want)
			}
		}
	}
	conn.Close()
	for i, ctx := range contexts {
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Errorf("the context of request %d has not ended", i)
		}
	}
}

// Shutdown closes idle connections and lets requests end; Close does not.
func TestShutdown(t *testing.T) {
	entered, release := make(chan bool), make(chan bool)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- true
		<-release
		io.WriteString(w, "done")
	})
	var arrived, left atomic.Int64
	count := func(s *Server) {
		s.Arrived = func(ctx context.Context, _ net.Conn) context.Context { arrived.Add(1); return ctx }
		s.Left = func(net.Conn) { left.Add(1) }
	}
	s, address := start(t, handler, count)
	idle, old, busy := dial(t, address), dial(t, address), dial(t, address)
	io.WriteString(busy, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	<-entered
	io.WriteString(old, "GET / HTTP/1.0\r\n\r\n")
	<-entered
	ended := make(chan error)
	go func() { ended <- s.Shutdown(t.Context()) }()
	if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("idle connection: %v, want its end", err)
	}
	select {
	case err := <-ended:
		t.Errorf("Shutdown returned before the requests ended: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(release)
	for _, conn := range []net.Conn{busy, old} {
		answer, err := io.ReadAll(conn)
		closes := bytes.Contains(answer, []byte("Connection: close")) || conn == old
		if err != nil || !bytes.HasSuffix(answer, []byte("done")) || !closes {
			t.Errorf("answer %q, %v", answer, err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if arrived.Load() != 3 || left.Load() != 3 {
		t.Errorf("%d connections arrived, %d left, want 3 and 3", arrived.Load(), left.Load())
	}

	release = make(chan bool)
	defer close(release)
	s, address = start(t, handler, nil)
	busy = dial(t, address)
	io.WriteString(busy, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); err == nil {
		t.Error("Shutdown returned nil while a request ran")
	}
	s.Close()
	if _, err := io.ReadAll(busy); err == nil {
		t.Log("the connection ended")
	}
}

// A panic of a handler ends its connection, and nothing else.
func TestPanic(t *testing.T) {
	_, address := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic("of the test")
		}
	}), nil)
	conn, other := dial(t, address), dial(t, address)
	io.WriteString(conn, "GET /panic HTTP/1.1\r\nHost: h\r\n\r\n")
	if answer, err := io.ReadAll(conn); err != nil || len(answer) > 0 {
		t.Errorf("answer %q, %v", answer, err)
	}
	io.WriteString(other, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if resp, err := http.ReadResponse(bufio.NewReader(other), nil); err != nil || resp.StatusCode != 200 {
		t.Errorf("another connection: %v, %v", resp, err)
	}
}
