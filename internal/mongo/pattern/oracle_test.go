package pattern

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A question is a pattern and a text to look for it in.
type question struct{ text, options, subject string }

// answer is what this package says: "none", "error: text", or the place of the match in bytes and
// the texts of groups.
func (q question) answer() string {
	o, err := ParseOptions(q.options, "")
	if err != nil {
		return "error: " + err.Error()
	}
	p, err := Compile(q.text, o)
	if err != nil {
		return "error: " + err.Error()
	}
	at, err := p.Find(q.subject, nil)
	if err != nil {
		return "failed: " + err.Error()
	}
	found, err := p.Match(q.subject, nil)
	switch {
	case err != nil:
		return "failed: " + err.Error()
	case found != (at != nil):
		return fmt.Sprintf("Match says %v, Find says %v", found, at)
	case at == nil:
		return "none"
	}
	parts := []string{fmt.Sprintf("%d-%d", at[0], at[1])}
	for i := 2; i < len(at); i += 2 {
		if at[i] < 0 {
			parts = append(parts, "unset")
		} else {
			parts = append(parts, strconv.Quote(q.subject[at[i]:at[i+1]]))
		}
	}
	for len(parts) > 1 && parts[len(parts)-1] == "unset" {
		parts = parts[:len(parts)-1] // pcre2test does not show them
	}
	return strings.Join(parts, " ")
}

// askPCRE2 asks pcre2test, of Debian's package pcre2-utils. Empty answers are none that it could give. Without
// no_auto_possess, version 10.42 takes \N* in front of \R for possessive and finds nothing in "\v".
func askPCRE2(t *testing.T, all []question) []string {
	t.Helper()
	name, err := exec.LookPath("pcre2test")
	if err != nil {
		t.Fatalf("%v: install Debian's package pcre2-utils", err)
	}
	var in strings.Builder
	letters := map[rune]string{'i': ",caseless", 'm': ",multiline", 's': ",dotall", 'x': ",extended", 'u': ""}
	for _, q := range all {
		fmt.Fprintf(&in, "/%s/hex,utf,aftertext,no_auto_possess", hex.EncodeToString([]byte(q.text)))
		for _, o := range q.options {
			in.WriteString(letters[o])
		}
		in.WriteString("\n    ")
		for _, r := range q.subject {
			fmt.Fprintf(&in, `\x{%x}`, r)
		}
		in.WriteString("\\=no_jit\n\n")
	}
	c := exec.Command(name, "-q")
	c.Stdin = strings.NewReader(in.String())
	out, err := c.Output()
	if err != nil {
		t.Fatalf("pcre2test: %v\n%s", err, out)
	}
	parts := bytes.Split(out, []byte("/hex,utf,aftertext"))[1:]
	if len(parts) != len(all) {
		t.Fatalf("pcre2test answers %d of %d questions", len(parts), len(all))
	}
	answers := make([]string, len(all))
	for i, part := range parts {
		answers[i] = readPCRE2(string(part), all[i].subject)
	}
	return answers
}

func readPCRE2(out, subject string) string {
	var match, groups []string
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "Failed: error "); ok {
			number, text, _ := strings.Cut(text, ": ")
			if strings.HasPrefix(number, "-") {
				return "failed: " + text
			}
			return "error: " + text
		}
		switch {
		case line == "No match":
			return "none"
		case strings.HasPrefix(line, " 0: "), strings.HasPrefix(line, " 0+ "):
			match = append(match, unescape(line[4:]))
		case len(line) > 4 && line[0] == ' ' && line[2] == ':' || len(line) > 4 && line[2] == ':':
			groups = append(groups, strconv.Quote(unescape(line[4:])))
			if line[4:] == "<unset>" {
				groups[len(groups)-1] = "unset"
			}
		case len(line) == 4 && line[2] == ':':
			groups = append(groups, `""`)
		}
	}
	if len(match) != 2 {
		return ""
	}
	end := len(subject) - len(match[1])
	return strings.Join(append([]string{fmt.Sprintf("%d-%d", end-len(match[0]), end)}, groups...), " ")
}

// unescape reads \x{41}.
func unescape(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, `\x{`)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		digits, rest, _ := strings.Cut(after, "}")
		r, _ := strconv.ParseUint(digits, 16, 32)
		b.WriteRune(rune(r))
		s = rest
	}
}
