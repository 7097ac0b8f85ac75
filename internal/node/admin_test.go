package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// TestAdminStories runs requests to the admin API of a whole node. A case is one request: its line, such as
// GET /databases, its header, then its body; or `advance 1h` for the clock. The answer is the status, the header that
// matters, and the body. $etag, $location, $continuation and $operation stand for what an earlier answer had.
func TestAdminStories(t *testing.T) {
	storytest.Run(t, "testdata/admin/*.txt", storytest.Blocks, func() storytest.Answer {
		var s *adminStory
		return func(t *testing.T, given string) (string, bool) {
			if s == nil {
				s = newAdminStory(t, Options{})
			}
			return s.answer(t, given), true
		}
	})
}

type adminStory struct {
	n    *Node
	last map[string]string // what $names stand for
}

func newAdminStory(t *testing.T, o Options) *adminStory {
	o.Admin, o.Virtual, o.VirtualStart = "127.0.0.1:0", true, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o.Version = "0.0.0-test"
	return &adminStory{start(t, o), map[string]string{}}
}

func (s *adminStory) answer(t *testing.T, given string) string {
	t.Helper()
	if text, ok := strings.CutPrefix(given, "advance "); ok {
		d, err := clock.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		now, err := s.n.Move(t.Context(), func(now time.Time) time.Time { return now.Add(d) })
		if err != nil {
			t.Fatal(err)
		}
		return now.Format(time.RFC3339)
	}
	for name, value := range s.last {
		given = strings.ReplaceAll(given, "$"+name, value)
	}
	r, response, body := s.send(t, given)
	checkAgainstDocument(t, r, response, body)
	return s.show(t, response, body)
}

func (s *adminStory) send(t *testing.T, given string) (*http.Request, *http.Response, []byte) {
	t.Helper()
	line, rest, _ := strings.Cut(given, "\n")
	method, path, ok := strings.Cut(line, " ")
	if !ok {
		t.Fatalf("%q is no request", line)
	}
	header := http.Header{}
	for rest != "" && !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, "[") {
		line, after, _ := strings.Cut(rest, "\n")
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
		rest = after
	}
	url := strings.TrimSuffix(s.n.AdminURL(), "/") + "/_mayfly/v1" + path
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(rest))
	if err != nil {
		t.Fatal(err)
	}
	if r.Header = header; rest != "" && header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.Body = io.NopCloser(strings.NewReader(rest))
	return r, response, body
}

// Members whose values are not the same each time, with what is shown for them.
var volatile = regexp.MustCompile(
	`"(_etag|_rid|_self|id|started|ended|seconds|continuation|uuid|elapsedMs|identity)":("(?:[^"\\]|\\.)*"|[0-9.]+)`)

func (s *adminStory) show(t *testing.T, response *http.Response, body []byte) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintln(&out, response.Status)
	for _, name := range []string{"Allow", "Location", "X-Mayfly-Expires-At", "X-Mayfly-Hint", "Www-Authenticate"} {
		if value := response.Header.Get(name); value != "" {
			fmt.Fprintf(&out, "%s: %s\n", name, oid.ReplaceAllString(value, "<oid>"))
		}
	}
	if etag := response.Header.Get("Etag"); etag != "" {
		s.last["etag"] = etag
	}
	if location := response.Header.Get("Location"); location != "" {
		s.last["location"] = strings.TrimPrefix(location, "/_mayfly/v1")
	}
	if len(body) == 0 {
		return out.String()
	}
	if kind := response.Header.Get("Content-Type"); kind != "application/json" {
		fmt.Fprintln(&out, kind)
	}
	var sent struct{ Continuation string }
	if json.Unmarshal(body, &sent) == nil && sent.Continuation != "" {
		s.last["continuation"] = sent.Continuation
	}
	text := volatile.ReplaceAllStringFunc(string(body), func(member string) string {
		name, value, _ := strings.Cut(member, ":")
		if name == `"id"` && len(value) != len(`"ABCDEFGHIJKLMNOPQRSTUVWXYZ"`) {
			return member
		}
		return name + `:"…"`
	})
	text = oid.ReplaceAllString(text, "<oid>")
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(text), "", "  "); err != nil {
		out.WriteString(text)
	} else {
		out.WriteString(compact(pretty.String()))
	}
	return out.String()
}

var oid = regexp.MustCompile(`\b[0-9a-f]{24}\b`)

// compact puts what fits into a line into one.
func compact(pretty string) string {
	lines := strings.Split(pretty, "\n")
	for again := true; again; {
		again = false
		for i := 0; i < len(lines); i++ {
			open := lines[i]
			if !strings.HasSuffix(open, "{") && !strings.HasSuffix(open, "[") {
				continue
			}
			indent := open[:len(open)-len(strings.TrimLeft(open, " "))]
			end := i + 1
			for end < len(lines) && strings.HasPrefix(lines[end], indent+"  ") {
				end++
			}
			if end == len(lines) {
				continue
			}
			joined := open
			for _, line := range lines[i+1 : end] {
				joined += strings.TrimSpace(line) + " "
			}
			joined = strings.TrimSuffix(joined, " ") + strings.TrimSpace(lines[end])
			if len(joined) <= 118 {
				lines = slices.Replace(lines, i, end+1, joined)
				again = true
			}
		}
	}
	return strings.Join(lines, "\n")
}
