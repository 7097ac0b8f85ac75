package script

import (
	"context"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

func udf(t testing.TB, ctx context.Context, source string) *Function {
	t.Helper()
	f, err := compiled(t, source).Function(ctx, Host{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func values(t testing.TB, text string) (list []doc.Value) {
	t.Helper()
	for v, err := range doc.ArrayFromJSON([]byte(text), doc.ParseOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

func TestFunction(t *testing.T) {
	for _, c := range []struct{ name, source, args, want string }{
		{"tax",
			`function tax(income) { if (income === undefined) throw 'no input'; if (income < 1000) return income * ` +
				`0.1; return income * 0.4; }`, `[2000]`, `800`},
		{"nothing", `function f() {}`, `[]`, ``},
		{"null", `() => null`, `[]`, `null`},
		{"no finite number", `() => 0/0`, `[]`, `null`},
		{"a function", `() => () => 1`, `[]`, ``},
		{"numbers", `(a, b) => [a + b, a / 2, typeof a]`, `[1,2.5]`, `[3.5,0.5,"number"]`},
		{"large numbers", `(a) => a === 9007199254740993 && a`, `[9007199254740992]`, `9007199254740992`},
		{"booleans", `(a, b) => !a && b`, `[false,true]`, `true`},
		{"text", `(a) => a.toUpperCase() + a.length`, `["aé€😀"]`, `"AÉ€😀5"`},
		{"arrays", `(a) => a.map((x) => x * 2).concat(Array.isArray(a))`, `[[1,2]]`, `[2,4,true]`},
		{"objects", `(o) => ({ keys: Object.keys(o), proto: o.__proto__, deep: o.a.b[1].c, date: new Date(0) })`,
			`[{"a":{"b":[0,{"c":7}]},"__proto__":5}]`,
			`{"keys":["a","__proto__"],"proto":5,"deep":7,"date":"1970-01-01T00:00:00.000Z"}`},
		{"few arguments", `(a, b) => b === undefined`, `[1]`, `true`},
		{"no context", `() => typeof getContext + typeof __`, `[]`, `"undefinedundefined"`},
		{"JSON that is too deep", `() => { let a = []; for (let i = 0; i < 600; i++) a = [a,` +
			` [a]]; try { JSON.stringify(a) } catch (e) { return [e.name, e.message] } }`, `[]`,
			`["RangeError","Objects and arrays are nested too deeply (limit 500)"]`},
		{"JSON of a " +
			"circle",
			`() => { const a = { b: [] }; a.b.push([a]); try { JSON.stringify([a]) } catch (e) { return [e.name, ` +
				`e.message] } }`, `[]`,
			`["TypeError","Converting circular structure to JSON"]`},
		{"JSON with one object twice", `() => { const a = { b: 1 }; return JSON.stringify([a, a, { a }]) }`, `[]`,
			`"[{\"b\":1},{\"b\":1},{\"a\":{\"b\":1}}]"`},
		{"a boxed value", `() => [new String("a"), new Number(1), new Boolean(false)]`, `[]`, `["a",1,false]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := udf(t, context.Background(), c.source)
			for range 2 {
				v, err := f.Call(values(t, c.args))
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if !doc.IsUndefined(v) {
					got = string(doc.Query.AppendJSONValue(nil, v))
				}
				if got != c.want {
					t.Errorf("it gives %s, want %s", got, c.want)
				}
			}
		})
	}
}

func TestFunctionOfUndefined(t *testing.T) {
	v, err := udf(t, context.Background(), `(a) => a === undefined`).Call([]doc.Value{{}})
	if b, _ := doc.AsBool(v); err != nil || !b {
		t.Errorf("it gives %v, %v", v, err)
	}
}

func TestFunctionFails(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         fault.Kind
	}{
		{"thrown", `() => { throw new Error("no") }`, fault.Invalid},
		{"a loop", `() => { while (true); }`, fault.Timeout},
		{"itself", `function f() { return f() }`, fault.Invalid},
		{"a deep result", `() => { let a = []; for (let i = 0; i < 200; i++) a = [a]; return a }`, fault.Invalid},
		{"a circle", `() => { const a = []; a.push(a); return a }`, fault.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			f := udf(t, ctx, c.source)
			for range 2 {
				if _, err := f.Call(nil); err == nil || fault.KindOf(err) != c.want {
					t.Errorf("error %v, want one of kind %v", err, c.want)
				}
			}
		})
	}
	if _, err := compiled(t, `5`).Function(context.Background(), Host{}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("error %v of what is no function", err)
	}
}

// FuzzJSON compares this package's JSON.stringify with its JSON.parse and with package doc.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,-0,1e300,true,null,"\u2028\ud83d\ude00"]}`, `[[],{}]`, `"x"`, `-1e-7`,
		`{"__proto__":1,"1":2,"0":3}`} {
		f.Add(seed)
	}
	identity := udf(f, context.Background(), `(v) => JSON.parse(JSON.stringify(v))`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := doc.ValueFromJSON([]byte(text))
		if err != nil {
			return // it is no JSON
		}
		got, err := identity.Call([]doc.Value{v})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := identity.Call([]doc.Value{got})
		if err != nil || !doc.Equal(got, again) {
			t.Fatalf("%s becomes %s, then %s (%v)", text, doc.Query.AppendJSONValue(nil, got),
				doc.Query.AppendJSONValue(nil, again), err)
		}
	})
}

func BenchmarkFunction(b *testing.B) {
	f := udf(b, context.Background(), `(d) => d.price * 1.2 > d.limit`)
	args := values(b, `[{"id":"a","price":7,"limit":5,"tags":["a","b","c"],"text":"some text that is a bit longer"}]`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Call(args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProcedure(b *testing.B) {
	p := compiled(b, `function f(n) { getContext().getResponse().setBody(n + 1) }`)
	h := newMemoryCollection(b).host()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.RunProcedure(context.Background(), []byte(`[1]`), h); err != nil {
			b.Fatal(err)
		}
	}
}
