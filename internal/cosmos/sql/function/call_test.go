package function

import (
	"math"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A callCase is a call with its arguments as written in a query, and its result as JSON. "undefined" is no result,
// and "!" begins the kind of an error.
type callCase struct{ name, args, want string }

func runCalls(t *testing.T, cases []callCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name+"("+c.args[:min(len(c.args), 60)]+")", func(t *testing.T) {
			if got := evaluate(t, c.name, c.args); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// evaluate runs a call twice, as for two rows: what it caches from the first must not change the second.
func evaluate(t testing.TB, name, text string) string {
	t.Helper()
	f, ok := Lookup(name)
	if !ok {
		t.Fatalf("there is no function %s", name)
	}
	args := arguments(t, text)
	if len(args) < f.Min || f.Max >= 0 && len(args) > f.Max {
		t.Fatalf("%s takes %d to %d arguments", name, f.Min, f.Max)
	}
	c := &Call{}
	first := shown(c, f.Run(c, args))
	if c.Err != nil {
		return first
	}
	if second := shown(c, f.Run(c, args)); second != first {
		t.Errorf("first %.60s, then %.60s", first, second)
	}
	return first
}

func shown(c *Call, v doc.Value) string {
	if c.Err != nil {
		return "!" + fault.KindOf(c.Err).String()
	}
	if doc.IsUndefined(v) {
		return "undefined"
	}
	return string(doc.Query.AppendJSONValue(nil, v))
}

func arguments(t testing.TB, text string) (args []doc.Value) {
	t.Helper()
	for _, part := range splitArguments(text) {
		args = append(args, argument(t, part))
	}
	return args
}

func argument(t testing.TB, text string) doc.Value {
	t.Helper()
	switch text {
	case "undefined":
		return doc.Value{}
	case "NaN":
		return doc.Float(math.NaN())
	case "Infinity":
		return doc.Float(math.Inf(1))
	case "-Infinity":
		return doc.Float(math.Inf(-1))
	}
	v, err := doc.ValueFromJSON([]byte(text))
	if err != nil {
		t.Fatalf("%.60s: %v", text, err)
	}
	return v
}

// splitArguments splits text at the commas outside of strings and brackets.
func splitArguments(text string) (parts []string) {
	depth, quoted, start := 0, false, 0
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '[' || b == '{':
			depth++
		case b == ']' || b == '}':
			depth--
		case b == ',' && depth == 0:
			parts = append(parts, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(parts, strings.TrimSpace(text[start:]))
}
