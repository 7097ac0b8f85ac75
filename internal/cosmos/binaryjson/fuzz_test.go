package binaryjson

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

// samples have every type of value, and strings with short forms.
var samples = []string{
	`{}`, `[]`, `null`, `"a"`, `-1`,
	`{"id":"1","pk":"p","ttl":60,"type":"Point","coordinates":[1.5,-2,3],"_ts":7}`,
	`[0,1,31,32,255,256,-1,-128,-129,65535,65536,-32769,4294967295,4294967296,9223372036854775807,` +
		`-9223372036854775808,18446744073709551615]`,
	`[0.5,1.0,1e300,-0.1,3.4028234663852886e38,5e-324]`, `[1,2,3]`, `[1.5,2.5]`, `[[1,2],[3,4]]`, `[1,1.5]`,
	`["00102030-4050-6070-8090-a0b0c0d0e0f0","00102030-4050-6070-8090-A0B0C0D0E0F0","\"00004812-0000-0200-0000-6a7fa98a0000\""]`,
	`["Zm9v","Zm8=","QQ==","QQ","+//+","-__-","2026-10-10T09:03:14.000Z","0123456789abcdef","0123456789ABCDEF","~~~~","ü漢😀","\u0000",""]`,
	`{"a":{"b":{"c":[[],{},[{}],null,true,false]}},"list":["same","same","same"],"same":"a","long":"Lorem ipsum ` +
		`dolor sit amet, consectetur adipiscing elit, sed do."}`,
}

// TestRoundTrip writes values in random forms, and reads them back.
func TestRoundTrip(t *testing.T) {
	for _, text := range samples {
		for seed := range uint64(200) {
			roundTrip(t, text, seed)
		}
	}
}

func roundTrip(t *testing.T, text string, seed uint64) {
	t.Helper()
	want, err := doc.ValueFromJSON([]byte(text))
	if err != nil {
		return
	}
	body := encode(want, seed)
	have, err := Value(body)
	if err != nil || !have.Equal(want) {
		t.Fatalf("%s as % X: %s, %v", text, body, doc.AppendJSONValue(nil, have), err)
	}
}

func FuzzRoundTrip(f *testing.F) {
	for i, text := range samples {
		f.Add(text, uint64(i))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) { roundTrip(t, text, seed) })
}

// FuzzValue reads malformed input. The result must be valid, and equal to that of its JSON text.
func FuzzValue(f *testing.F) {
	for _, v := range vectors {
		f.Add(unhex(f, v.binary))
	}
	for i, text := range samples {
		if v, err := doc.ValueFromJSON([]byte(text)); err == nil {
			f.Add(encode(v, uint64(i)))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !Is(body) {
			return
		}
		v, err := Value(body)
		d, derr := Document(nil, body, doc.ParseOptions{})
		if have, ok := doc.AsDoc(v); ok != (derr == nil) || ok && string(have) != string(d) {
			t.Fatalf("as a document: %v, %v", d, derr)
		}
		if err != nil {
			return
		}
		if err := v.Validate(); err != nil {
			t.Fatal(err)
		}
		text := doc.AppendJSONValue(nil, v)
		if len(text) > doc.MaxBytes {
			return // escapes and long numbers made it longer than the body has to be
		}
		same, err := doc.ValueFromJSON(text)
		if err != nil || !doc.Equal(same, v) {
			t.Fatalf("%s became %s, %v", text, same, err)
		}
	})
}
