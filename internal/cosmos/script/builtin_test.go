package script

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
)

// Every built-in function that a script can reach must be watched. This fails with a runtime that keeps its functions
// elsewhere.
func TestEveryBuiltInFunctionIsWatched(t *testing.T) {
	s := newMemoryCollection(t)
	r := newRun(t.Context(), s.host())
	look := search{r: r, seen: map[*goja.Object]bool{}}
	look.add(way{}, r.rt.GlobalObject())
	look.add(way{}, r.iterators())
	for i := 0; i < len(look.found); i++ {
		look.expand(i)
	}
	names := make([]string, len(look.found))
	for i, o := range look.found {
		if o.ClassName() == "Function" {
			names[i] = o.String()
		}
	}
	r.stop(errTime)
	functions := 0
	for i, o := range look.found {
		f := goFunction(o)
		if f == nil || *f == nil {
			if strings.Contains(names[i], "[native code]") {
				t.Errorf("%s has no Go function", names[i])
			}
			continue
		}
		functions++
		err := reason(recovered(func() error { (*f)(goja.FunctionCall{This: goja.Undefined()}); return nil }))
		if !errors.Is(err, errTime) {
			t.Errorf("%s goes on: %v", names[i], err)
		}
	}
	if functions < 300 {
		t.Errorf("there are only %d functions", functions)
	}
}

// Built-in functions that call each other without a step of JavaScript must not overflow the Go stack, which would
// end the process.
func TestBuiltInFunctionsInsideOfEachOther(t *testing.T) {
	for name, source := range map[string]string{
		"a text of itself": `"" + {toString: String.prototype.trim}`,
		"a number of itself": `+{valueOf: Object.prototype.toLocaleString,` +
			` toString: Object.prototype.toLocaleString}`,
		"a bound class": `const o = {}; o.toString = String.bind(null, o); "" + o`,
		"a getter of itself": `const o = {}; Object.defineProperty(o, "x", {get: Reflect.get.bind(null, o,` +
			` "x")}); o.x`,
		"a getter of the runtime": `const get = Object.getOwnPropertyDescriptor(RegExp.prototype,` +
			` "flags").get; const o = {}; for (const n of ["global", "hasIndices"]) Object.defineProperty(o, n,` +
			` {get}); get.call(o)`,
		"JSON of itself":           `const o = {}; o.toJSON = JSON.stringify.bind(null, o); JSON.stringify(o)`,
		"JSON whose getter recurs": `JSON.stringify({get a() { return this.a }})`,
		"an answer whose getter does": `const o = {}; __.response.setBody(o); Object.defineProperty(o, "a",` +
			` {enumerable: true, get() { return this.a }})`,
		"a message of itself":      `throw {get message() { return this.message }}`,
		"a message without a step": `throw {get message() { return "" + {toString: String.prototype.trim} }}`,
		"an abort with such a one": `getContext().abort({get message() { return this.message }})`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := within(t, time.Minute, "function f() { "+source+" }")
			if ex, ok := errors.AsType[*Exception](err); !ok ||
				!strings.Contains(ex.Message, "call stack") && !strings.Contains(ex.Message, "cannot be described") {
				t.Errorf("error %v", err)
			}
		})
	}
	r, err := within(t, time.Minute,
		`function f() { try { "" + {toString: String.prototype.trim} } catch (e) { __.response.setBody([e instanceof `+
			`RangeError, [1, 2].map(String)]) } }`)
	if err != nil || string(r.Body) != `[true,["1","2"]]` {
		t.Errorf("it gives %s, error %v", r.Body, err)
	}
}

// Loops inside built-in functions must notice that the time is up.
func TestLoopsOfBuiltInFunctionsEnd(t *testing.T) {
	const endless = `{[Symbol.iterator]: () => ({next: Object})}`
	for name, source := range map[string]string{
		"from":                   `Array.from(` + endless + `)`,
		"a set":                  `new Set(` + endless + `)`,
		"spread":                 `[...` + endless + `]`,
		"the rest":               `const [...all] = ` + endless,
		"promises":               `Promise.all(` + endless + `)`,
		"a promise of itself":    `const o = {}; o.then = Array.prototype.forEach.bind([o]); Promise.resolve(o)`,
		"a call for each":        `Array(2e5).fill(0).forEach(String.prototype.indexOf.bind("x".repeat(1e6), "xy"))`,
		"an expression for each": `Array(2e5).fill(0).forEach(RegExp.prototype.test.bind(/xy/, "x".repeat(1e6)))`,
		"a loop that catches":    `for (;;) try { new Set(` + endless + `) } catch (e) {} finally { continue }`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := within(t, 50*time.Millisecond, "function f() { "+source+" }")
			if !errors.Is(err, errTime) {
				t.Errorf("error %v", err)
			}
		})
	}
	if n := runs.abandoned.Load(); n != 0 {
		t.Errorf("%d scripts hang", n)
	}
}

// Arguments are converted before the host is locked, because the conversion may call the host.
func TestArgumentsThatRunTheScript(t *testing.T) {
	for name, call := range map[string]string{
		"a tag":       `__.replaceDocument(__.getAltLink() + "/docs/a", {id: "a"}, {etag: trap}, () => {})`,
		"a condition": `__.readDocument(__.getAltLink() + "/docs/a", {ifNoneMatch: trap}, () => {})`,
		"a token":     `__.queryDocuments(__.getSelfLink(), "all", {continuation: trap}, () => {})`,
		"a page size": `__.queryDocuments(__.getSelfLink(), "all", {pageSize: trap}, () => {})`,
		"a link":      `String.prototype.slice = () => trap; __.deleteDocument(__.getAltLink() + "/docs/a/", () => {})`,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := within(t, 5*time.Second, `function f() {
				const text = String, number = Number;
				let sprung = 0;
				const trap = { toString() { sprung++; __.readDocuments(__.getSelfLink()); console.log("x"); return "1" }, valueOf() { return this.toString() } };
				globalThis.String = (v) => v === trap ? v : text(v);
				globalThis.Number = (v) => v === trap ? v : number(v);
				__.readDocuments(__.getSelfLink(), () => __.response.setBody(sprung));
				`+call+`;
				__.readDocuments(__.getSelfLink(), () => __.response.setBody(sprung));
			}`)
			if errors.Is(err, errTime) || err == nil && string(r.Body) == "0" {
				t.Errorf("it gives %s, error %v", r.Body, err)
			}
		})
	}
}
