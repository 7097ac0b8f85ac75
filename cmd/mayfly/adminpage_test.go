package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestAdminSession types the sessions of docs/admin.md, one after the other against one mayfly, and expects what the
// page shows, where … is anything.
func TestAdminSession(t *testing.T) {
	needTools(t, "bash", "curl")
	_, fences := page(t, "docs/admin.md")
	var function string
	var s *server
	sessions := 0
	for i, f := range fences {
		switch {
		case f.language != "sh":
		case strings.HasPrefix(f.text, "mayfly "):
			flags := strings.Fields(f.text)[1:]
			s = serve(t, append(flags, "--nosql=127.0.0.1:0", "--mongo=", "--admin=127.0.0.1:0")...)
		case strings.HasPrefix(f.text, "api()"):
			function = strings.ReplaceAll(f.text, "http://localhost:8080/", s.address(t, "Admin"))
		default:
			sessions++
			got, err := exec.CommandContext(t.Context(), "bash", "-eu", "-c", function+f.text).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, got)
			}
			want := fences[i+1].text
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", ".*")
			if !regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimSpace(string(got))) {
				t.Errorf("the session printed\n%s\nthe page has\n%s", got, want)
			}
		}
	}
	if sessions < 4 {
		t.Errorf("the page has %d sessions", sessions)
	}
	s.stop(t, os.Interrupt)
}
