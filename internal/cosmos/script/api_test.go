package script

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
)

// setBody is a procedure that sets the body to an expression.
func setBody(expression string) string {
	return "function f() { getContext().getResponse().setBody(" + expression + "); }"
}

func TestBodies(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"none", `function f() {}`, ``},
		{"undefined", setBody(`undefined`), ``},
		{"a string is quoted", setBody(`"Hello, \"World\""`), `"Hello, \"World\""`},
		{"a number", setBody(`1.5e300 * 0 + 7`), `7`},
		{"an object", setBody(`{a: [1, null, undefined, NaN, () => 1], b: undefined, c: new Date(0)}`),
			`{"a":[1,null,null,null,null],"c":"1970-01-01T00:00:00.000Z"}`},
		{"as it is at the end", `function f() { const o = {}; __.response.setBody(o); o.late = true; }`,
			`{"late":true}`},
		{"appended strings", `function f() { __.response.appendBody("a"); __.response.appendBody("b"); }`, `"ab"`},
		{"appended numbers", `function f() { __.response.setBody(1); __.response.appendBody(2); }`, `3`},
		// The body of a response begins as empty text, and + joins text with anything.
		// Azure/azure-documentdb-java: DocumentClientTest.java, testStoredProcedureFunctionality.
		{"numbers appended by name",
			`function f() { for (var i = 0; i < 10; i++) getContext().getResponse().appendValue("Body", i); }`,
			`"0123456789"`},
		{"numbers appended", `function f() { for (var i = 0; i < 10; i++) __.response.appendBody(i); }`,
			`"0123456789"`},
		{"other values appended", `function f() { for (const v of [1, true, null, [2, 3],` +
			` {}]) __.response.appendBody(v); }`, `"1truenull2,3[object Object]"`},
		{"appended to an object", `function f() { __.response.setBody({}); __.response.appendBody(1); }`,
			`"[object Object]1"`},
		{"appended to " +
			"null", `function f() { __.response.setBody(null); __.response.appendBody(1); __.response.appendBody(2); }`,
			`3`},
		{"before anything is set", setBody(`[typeof __.response.getBody(), __.response.getValue("Body")]`),
			`["string",""]`},
		{"read " +
			"back", `function f() { __.response.setBody([1]); __.response.setBody(__.response.getBody().concat(2)); }`,
			`[1,2]`},
		{"by name", `function f() { __.response.setValue("Body", 5); }`, `5`},
		{"an arrow function", `(a, b) => getContext().getResponse().setBody(a + b)`, `"xy"`},
		{"an anonymous function and a semicolon", "function (a) { __.response.setBody(a) };\n// the end", `"x"`},
		// Azure/azure-sdk-for-js: sdk/cosmosdb/cosmos/test/public/functional/trigger.spec.ts creates one.
		{"a method", `serverScript(a) { __.response.setBody(a); } // the end`, `"x"`},
		{"a method that waits", `async f(a) { __.response.setBody(await a); }`, `"x"`},
		{"helpers behind", `function f(a, b) { __.response.setBody(g(b)) } function g(v) { return v + "!" }`, `"y!"`},
		{"helpers in front are taken for it", "const g = (v) => v + '?'; function f(a) { __.response.setBody(g(a)) }",
			`"x?"`},
		{"a " +
			"class",
			`function f() { class E extends Error {} try { throw new E("m") } catch (e) { __.response.setBody([e ` +
				`instanceof E, e instanceof Error, e.message, e.name]) } }`, `[true,true,"m","Error"]`},
		{"an error with a number", `function f() { try { throw new Error(409,` +
			` "m") } catch (e) { __.response.setBody([e.number, e.message, String(e)]) } }`, `[409,"m","Error: m"]`},
		{"errors without " +
			"one", `function f() { const e = new TypeError("m"); __.response.setBody([e.number === undefined,` +
			` e instanceof Error, Error("x").message]) }`, `[true,true,"x"]`},
		{"links", `function f() { __.response.setBody([__.getSelfLink(),` +
			` getContext().getCollection().getAltLink()]) }`, `["dbs/QQ==/colls/QQQ=/","dbs/d/colls/c"]`},
		{"the request", `function f() { __.response.setBody(getContext().getRequest().getBody()) }`, `["x","y"]`},
		{"an array inside of itself", `function f() { const a = [1]; a.push(a,` +
			` 2); __.response.setBody(a.join("-")) }`, `"1--2"`},
		{"joined", setBody(`[[1, [2, 3]], null, undefined, "é", 4].join() + String([[]]) + [].join() + [1,` +
			`2].join("")`), `"1,2,3,,,é,412"`},
		{"replaced", setBody(`"a.b.c".replaceAll(".", "$&$&") + "aXbX".replace(/X/g, (m) => m + 1)`),
			`"a..b..caX1bX1"`},
		{"spread", setBody(`[...[3,4], ...new Set([5]), Math.max(...[1, 9])]`), `[3,4,5,9]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := newMemoryCollection(t).call(c.source, `["x","y"]`); got != c.want {
				t.Errorf("the body is %s, want %s", got, c.want)
			}
		})
	}
}

func TestOrderOfCallbacks(t *testing.T) {
	s := newMemoryCollection(t)
	got := s.call(`
	function f() {
		const seen = [];
		const make = (id, then) => __.createDocument(__.getSelfLink(), { id }, (err, d) => { seen.push(d.id); if (then) then(); });
		make("a", () => make("c"));
		make("b", () => Promise.resolve().then(() => seen.push("then")));
		seen.push("first");
		__.response.setBody(seen);
	}`, `[]`)
	if want := `["first","a","b","then","c"]`; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
}

func TestCallbacksSeeErrors(t *testing.T) {
	s := newMemoryCollection(t, `{"id":"a"}`)
	for _, c := range []struct{ name, call, want string }{
		{"create", `__.createDocument(__.getSelfLink(), {id: "a"}, cb)`, `[409,"{\"Errors\":[\"taken\"]}"]`},
		{"read", `__.readDocument(__.getSelfLink() + "docs/rid-zz", cb)`, `[404,"{\"Errors\":[\"not there\"]}"]`},
		{"replace", `__.replaceDocument(__.getAltLink() + "/docs/a", {id: "a"}, {etag: '"9"'}, cb)`,
			`[412,"{\"Errors\":[\"another one\"]}"]`},
		{"replace under an access condition", `__.replaceDocument(__.getAltLink() + "/docs/a", {id: "a"},` +
			` {accessCondition: {type: "IfMatch", condition: '"9"'}}, cb)`, `[412,"{\"Errors\":[\"another one\"]}"]`},
		{"delete", `__.deleteDocument(__.getAltLink() + "/docs/zz", {}, cb)`, `[404,"{\"Errors\":[\"not there\"]}"]`},
		{"no id wanted", `__.createDocument(__.getSelfLink(), {x: 1}, {disableAutomaticIdGeneration: true}, cb)`,
			`[400,"{\"Errors\":[\"no id\"]}"]`},
		{"not modified", `__.readDocument(__.getAltLink() + "/docs/a", {ifNoneMatch: '"1"'}, cb)`, `[null,null,true]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.call(`function f() {
				const cb = (err, d, options) => __.response.setBody(err ? [err.number, err.body] : [null, d, options.notModified]);
				if (!`+c.call+`) throw "late";
			}`, `[]`)
			if got != c.want {
				t.Errorf("it sees %s, want %s", got, c.want)
			}
		})
	}
}

