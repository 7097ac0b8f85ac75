package rest

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

// inBinary makes a body of hexadecimal digits, in Cosmos DB's binary form of JSON.
func inBinary(t testing.TB, digits ...string) string {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll("80"+strings.Join(digits, ""), " ", ""))
	must(t, err)
	return string(b)
}

// framed puts the length in one byte before the content of an object (EA) or array (E2).
func framed(form string, digits ...string) string {
	inner := strings.ReplaceAll(strings.Join(digits, ""), " ", "")
	return form + hex.EncodeToString([]byte{byte(len(inner) / 2)}) + inner
}

// Members of an object: an id "1", and a partition key "a".
const (
	binaryID  = "2C 81 31"
	binaryKey = "82 70 6B 81 61"
)

// asksForBinary is what SDKs send with items.
var asksForBinary = []string{"x-ms-cosmos-supported-serialization-formats", "CosmosBinary", "Content-Type",
	"application/json"}

// The first body is what azure_data_cosmos 1.0.0 for Rust sends; other forms are what its driver's src/binary_json
// and .NET's JsonBinaryEncoding have besides.
func TestBinaryItemIsThatOfItsText(t *testing.T) {
	for _, c := range []struct{ name, text, binary string }{
		{"what the SDK for Rust sends", `{"id":"1","pk":"a"}`, "ED 0A 02 82 69 64 81 31 82 70 6B 81 61"},
		{"forms of numbers", `{"id":"1","pk":"a","ns":[31,255,-1000,-5000000000,18446744073709551614,3.5,3.0]}`,
			framed("EA", binaryID, binaryKey, "82 6E 73", framed("E2", "1F C8 FF C9 18 FC CB 00 0E FA D5 FE FF FF FF "+
				"C7 FE FF FF FF FF FF FF FF CC 00 00 00 00 00 00 0C 40 CC 00 00 00 00 00 00 08 40"))},
		{"forms of text", `{"id":"1","pk":"a","ts":["","x","1a2b","Hi","漢","x"]}`,
			framed("EA", binaryID, binaryKey, "82 74 73", framed("E2",
				"80 C0 01 78 78 04 A1 B2 7E 02 C8 34 83 E6 BC A2 C3 11"))},
		{"nested", `{"id":"1","pk":"a","o":{"a":[[],{},[1,2],null,true,false]}}`,
			framed("EA", binaryID, binaryKey, "81 6F E9 81 61", framed("E2", "E0 E8 F0 D7 02 01 02 D0 D2 D1"))},
		{"system members are dropped", `{"id":"1","pk":"a","_ts":5,"_etag":"x"}`, framed("EA", binaryID, binaryKey,
			"27 05 24 81 78")},
		{"the last of two members stays", `{"id":"1","pk":"a","n":1,"n":2}`, framed("EA", binaryID, binaryKey,
			"81 6E 01 81 6E 02")},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newItems(t)
			body := inBinary(t, c.binary)
			text := d.item("POST", "", c.text).want(201)
			want, charge := own(t, text), text.header.Get("x-ms-request-charge")
			d.item("DELETE", "1", "").want(204)
			for step, a := range map[string]func() answer{
				"create": func() answer { return d.item("POST", "", body, asksForBinary...).want(201) },
				"upsert": func() answer {
					return d.item("POST", "", body, append(asUpsert,
						asksForBinary...)...).want(201)
				},
				"replace": func() answer {
					d.stock("1", `,"old":1`)
					return d.item("PUT", "1", body,
						asksForBinary...).want(200)
				},
			} {
				a := a()
				if have := own(t, a); have != want {
					t.Errorf("%s: %s, want %s", step, have, want)
				}
				if have := a.header.Get("x-ms-request-charge"); step != "replace" && have != charge {
					t.Errorf("%s: the charge is %s, with text %s", step, have, charge)
				}
				if read := d.get("1").want(200); read.text != a.text {
					t.Errorf("%s: %s was answered, and %s read", step, a.text, read.text)
				}
				d.item("DELETE", "1", "").want(204)
			}
		})
	}
}

func TestBinaryItemWithALifetime(t *testing.T) {
	d := newItems(t, `"defaultTtl":-1`)
	d.item("POST", "", inBinary(t, framed("EA", binaryID, binaryKey, "83 74 74 6C 0A")),
		asksForBinary...).want(201).says(`"ttl":10`)
	d.advance(9 * time.Second)
	d.get("1").want(200)
	d.advance(time.Second)
	d.get("1").want(404)
	d.item("POST", "", inBinary(t, framed("EA", binaryID, binaryKey, "83 74 74 6C CC 00 00 00 00 00 00 F8 3F")),
		asksForBinary...).want(400)
}

