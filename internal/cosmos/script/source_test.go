package script

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// Sources for which the parser or the compiler would need minutes or gigabytes.
func TestHeavySourcesAreRefused(t *testing.T) {
	nested := func(before, within, after string, n int) string {
		return strings.Repeat(before, n) + within + strings.Repeat(after, n)
	}
	for name, body := range map[string]string{
		"labels":                      strings.Repeat("a:", 1e5) + ";",
		"labels in loops":             strings.Repeat("a:while(1)", 2e4) + ";",
		"labels with comments":        strings.Repeat("a/**/:", 3e4) + ";",
		"labels with many comments":   strings.Repeat("a//x\n:", 3e4) + ";",
		"labels with escapes":         strings.Repeat(`\u0061b:\u{61}b:a\u0062:`, 1e4) + ";",
		"labels with odd spaces":      strings.Repeat("a\ufeff:a\ufeff\ufeff:", 2e4) + ";",
		"arrow functions":             "return " + strings.Repeat("a=>", 5e4) + "1",
		"arrows in default values":    "return " + nested("(a=", "1", ")=>1", 40),
		"arrows in asynchronous ones": "return " + nested("async(a=", "1", ")=>1", 40),
		"arrows in patterns":          "return " + nested("({a=", "1", "})=>1", 40),
		"arrows behind comments":      "return " + nested("(a=", "1", "//(\n)=>1", 40),
		"alternatives":                "return a" + strings.Repeat("||a", 5e4),
		"signs":                       "return " + strings.Repeat("- ", 1e5) + "1",
		"members":                     "return a" + strings.Repeat("?.a", 5e4),
		"brackets":                    nested("{", "", "}", 1e5),
		"brackets in comments":        nested("{/*}*/", "", "}", 3e4),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := within(t, 5*time.Second, "function f(a) { "+body+" }")
			if ex, ok := errors.AsType[*Exception](err); !ok || !strings.Contains(ex.Message, "while compiling") {
				t.Errorf("error %v", err)
			}
		})
	}
	if n := compiles.abandoned.Load(); n != 0 {
		t.Errorf("%d scripts are still compiled", n)
	}
}

func TestOrdinarySourcesAreNotHeavy(t *testing.T) {
	for name, body := range map[string]string{
		"long sums":  `return "a"` + strings.Repeat(` + "a"`, 1000),
		"many cases": "switch (1) {" + strings.Repeat("case a: ", 900) + "}",
		"a table":    "return [" + strings.Repeat(`{"id": 1, name: 2},`, 900) + "]",
		"arrow functions": strings.Repeat("[1].map((v, i) => v).filter(({ a, b }) => a).map(v => v).map(async () => "+
			"1);", 500),
		"patterns in rows": strings.Repeat("(({\n\ta,\n\tb: [c],\n\t...d\n}) => c);", 100),
		"promises":         "return Promise.resolve()" + strings.Repeat(".then(() => 1)", 500),
		"otherwise":        "if (a) ;" + strings.Repeat("else if (a) ;", 500),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Compile(t.Context(), "sample", "function f(a) { "+body+" }"); err != nil {
				t.Errorf("error %v", err)
			}
		})
	}
}