func TestWrongCallsThrowAtOnce(t *testing.T) {
	s := newMemoryCollection(t)
	for _, c := range []struct{ name, call, want string }{
		{"another collection", `__.createDocument("dbs/d/colls/other", {})`,
			"not allowed to operate on resources outside current collection"},
		{"another document", `__.readDocument("dbs/d/colls/c2/docs/x")`,
			"not allowed to operate on resources outside current collection"},
		{"no link", `__.queryDocuments("x", "y")`, "Invalid collection link"},
		{"no document link", `__.deleteDocument(__.getSelfLink())`, "Invalid document link"},
		{"few arguments", `__.createDocument()`, "requires at least 2 argument(s) but was called with 0"},
		{"no options", `__.createDocument(__.getSelfLink(), {}, 5)`, `must be of type "object"`},
		{"no callback", `__.createDocument(__.getSelfLink(), {}, {}, 5)`, `must be of type "function"`},
		{"no document", `__.createDocument(__.getSelfLink(), 5)`, "must be an object or a string"},
		{"no query", `__.queryDocuments(__.getSelfLink(), 5)`, "filterQuery"},
		{"a new header", `__.response.setValue("x-new", 1)`, "Cannot set new values: x-new"},
		{"the request of a procedure", `__.request.setValue("Body", 1)`, "Not a writable property"},
		{"attachments", `__.createAttachment("x", {})`, "not supported"},
		{"no predicate", `__.filter(5)`, "predicate/transform function must be provided"},
		{"options in a chain", `__.chain().filter((d) => d, {pageSize: 1})`, "can only be provided on the"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.call(`function f() { try { `+c.call+
				`; } catch (e) { __.response.setBody(e.number + " " + e.message); } }`, `[]`)
			if !strings.Contains(got, strings.ReplaceAll(c.want, `"`, `\"`)) || !strings.HasPrefix(got, `"40`) {
				t.Errorf("it throws %s", got)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	s := newMemoryCollection(t)
	for _, c := range []struct {
		name, source string
		number       int
		want         string
	}{
		{"an error", "function f() {\n  throw new Error('no');\n}", 0, "Encountered exception while executing " +
			"Javascript. Exception = Error: no\r\nStack trace: Error: no\n   at f (sample.js:2:"},
		{"a text", `function f() { throw "no" }`, 0, "Exception = no\r\n"},
		{"an object", `function f() { throw {a: 1} }`, 0, `Exception = {"a":1}`},
		{"a number", `function f() { throw new Error(404, "no") }`, 404, "Exception = Error: no\r\n"},
		{"of the runtime", `function f() { nothing.at.all }`, 0, "Exception = ReferenceError: nothing is not defined"},
		{"in a callback", `function f() { __.readDocument(__.getAltLink() + "/docs/x", (err) => { throw err; }) }`,
			404, `Exception = Error: {"Errors":["not there"]}`},
		{"without a callback", `function f() { __.readDocument(__.getAltLink() + "/docs/x") }`, 404,
			`Exception = Error: {"Errors":["not there"]}`},
		{"aborted", `function f() { getContext().abort(new Error(7, "stop")); while (true); }`, 7,
			"Exception = Error: stop"},
		{"aborted twice", `function f() { try { getContext().abort("stop") } finally { __.response.setBody(1) } }`, 0,
			"Exception = stop"},
		{"a promise", `function f() { Promise.reject(new Error("late")) }`, 0, "Exception = Error: late"},
		{"source", `function f( {`, 0, "Encountered exception while compiling Javascript. Exception = SyntaxError: "},
		{"no function", `5`, 0, "the script is not a function"},
		{"a throwing message", `function f() { throw { get message() { throw 1 } } }`, 0,
			"Exception = an object that cannot be described"},
		{"itself", `function f() { f() }`, 0, "Maximum call stack size exceeded"},
		{"code of text", `function f() { eval("1") }`, 0, "Code cannot be created from text"},
		{"code of text, hidden", `function f() { (async () => {}).constructor("return 1")() }`, 0,
			"Code cannot be created from text"},
		{"a huge number", `function f() { return 2n ** 3n }`, 0, "not supported"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := s.fails(c.source, `[]`)
			ex, ok := errors.AsType[*Exception](err)
			if !ok || fault.KindOf(err) != fault.Invalid {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(ex.Message, c.want) || ex.Number != c.number {
				t.Errorf("number %d, message %q; want %d, %q", ex.Number, ex.Message, c.number, c.want)
			}
			if strings.Contains(ex.Message, "mayfly") || strings.Contains(ex.Message, "goja") {
				t.Errorf("the message tells of ourselves: %q", ex.Message)
			}
		})
	}
	if err := s.fails(`function f() { __.queryDocuments(__.getSelfLink(), "boom", () => { throw 1 }) }`,
		`[]`); err.Error() != "the disk is on fire" {
		t.Errorf("error %v, want that of the collection", err)
	}
	if err := s.fails(`function f() {}`, `{}`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("error %v of parameters that are no array", err)
	}
}

func TestNothingElseIsThere(t *testing.T) {
	got := newMemoryCollection(t).call(`function f() {
		const found = ["require", "process", "module", "fetch", "setTimeout", "XMLHttpRequest", "Proxy", "GoError", "ArrayBuffer", "raw", "global", "window"]
			.filter((name) => name in globalThis);
		__.response.setBody(found);
	}`, `[]`)
	if got != `[]` {
		t.Errorf("there is %s", got)
	}
}

func TestLog(t *testing.T) {
	source := `function f() { console.log("a=%s, 100%%", 1); console.log({}); console.log("é"); throw 1 }`
	s := newMemoryCollection(t)
	h := s.host()
	r, err := compiled(t, source).RunProcedure(context.Background(), []byte(`[]`), h)
	if err == nil || r.Log != "a=1, 100%[object Object]é" {
		t.Errorf("the log is %q, error %v", r.Log, err)
	}
	h.Logging = false
	if r, _ := compiled(t, source).RunProcedure(context.Background(), []byte(`[]`), h); r.Log != "" {
		t.Errorf("the log is %q though nobody wants one", r.Log)
	}
}

func TestPreTriggerHasNoResponse(t *testing.T) {
	p := compiled(t, `function f() { __.request.setBody([typeof getContext().getResponse, "response" in __]) }`)
	request := Request{Operation: "Delete"}
	if _, err := p.RunTrigger(context.Background(), &request, nil, newMemoryCollection(t).host()); err != nil ||
		string(request.Body) != `["undefined",false]` {
		t.Errorf("the body is %s, error %v", request.Body, err)
	}
	p = compiled(t, `function f() { __.response.setBody([__.request.getOperationType(), __.request.getBody(),`+
		` __.response.getBody(), "setBody" in __.request]) }`)
	response := []byte(`{"a":1}`)
	if _, err := p.RunTrigger(context.Background(), &Request{Operation: "Delete"}, &response,
		newMemoryCollection(t).host()); err != nil || string(response) != `["Delete",null,{"a":1},false]` {
		t.Errorf("the response is %s, error %v", response, err)
	}
}

func TestQueryAPI(t *testing.T) {
	s := newMemoryCollection(t,
		`{"id":"1","name":"Alex","age":31,"tags":["a",["b"]],"kids":[{"name":"Bob","pets":["x","y"]},{"name":"Bill"}]}`,
		`{"id":"2","name":"Zoe","age":9,"tags":["c"]}`,
		`{"id":"3","name":"Mia","age":20}`,
		`{"id":"4","name":"Ann"}`,
	)
	for _, c := range []struct{ name, call, want string }{
		{"filter", `__.filter((d) => d.age < 30, cb)`, `[["2","3"],null]`},
		{"filter of the collection", `__.filter(__, (d) => d.age < 30, {}, cb)`, `[["2","3"],null]`},
		{"map", `__.map((d) => ({ id: d.name }), cb)`, `[["Alex","Zoe","Mia","Ann"],null]`},
		{"pages", `__.filter((d) => d.id !== "2", {pageSize: 2}, cb)`, `[["1","3"],"3"]`},
		{"next page", `__.filter((d) => d.id !== "2", {pageSize: 2, continuation: "3"}, cb)`, `[["4"],null]`},
		{"pluck", `__.pluck("age", cb)`, `[[31,9,20,null],null]`},
		{"sortBy", `__.sortBy((d) => d.age, {pageSize: 1}, cb)`, `[["4","2","3","1"],null]`},
		{"sortByDescending", `__.sortByDescending((d) => d.name, cb)`, `[["2","3","4","1"],null]`},
		{"chain", `__.chain().filter((d) => d.age).sortBy((d) => d.name).pluck("name").value(cb)`,
			`[["Alex","Mia","Zoe"],null]`},
		{"flatten", `__.chain().filter((d) => d.tags).pluck("tags").flatten().value({}, cb)`, `[["a","b","c"],null]`},
		{"flatten one level", `__.chain().filter((d) => d.tags).pluck("tags").flatten(true).value(cb)`,
			`[["a",["b"],"c"],null]`},
		{"unwind", `__.chain().unwind((d) => d.kids, (d, k) => ({ p: d.name, k })).unwind((x) => x.k.pets, (x,` +
			` pet) => ({ id: x.p + x.k.name + pet })).value(cb)`, `[["AlexBobx","AlexBoby"],null]`},
		{"unwind without a selector", `__.chain().unwind((d) => d.kids).pluck("name").value(cb)`,
			`[["Bob","Bill"],null]`},
		{"a throwing predicate", `__.filter((d) => { throw new Error("p") },` +
			` (err) => __.response.setBody(err.message))`, `"p"`},
		{"into the response", `__.chain().pluck("id").value()`, `"[\"1\",\"2\",\"3\",\"4\"]"`},
		{"accepted", `(__.response.setBody(__.filter((d) => true, () => 0).isAccepted), true)`, `true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.call(`function f() {
				const cb = (err, found, options) => {
					if (err) throw err;
					__.response.setBody([found.map((d) => d && d.id || d), options.continuation === undefined ? null : options.continuation]);
				};
				if (!`+c.call+`) throw "late";
			}`, `[]`)
			if got != c.want {
				t.Errorf("it gives %s, want %s", got, c.want)
			}
		})
	}
}
