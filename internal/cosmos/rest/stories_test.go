package rest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/storytest"
)

const storyFolder = "testdata/stories"

// A story is a list of steps and of the answers that they must get. Its language is described in
// testdata/stories/README.md.
type story struct {
	intro []string // comments before it, blank lines included
	title string
	steps []string
	want  []string
}

// takesTime reports whether anything can expire in it.
func (s *story) takesTime() bool {
	return slices.ContainsFunc(s.steps, func(step string) bool {
		return strings.HasPrefix(step, "at ") || strings.HasPrefix(step, "advance ") || strings.HasPrefix(step, "tick ")
	})
}

// ticks reports whether the clock advances with each read of it.
func (s *story) ticks() bool {
	return slices.ContainsFunc(s.steps, func(step string) bool { return strings.HasPrefix(step, "tick ") })
}

// readStories parses a file.
func readStories(t testing.TB, file string) (list []*story) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	var s *story
	var intro []string
	telling, answering := false, false
	for n, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		switch {
		case answering && line != "":
			s.want = append(s.want, line)
		case answering:
			answering = false
		case telling && line == "----":
			telling, answering = false, true
		case telling:
			s.steps = append(s.steps, line)
		case line == "story" || strings.HasPrefix(line, "story "):
			s = &story{intro: intro, title: strings.TrimPrefix(strings.TrimPrefix(line, "story"), " ")}
			list, intro, telling = append(list, s), nil, true
		case line == "" || strings.HasPrefix(line, "#"):
			intro = append(intro, line)
		default:
			t.Fatalf("%s:%d: neither comment nor story: %q", file, n+1, line)
		}
	}
	if len(list) == 0 || telling {
		t.Fatalf("%s: no story, or one without ----", file)
	}
	return list
}

func writeStories(t testing.TB, file string, list []*story) {
	t.Helper()
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, part := range [][]string{s.intro, {strings.TrimSpace("story " + s.title)}, s.steps, {"----"}, s.want} {
			for _, line := range part {
				b.WriteString(line + "\n")
			}
		}
	}
	must(t, os.WriteFile(file, []byte(b.String()), 0o644))
}

func storyFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(storyFolder + "/*.txt")
	must(t, err)
	if len(files) < 50 {
		t.Fatalf("only %d story files", len(files))
	}
	return files
}

// TestStories runs every story four times: as it is written; with everything expired reclaimed before each step; with a
// restart before each step of the clock; and with each request sent to another of three processes that share the data,
// on machines with wrong clocks. Clients must not see any difference.
func TestStories(t *testing.T) {
	for _, file := range storyFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			list := readStories(t, file)
			for i, s := range list {
				name := fmt.Sprintf("%d %s", i+1, s.title)
				got := tell(t, s, telling{})
				if storytest.Rewriting() {
					s.want = got.lines()
				} else if !slices.Equal(got.lines(), s.want) {
					t.Errorf("story %s:\n%s", name, firstDifference(got.lines(), s.want))
					continue
				}
				if !s.takesTime() {
					continue
				}
				got.mustEqual(t, name+", everything reclaimed at once", tell(t, s, telling{reclaiming: true}))
				got.mustEqual(t, name+", with restarts", tell(t, s, telling{restarting: true}))
				if !s.ticks() { // the time of an engine does not advance by itself
					got.mustEqual(t, name+", by three processes", tell(t, s, telling{spread: true}))
				}
			}
			if storytest.Rewriting() && !t.Failed() {
				writeStories(t, file, list)
			}
		})
	}
}

// firstDifference shows two texts up to their first different line.
func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return strings.Join(got[:min(i, len(got))], "\n") + "\ngot  " + g + "\nwant " + w
		}
	}
	return ""
}

// What the page for users promises.
const storyPage = "../../../docs/ttl.md"

var (
	storyLink = regexp.MustCompile(`\]\((?:\.\./)?internal/cosmos/rest/testdata/stories/([^)#]*)\)`)
	ruleName  = regexp.MustCompile(`\b[TA]-\d\d\b`)
)

func TestStoriesAreTheRules(t *testing.T) {
	text, err := os.ReadFile(storyPage)
	must(t, err)
	linked := map[string]bool{}
	for _, m := range storyLink.FindAllStringSubmatch(string(text), -1) {
		linked[m[1]] = true
		if _, err := os.Stat(filepath.Join(storyFolder, m[1])); err != nil {
			t.Errorf("docs/ttl.md links to %s, which is not there", m[1])
		}
	}
	for _, file := range storyFiles(t) {
		if !linked[filepath.Base(file)] {
			t.Errorf("docs/ttl.md has no link to %s", filepath.Base(file))
		}
	}
	for _, line := range strings.Split(string(text), "\n") {
		checkRuleLine(t, line)
	}
	for n := 1; n <= 67; n++ {
		if rule := fmt.Sprintf("T-%02d", n); !strings.Contains(string(text), rule) && (n < 29 || n > 30) {
			t.Errorf("docs/ttl.md does not mention %s", rule)
		}
	}
	for n := 1; n <= 33; n++ {
		if rule := fmt.Sprintf("A-%02d", n); !strings.Contains(string(text), rule) {
			t.Errorf("docs/ttl.md does not mention %s", rule)
		}
	}
}

// checkRuleLine finds rows that name a rule and link to another rule's story.
func checkRuleLine(t *testing.T, line string) {
	t.Helper()
	cells := strings.Split(line, "|")
	if len(cells) < 3 {
		return
	}
	rules := ruleName.FindAllString(cells[1], -1)
	for _, m := range storyLink.FindAllStringSubmatch(line, -1) {
		named := ruleName.FindAllString(m[1], -1)
		if len(rules) > 0 && len(named) > 0 && !slices.ContainsFunc(rules,
			func(rule string) bool { return slices.Contains(named, rule) }) {
			t.Errorf("docs/ttl.md: the row of %v links to %s", rules, m[1])
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
