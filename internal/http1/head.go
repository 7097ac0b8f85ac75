package http1

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
)

// A head is the head of a request: request line and headers. Its memory is used again for the next request of the
// connection, but not that of the strings.
type head struct {
	method string
	target string
	url    url.URL
	host   string
	length int64 // of the body
	header http.Header
	values []string // those of header
}

// parse reads a head from the beginning of text, and returns its length, or 0 if it is not complete. It fails with
// errUncommon if the head is none that this package answers.
func (h *head) parse(text []byte, names *names) (int, error) {
	end := bytes.Index(text, headEnd)
	if end < 0 {
		return 0, h.possible(text)
	}
	end += len(headEnd)
	if end > maxHead {
		return 0, errUncommon
	}
	all := string(text[:end-len("\r\n")])
	line, rest, _ := strings.Cut(all, "\r\n")
	if !h.parseLine(line) || !h.parseHeaders(rest, text[len(all)-len(rest):], names) {
		return 0, errUncommon
	}
	return end, nil
}

var headEnd = []byte("\r\n\r\n")

// possible fails if no head that this package answers begins like text.
func (h *head) possible(text []byte) error {
	for rest := text; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		if i == 0 || rest[i-1] != '\r' {
			return errUncommon
		}
		rest = rest[i+1:]
	}
	for method := range methods {
		if n := min(len(text), len(method)); string(text[:n]) == method[:n] {
			return nil
		}
	}
	return errUncommon
}

// methods are those that are answered here.
var methods = map[string]bool{
	http.MethodGet: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true,
}

// parseLine reads the request line.
func (h *head) parseLine(line string) bool {
	method, rest, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(rest, " ")
	if !methods[method] || version != "HTTP/1.1" || target == "" || target[0] != '/' {
		return false
	}
	plain := true
	for i := range len(target) {
		switch class := targetBytes[target[i]]; class {
		case 0:
			return false
		case escaped:
			plain = false
		}
	}
	h.method, h.target = method, target
	if plain {
		h.url = url.URL{Path: target}
		return true
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return false
	}
	h.url = *u
	return true
}

// Classes of the bytes of a target. A byte without a class is uncommon.
const (
	plainByte = 1 // in a path, net/url neither reads nor writes it in another way
	escaped   = 2
)

var targetBytes = func() (class [256]uint8) {
	for c := byte('!'); c <= '~'; c++ {
		class[c] = escaped
	}
	class['#'] = 0
	for _, c := range []byte("-_.~/=+@") {
		class[c] = plainByte
	}
	for c := range 256 {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			class[c] = plainByte
		}
	}
	return class
}()

// parseHeaders reads the headers. text is the same bytes as rest, which ends with the line break of the last header.
func (h *head) parseHeaders(rest string, text []byte, names *names) bool {
	if h.header == nil {
		h.header = http.Header{}
	}
	clear(h.header)
	h.values = h.values[:0]
	h.host, h.length = "", -1
	for rest != "" {
		colon := strings.IndexByte(rest, ':')
		if colon <= 0 {
			return false
		}
		name := text[:colon]
		for _, c := range name {
			if !nameBytes[c] {
				return false
			}
		}
		end := strings.IndexByte(rest[colon:], '\r')
		if end < 0 {
			return false
		}
		end += colon
		if rest[end+1] != '\n' {
			return false
		}
		value := strings.Trim(rest[colon+1:end], " \t")
		for i := range len(value) {
			if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
				return false
			}
		}
		if !h.add(names.canonical(name), value) {
			return false
		}
		rest, text = rest[end+2:], text[end+2:]
	}
	h.length = max(h.length, 0)
	return h.host != ""
}

// nameBytes are the bytes of names (RFC 9110, 5.6.2).
var nameBytes = func() (is [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		is[c] = true
	}
	return is
}()

// add takes a header, and returns false if net/http has to read the request because of it.
func (h *head) add(name, value string) bool {
	switch name {
	case "Host":
		if h.host != "" || value == "" {
			return false
		}
		for i := range len(value) {
			if !hostBytes[value[i]] {
				return false
			}
		}
		h.host = value
		return true // a handler finds it in Request.Host alone
	case "Content-Length":
		if h.length >= 0 || !h.setLength(value) {
			return false
		}
	case "Connection":
		if !strings.EqualFold(value, "keep-alive") {
			return false
		}
	case "Transfer-Encoding", "Expect", "Upgrade", "Trailer", "Pragma", "Http2-Settings", "Proxy-Connection":
		return false
	}
	if have := h.header[name]; have != nil {
		h.header[name] = append(have[:len(have):len(have)], value)
		return true
	}
	if len(h.values) == cap(h.values) {
		h.values = make([]string, 0, max(32, 2*cap(h.values)))
	}
	n := len(h.values)
	h.values = append(h.values, value)
	h.header[name] = h.values[n : n+1 : n+1]
	return true
}

// hostBytes are the bytes of names, addresses and ports of hosts.
var hostBytes = func() (is [256]bool) {
	for _, c := range []byte("-._:[]0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		is[c] = true
	}
	return is
}()

// setLength reads the Content-Length.
func (h *head) setLength(value string) bool {
	if value == "" || len(value) > 15 {
		return false
	}
	var n int64
	for i := range len(value) {
		c := value[i]
		if c < '0' || c > '9' {
			return false
		}
		n = n*10 + int64(c-'0')
	}
	h.length = n
	return true
}

// request makes a request without a body.
func (h *head) request(ctx context.Context) *http.Request {
	r := blank.WithContext(ctx)
	u := h.url
	r.Method, r.URL, r.RequestURI = h.method, &u, h.target
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header, r.Host, r.ContentLength = h.header, h.host, h.length
	return r
}

var blank = new(http.Request)
