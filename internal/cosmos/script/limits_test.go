package script

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// within runs a procedure for at most d.
func within(t *testing.T, d time.Duration, source string) (Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	p, err := Compile(ctx, "sample", source)
	if err != nil {
		return Result{}, err
	}
	return p.RunProcedure(ctx, []byte(`[]`), newMemoryCollection(t).host())
}

func TestTimeIsLimited(t *testing.T) {
	for name, source := range map[string]string{
		"a loop":              `function f() { while (true); }`,
		"a loop that catches": `function f() { while (true) try { while (true); } catch (e) {} finally { while (true); } }`,
		"callbacks":           `function f() { __.readDocuments(__.getSelfLink(), f) }`,
		"promises":            `async function f() { while (true) await 0; }`,
		"a generator":         `function f() { [...(function* () { while (true) yield; })()] }`,
		"a sort":              `function f() { [3, 2, 1].sort(() => { while (true); }) }`,
		"toJSON":              `function f() { __.response.setBody({ toJSON() { while (true); } }) }`,
		"a thrown object":     `function f() { throw { get message() { while (true); } } }`,
		"a getter of a getter": `function f() { class C { get a() { return new C(); } } __.response.setBody(JSON.stringify(new ` +
			`C()).length) ; while (true); }`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := within(t, 50*time.Millisecond, source)
			if kind := fault.KindOf(err); kind != fault.Timeout && name != "a getter of a getter" || err == nil {
				t.Errorf("error %v", err)
			}
		})
	}
	if n := runs.abandoned.Load(); n != 0 {
		t.Errorf("%d scripts hang", n)
	}
}

// An error of JSON.stringify says what is wrong with the value.
func TestJSONSaysWhyItRefuses(t *testing.T) {
	for source, want := range map[string]string{
		`let a = []; for (let i = 0; i < 1e3; i++) a = [a]; JSON.stringify(a)`: "RangeError: Objects and " +
			"arrays are nested too deeply",
		`let a = {}; for (let i = 0; i < 1e3; i++) a = {a}; __.response.setBody(a)`: "RangeError: Objects and " +
			"arrays are nested too deeply",
		`const a = []; a.push(a); JSON.stringify(a)`: "TypeError: Converting " +
			"circular structure to JSON",
		`const a = {}; a.b = [{a}]; JSON.stringify(a)`: "TypeError: Converting " +
			"circular structure to JSON",
		`const a = {}; let n = 0; a.toJSON = () => ({a, n: n++}); JSON.stringify({a})`: "RangeError: Objects and " +
			"arrays are nested too deeply",
	} {
		_, err := within(t, 5*time.Second, "function f() { "+source+" }")
		if ex, ok := errors.AsType[*Exception](err); !ok || !strings.Contains(ex.Message, want) {
			t.Errorf("%s: error %v", source, err)
		}
	}
}

// A script reserves memory at its host, and is ended if there is none.
func TestMemoryIsAskedFor(t *testing.T) {
	asked := make(chan int64, 100)
	runtime.GC() // what earlier tests have left would count as memory from before
	h := newMemoryCollection(t).host()
	h.Reserve = func(n int64) bool { asked <- n; return false }
	_, err := compiled(t, `function f() { const a = []; while (true) a.push({ a: [] }); }`).RunProcedure(t.Context(),
		[]byte(`[]`), h)
	if fault.KindOf(err) != fault.Busy {
		t.Errorf("error %v", err)
	}
	select {
	case n := <-asked:
		if n%smallGrowth != 0 || n <= smallGrowth {
			t.Errorf("it asks for %d bytes", n)
		}
	default:
		t.Error("it asks for none")
	}
}

// Memory of other requests is not attributed to the script.
func TestMemoryOfOthersIsLeftOut(t *testing.T) {
	var held [][]byte
	var others atomic.Int64
	h := newMemoryCollection(t).host()
	h.OthersMemory = others.Load
	h.Reserve = func(n int64) bool { return false }
	h.Late = func() bool {
		others.Add(64 << 20)
		held = append(held, make([]byte, 64<<20))
		return false
	}
	_, err := compiled(t,
		`function f() { __.readDocuments(__.getSelfLink()); __.response.setBody(1); for (let i = 0; i < 1e5; i++) `+
			`[i].map(String) }`).RunProcedure(t.Context(), []byte(`[]`), h)
	if err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(held)
}

