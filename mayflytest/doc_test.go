package mayflytest_test

import (
	"os"
	"strings"
	"testing"
)

// TestDocIsTheExample holds the package comment to what TestExample runs.
func TestDocIsTheExample(t *testing.T) {
	doc, err := os.ReadFile("mayflytest.go")
	if err != nil {
		t.Fatal(err)
	}
	test, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	var code strings.Builder
	for line := range strings.Lines(string(doc)) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok {
			code.WriteString("\t" + text)
			lines++
		} else if lines > 0 && line == "//\n" {
			code.WriteString("\n")
		}
	}
	if lines < 10 || !strings.Contains(string(test), strings.TrimSpace(code.String())) {
		t.Errorf("the package comment's code is not the body of TestExample:\n%s", code.String())
	}
}
