package pattern

import (
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/mayflydb/mayfly/internal/fault"
)

func nested(levels int, count string) string {
	return strings.Repeat("(?:", levels) + "a" + strings.Repeat(")"+count, levels)
}

// Twenty levels would need more memory than any machine has.
func TestRepetitionsWithinRepetitions(t *testing.T) {
	for _, c := range []struct {
		name, text string
		refused    bool
	}{
		{"twenty levels", nested(20, "{9}"), true},
		{"twenty levels of at least", nested(20, "{9,}"), true},
		{"twenty levels of two", nested(20, "{2}"), true},
		{"lazy", nested(20, "{9}?"), true},
		{"behind a class", `[)(]` + nested(20, "{9}"), true},
		{"within a group of its own", "(x" + nested(20, "{9}") + ")", true},
		{"seven levels", nested(7, "{9}"), false},
		{"without a count", nested(100, "+"), false},
		{"once", nested(100, "{1}"), false},
		{"in a class", `[(((((((((((((((((((({9}]`, false},
		{"of escapes", strings.Repeat(`\(`, 20) + strings.Repeat(`\){9}`, 20), false},
		{"beside each other", strings.Repeat("(ab){9}", 1000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(c.text, regexp2.None, time.Second)
			if (fault.KindOf(err) == fault.Invalid) != c.refused || (err != nil) != c.refused {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestCompile(t *testing.T) {
	x, err := Compile(`^(?<=x)?(a+)+$(?!b)`, regexp2.None, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.MatchString(strings.Repeat("a", 60) + "!"); err == nil {
		t.Error("a match has no limit")
	}
	if _, err := Compile(`(`, regexp2.None, time.Second); fault.KindOf(err) != fault.Invalid {
		t.Errorf("error %v of a wrong pattern", err)
	}
}
