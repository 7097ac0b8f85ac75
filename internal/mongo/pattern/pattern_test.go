package pattern

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
)

var record = flag.Bool("record", false, "put down what pcre2test answers")

// TestPCRE2 compares with answers of pcre2test 10.42, which were recorded with -record: pattern,
// options and text in quotes, " => ", and the answer.
func TestPCRE2(t *testing.T) {
	const file = "testdata/pcre2.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	var all []question
	var places []int
	for i, line := range lines {
		if line == "" || line[0] == '#' {
			continue
		}
		var q question
		rest := line
		for _, part := range []*string{&q.text, &q.options, &q.subject} {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			*part, _ = strconv.Unquote(quoted)
			rest = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		all, places = append(all, q), append(places, i)
		if *record {
			lines[i] = strings.TrimSuffix(line, " "+rest)
			continue
		}
		if got, want := q.answer(), strings.TrimPrefix(rest, "=> "); got != want {
			t.Errorf("%s:%d\n%s\ngives %s", file, i+1, line, got)
		}
	}
	if !*record {
		return
	}
	for i, answer := range askPCRE2(t, all) {
		lines[places[i]] += " => " + answer
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