// The object of a with statement could replace the functions that limit strings and regular expressions.
func TestWithIsRefused(t *testing.T) {
	for name, body := range map[string]string{
		"a regular expression":   `with ({ "\u0000bind": (x) => x }) /^(a+)+$(?!b)/.test("a".repeat(60) + "!")`,
		"a text that doubles":    `let s = "x"; with ({ "\u0000bounded": (x) => x }) for (let i = 0; i < 40; i++) s += s`,
		"with, deep in an arrow": `[1].map(() => { if (1) { with ({}) { } } })`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(t.Context(), "sample", "function f() { "+body+" }")
			if ex, ok := errors.AsType[*Exception](err); !ok || !strings.Contains(ex.Message,
				"'with' is not supported") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestBuiltInFunctionsAreLimited(t *testing.T) {
	for name, source := range map[string]string{
		"repeat":                            `"x".repeat(1e9)`,
		"repeat of an object":               `Object("x".repeat(1e6)).repeat({ valueOf: () => 1e6 })`,
		"repeat of one that is another":     `(() => { let n = 0; "x".repeat.call({ toString: () => "x".repeat(n += 1e6) }, 1e6) })()`,
		"a text that doubles":               `(() => { let s = "x"; while (true) s += s; })()`,
		"a text that doubles by +":          `(() => { let s = "x"; while (true) s = s + s; })()`,
		"a text that doubles in a template": "(() => { let s = 'x'; while (true) s = `${s}${s}`; })()",
		"a text that doubles by concat":     `(() => { let s = "x"; while (true) s = s.concat(s, "y"); })()`,
		"padStart":                          `"x".padStart(1e9)`,
		"join":                              `Array(1e6).join("x".repeat(1e5))`,
		"join of one string":                `Array(1e4).fill("x".repeat(1e5)).join()`,
		"replaceAll":                        `"x".repeat(1e6).replaceAll("x", "y".repeat(1e6))`,
		"replace by pattern":                `"x".repeat(1e6).replace(/x/g, "y".repeat(1e6))`,
		"replace by what is around":         `"x".repeat(1e6).replaceAll("x", "$'")`,
		"an empty array, spread":            `[...Array(4e9)]`,
		"an empty array, filled":            `Array(4e9).fill(0)`,
		"an array of length only":           `Array.prototype.indexOf.call({ length: 2 ** 52 }, 1)`,
		"a length that changes": `(() => { let n = 0; Array.prototype.map.call({ get length() { return n++ ? 2 ** 52 : 1 } },` +
			` (v) => v) })()`,
		"a length that is an object": `(() => { let n = 0; Array.prototype.map.call({ length: { valueOf: () => n++ ? 2 ** 52 : 1 } },` +
			` (v) => v) })()`,
		"from":                 `Array.from({ length: 4e9 })`,
		"apply":                `Math.max.apply(null, { length: 4e9 })`,
		"construct":            `Reflect.construct(Array, { length: 4e9 })`,
		"concat":               `[].concat(Array(4e9))`,
		"a set":                `new Set(Array(4e9))`,
		"raw":                  `String.raw({ raw: { length: 2 ** 52 } })`,
		"JSON of nothing":      `JSON.stringify(Array(4e9))`,
		"JSON of itself":       `(() => { const a = []; a.push(a); JSON.stringify(a) })()`,
		"JSON of much":         `JSON.stringify(Array(1000).fill("x".repeat(1e6)))`,
		"deep JSON":            `(() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a) })()`,
		"deep JSON text":       `JSON.parse("[".repeat(1e6))`,
		"a deep array as text": `(() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a) })()`,
		"a deep array, flat": `(() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; if ` +
			`(!Array.isArray(a.flat(Infinity)[0])) return; throw 1 })()`,
		"a long pattern":         `"x".match("(".repeat(1e6))`,
		"a long pattern, made":   `new RegExp("(".repeat(1e6))`,
		"a long pattern, called": `RegExp({toString: () => "x".repeat(1e6)})`,
		"a long pattern, later":  `/x/.compile("(".repeat(1e6))`,
		"replace, called on the pattern": `RegExp.prototype[Symbol.replace].call(/x/g, "x".repeat(1e6),` +
			` "y".repeat(1e6))`,
		"a text taken apart":        `Object.assign({}, "x".repeat(1e6))`,
		"a text taken apart, boxed": `Object.entries(new String("x".repeat(1e6)))`,
		"normalize":                 `"\uFDFA".repeat(1e6).normalize("NFKD")`,
		"localeCompare":             `"é".repeat(4e6).localeCompare("é".repeat(4e6))`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := within(t, 5*time.Second, "function f() { "+source+" }")
			if _, ok := errors.AsType[*Exception](err); !ok {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestMemoryIsLimited(t *testing.T) {
	defer func(before int64) { maxGrowth = before }(maxGrowth)
	maxGrowth = 32 << 20
	for name, source := range map[string]string{
		"many texts":   `function f() { const a = []; while (true) a.push("x".repeat(1e6)); }`,
		"many objects": `function f() { const a = []; while (true) a.push({ a: [] }); }`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := within(t, 20*time.Second, source)
			if fault.KindOf(err) != fault.TooLarge {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAnswersAreLimited(t *testing.T) {
	_, err := within(t, 20*time.Second, `function f() { __.response.setBody("x".repeat(5e6)) }`)
	if ex, ok := errors.AsType[*Exception](err); !ok || ex.Number != 413 {
		t.Errorf("error %v", err)
	}
	_, err = within(t, 20*time.Second,
		`function f() { const a = []; __.response.setBody(a); for (let i = 0; i < 50; i++) a.push("x".repeat(1e5)) }`)
	if fault.KindOf(err) != fault.TooLarge {
		t.Errorf("error %v of a body that grows later", err)
	}
	r, err := within(t, 20*time.Second, `function f() { for (;;) console.log("x".repeat(1000)) }`)
	if ex, ok := errors.AsType[*Exception](err); !ok || ex.Number != 413 || len(r.Log) > MaxLog ||
		len(r.Log) < MaxLog-1000 {
		t.Errorf("a log of %d bytes, error %v", len(r.Log), err)
	}
	r, err = within(t, 20*time.Second, `function f() {
		let n = 0;
		while (__.createDocument(__.getSelfLink(), { id: "a" + n, text: "x".repeat(1e6) })) n++;
		__.response.setBody(n);
	}`)
	if err != nil || string(r.Body) != "16" {
		t.Errorf("%s documents wait, error %v", r.Body, err)
	}
}

func TestSourceIsLimited(t *testing.T) {
	for name, source := range map[string]string{
		"brackets": "function f() { return " + strings.Repeat("(", 1e5) + strings.Repeat(")", 1e5) + "}",
		"blocks":   "function f() { " + strings.Repeat("{", 1e5) + strings.Repeat("}", 1e5) + "}",
	} {
		_, err := within(t, 5*time.Second, source)
		if _, ok := errors.AsType[*Exception](err); !ok {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := within(t, 5*time.Second, "function f() {}\n//# sourceMappingURL=/etc/passwd"); err != nil {
		t.Errorf("a source map is looked for: %v", err)
	}
}

// A script that does not stop is abandoned, and the caller gets its answer.
func TestAScriptThatHangsIsLeftBehind(t *testing.T) {
	defer func(before time.Duration) { grace = before }(grace)
	grace = time.Millisecond
	release := make(chan struct{})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	err := runs.guarded(ctx, nil, func() error { <-release; return nil })
	if fault.KindOf(err) != fault.Timeout || runs.abandoned.Load() != 1 {
		t.Errorf("error %v, %d hang", err, runs.abandoned.Load())
	}
	close(release)
	for runs.abandoned.Load() != 0 {
		if t.Context().Err() != nil {
			t.Fatal("it is still counted")
		}
	}
}

func TestARequestThatIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := newMemoryCollection(t)
	h := s.host()
	h.Late = func() bool { cancel(); return false }
	_, err := compiled(t, bulkImport).RunProcedure(ctx, []byte(`[[{},{}]]`), h)
	if fault.KindOf(err) != fault.Timeout || len(s.docs) > 0 {
		t.Errorf("error %v, %d documents", err, len(s.docs))
	}
	_, err = compiled(t, bulkImport).RunProcedure(ctx, []byte(`[[{},{}]]`), h)
	if fault.KindOf(err) != fault.Timeout {
		t.Errorf("error %v", err)
	}
}
