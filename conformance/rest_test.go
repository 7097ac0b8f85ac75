package conformance

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// An answer is a response of the bare protocol.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// object is the body as a JSON object; nil when it is none.
func (a answer) object() map[string]any {
	var o map[string]any
	json.Unmarshal(a.body, &o)
	return o
}

// items are the documents of a feed.
func (a answer) items() []map[string]any {
	var feed struct{ Documents []map[string]any }
	json.Unmarshal(a.body, &feed)
	return feed.Documents
}

// header is one request header: name, value. One without a name is left out.
type header [2]string

// do signs and sends a request for what azcosmos has no call for: bad values,
// the read feed of items. The path is plain ("dbs/d/colls/c/docs"), the body is
// a string as it goes over the wire or a value that becomes JSON.
func (s *server) do(t testing.TB, method, path string, body any, headers ...header) answer {
	t.Helper()
	a, err := s.send(method, path, body, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (s *server) send(method, path string, body any, headers ...header) (answer, error) {
	kind, link := signed(path)
	return s.sendAs(kind, link, method, path, body, headers...)
}

// sendAs signs for a resource type and link of the caller's choice.
func (s *server) sendAs(kind, link, method, path string, body any, headers ...header) (answer, error) {
	text, ok := body.(string)
	if !ok && body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		text = string(b)
	}
	target := url.URL{Scheme: "https", Host: s.nosql, Path: "/" + path}
	req, err := http.NewRequest(method, target.String(), bytes.NewReader([]byte(text)))
	if err != nil {
		return answer{}, err
	}
	sign(req, kind, link)
	for _, h := range headers {
		if h[0] != "" {
			req.Header.Set(h[0], h[1])
		}
	}
	resp, err := s.https.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, got}, err
}

// signed are the resource type and the link that a path of names is signed with.
func signed(path string) (kind, link string) {
	path, _, _ = strings.Cut(path, "/operations/") // an operation is signed as its container
	segments := strings.Split(path, "/")
	if len(segments)%2 == 0 {
		return segments[len(segments)-2], path
	}
	return segments[len(segments)-1], strings.Join(segments[:len(segments)-1], "/")
}

// byRID is do for a path of RIDs: signed with the last of them, in lower case.
func (s *server) byRID(t testing.TB, method, path string, body any, headers ...header) answer {
	t.Helper()
	kind, link := signed(path)
	segments := strings.Split(link, "/")
	a, err := s.sendAs(kind, strings.ToLower(segments[len(segments)-1]), method, path, body, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// sign authorises a request with the account key.
// See learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources.
func sign(req *http.Request, kind, link string) { signAt(req, kind, link, time.Now()) }

func signAt(req *http.Request, kind, link string, at time.Time) {
	date := at.UTC().Format(http.TimeFormat)
	text := strings.ToLower(req.Method) + "\n" + kind + "\n" + link + "\n" + strings.ToLower(date) + "\n\n"
	key, err := base64.StdEncoding.DecodeString(emulatorKey)
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	token := "type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	req.Header.Set("x-ms-date", date)
	req.Header.Set("x-ms-version", "2020-07-15")
	req.Header.Set("Authorization", url.QueryEscape(token))
}

// keyed is the partition key header for one string value.
func keyed(value string) header {
	b, _ := json.Marshal([]string{value})
	return header{"x-ms-documentdb-partitionkey", string(b)}
}
