package script

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// Each way to create a regular expression and each way to match with it is tested with a pattern that backtracks for
// very long.
func TestMatchesAreLimited(t *testing.T) {
	defer func(before time.Duration) { maxMatch = before }(maxMatch)
	maxMatch = 5 * time.Millisecond
	const endless = `const s = "a".repeat(60) + "!", text = "^(a+)+$(?!b)", x = /^(a+)+$(?!b)/; `
	for name, source := range map[string]string{
		"a literal":                        `/^(a+)+$(?!b)/.test(s)`,
		"a literal, from the middle":       `const y = /(a+)+$/g; y.lastIndex = 1; y.exec(s)`,
		"a literal on text beyond ASCII":   `/(a+)+$/u.exec(s + "é"); /(a+)+$/g[Symbol.match](s + "é")`,
		"exec":                             `x.exec(s)`,
		"match":                            `s.match(x)`,
		"matchAll":                         `[...s.matchAll(/^(a+)+$(?!b)/g)]`,
		"replace":                          `s.replace(x, "")`,
		"replaceAll":                       `s.replaceAll(/^(a+)+$(?!b)/g, () => "")`,
		"search":                           `s.search(x)`,
		"split":                            `s.split(x)`,
		"a text, matched":                  `s.match(text)`,
		"a text, searched":                 `s.search(text)`,
		"a text, matched for all":          `[...s.matchAll(text)]`,
		"the class, called":                `RegExp(text).test(s)`,
		"the class, with new":              `new RegExp(text, "i").test(s)`,
		"the class, of another":            `new RegExp(x).test(s); new RegExp(x, "g").test(s)`,
		"the class, constructed":           `Reflect.construct(RegExp, [text]).test(s)`,
		"a class of its own":               `class C extends RegExp {}; new C(text).test(s); s.split(new C(text))`,
		"compile":                          `const y = /a/; y.compile(text); y.test(s)`,
		"compile, in the middle of a call": `const y = /a/y; y.lastIndex = { valueOf() { y.compile(text); return 0 } }; y.exec(s)`,
		"a species that is a literal": `const y = /a/g; y.constructor = { [Symbol.species]: function () { return /^(a+)+$(?!b)/g } ` +
			`}; s.split(y); [...s.matchAll(y)]`,
		"no exec":                   `RegExp.prototype.exec = 1; [...s.matchAll(/^(a+)+$(?!b)/g)]`,
		"a matcher of the script's": `RegExp.prototype[Symbol.search] = function (s) { return this.test(s) ? 1 : 0 }; s.search(text)`,
		"a callback":                `[text].map((t) => RegExp(t))[0].test(s)`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := within(t, 5*time.Second, "function f() { "+endless+source+" }"); err != nil {
				t.Errorf("error %v", err)
			}
		})
	}
	if n := runs.abandoned.Load(); n != 0 {
		t.Errorf("%d scripts hang", n)
	}
	if regexp2.DefaultMatchTimeout != math.MaxInt64 {
		t.Error("the default of the whole process is changed")
	}
}

func TestMatchesAreStillRight(t *testing.T) {
	r, err := within(t, 5*time.Second, `function f() {
		const y = /(?<=x)(\d)(?<rest>\d*)/g;
		__.response.setBody([
			"ax12 bx345".match(y), [..."ax12 bx345".matchAll(y)].map((m) => m.groups.rest), "ax12".search("[0-9]"), "a-b".match("-").index,
			"a1b2".split(/(\d)/), "a.b".split("."), "é1é2".replace(/é(?=2)/, "e"), "AB".replace(/b/i, "$&$&"), "null".match(null)[0], "x".match()[0],
			y.flags, String(y), y instanceof RegExp, (() => { const z = /a/y; z.lastIndex = 1; return z.test("ba") && z.lastIndex })(),
		]);
	}`)
	const want = `[["12","345"],["2","45"],2,1,["a","1","b","2",""],["a","b"],"é1e2","ABB","null","","g","/(?<=x)(\\d)(?<rest>\\d*)/g",true,2]`
	if err != nil || string(r.Body) != want {
		t.Errorf("it gives %s, error %v\nwant     %s", r.Body, err, want)
	}
	if _, err := within(t, 5*time.Second, `function f() { return; /(/ }`); err == nil {
		t.Error("a wrong pattern is no error before the script runs")
	}
}

// The parts that a pattern repeats are copied when it is compiled, at each level: twenty levels would need more
// memory than there is.
func TestPatternsAreLimited(t *testing.T) {
	for name, source := range map[string]string{
		"a text, matched":    `"a".match(text)`,
		"an object":          `"a".search({ toString: () => text })`,
		"the class, called":  `RegExp(text)`,
		"the class":          `new RegExp(text)`,
		"a class of its own": `new (class extends RegExp {})(text)`,
		"compile":            `/a/.compile(text)`,
		"split":              `"a".split(new RegExp(text))`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := within(t, 5*time.Second,
				`function f() { const text = "(?:".repeat(20) + "a" + "){9}".repeat(20); `+source+` }`)
			if _, ok := errors.AsType[*Exception](err); !ok {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, err := within(t, 5*time.Second, "function f() { return; /"+strings.Repeat("(?:", 20)+"a"+
		strings.Repeat("){9}", 20)+"/ }"); err == nil {
		t.Error("a literal is compiled")
	}
}