func TestBinaryItemIsChecked(t *testing.T) {
	d := newItems(t)
	before := d.item("POST", "", `{"id":"1","pk":"a","n":1}`).want(201).text
	whole := inBinary(t, "ED 0A 02 82 69 64 81 31 82 70 6B 81 61")
	for size := 1; size < len(whole); size++ {
		for _, a := range []answer{
			d.item("POST", "", whole[:size], asUpsert...), d.item("PUT", "1", whole[:size]), d.item("POST", "",
				whole[:size]),
		} {
			a.want(400).says("The request payload is invalid. Ensure to provide a valid request payload.").says("at " +
				"byte")
		}
	}
	for name, body := range map[string]string{
		"no object":            "E0",
		"no id":                framed("EA", binaryKey),
		"an id that is none":   framed("EA", "2C 05", binaryKey),
		"another partition":    framed("EA", binaryID, "82 70 6B 81 62"),
		"something behind it":  framed("EA", binaryID, binaryKey) + "00 00",
		"an unknown type":      framed("EA", binaryID, binaryKey, "81 6E FF"),
		"NaN":                  framed("EA", binaryID, binaryKey, "81 6E CC 00 00 00 00 00 00 F8 7F"),
		"a name with a NUL":    framed("EA", binaryID, binaryKey, "81 00 00"),
		"a string without end": framed("EA", binaryID, binaryKey, "81 6E C2 FF FF FF FF"),
		"a reference ahead":    framed("EA", binaryID, binaryKey, "81 6E C3 0F"),
	} {
		a := d.item("POST", "", inBinary(t, body), asUpsert...)
		if a.status != 400 {
			t.Errorf("%s: status %d, %s", name, a.status, a.text)
		}
	}
	bomb := framed("EA", binaryID, binaryKey, "81 6E", framed("E2", strings.Repeat("F3 F1 D8 00 00 FF FF", 20)))
	d.item("POST", "", inBinary(t, bomb), asUpsert...).want(413).says("Request size is too large.")
	if after := d.get("1").want(200).text; after != before {
		t.Errorf("%s\nbecame %s", before, after)
	}
}

// All requests accept the binary form.
func TestBinaryBodiesOfOtherRequests(t *testing.T) {
	d := newItems(t)
	d.item("POST", "", `{"id":"1","pk":"a","n":1}`).want(201)
	text := func(s string) string { return framed("C0", hex.EncodeToString([]byte(s))) }
	// {"operations":[{"op":"incr","path":"/n","value":2}]}
	patch := "E9" + text("operations") + "E1" + framed("EA", text("op"), text("incr"), text("path"), text("/n"),
		"3C 02")
	d.item("PATCH", "1", inBinary(t, patch)).want(200).says(`"n":3`)
	d.item("PATCH", "1", inBinary(t, patch[:len(patch)-2])).want(400).says("The binary JSON ends too early")
	d.query(inBinary(t, "E9", text("query"), text("SELECT VALUE c.n FROM c"))).want(200).says(`"Documents":[3]`)
	d.run(`function (s) { getContext().getResponse().setBody(s + "!"); }`, inBinary(t, "E1",
		text("Hello"))).want(200).says(`"Hello!"`)
	// [{"operationType":"Create","resourceBody":{"id":"2","pk":"a"}}]
	list := entries(t, d.batch(inBinary(t, "E1", framed("EA", text("operationType"), text("Create"),
		text("resourceBody"), framed("EA", "2C 81 32", binaryKey)))).want(200))
	if statuses(list) != "201" {
		t.Errorf("the batch gave %s", statuses(list))
	}
	d.get("2").want(200)
	d.script("triggers", "stamp", `function () { const r = getContext().getRequest(),`+
		` item = r.getBody(); item.by = r.getOperationType(); r.setBody(item); }`,
		`,"triggerType":"Pre","triggerOperation":"All"`)
	d.item("POST", "", inBinary(t, framed("EA", "2C 81 33", binaryKey)), preHeader,
		"stamp").want(201).says(`"by":"Create"`)
	d.item("POST", "", inBinary(t, "EA 08 2C 81"), preHeader, "stamp").want(400)
}
