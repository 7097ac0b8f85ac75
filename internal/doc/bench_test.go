package doc

import (
	"strings"
	"testing"
)

// sample is an item of 17 members, 52 with those inside, and about 850 bytes.
const sample = `{"id":"order-2026-000172839","customerId":"c-84713","status":"shipped","total":1249.95,"currency":"EUR",` +
	`"placedAt":"2026-10-10T09:03:14.000Z","ttl":2592000,"priority":3,"gift":false,"note":"Bitte klingeln, ` +
	`Hinterhaus, zweiter Stock links","address":{"street":"Lindenstraße ` +
	`12","city":"Berlin","zip":"10969","country":"DE","geo":{"lat":52.5034,"lon":13.3969}},"items":[{"sku":"BK-R93R-62","name":"Road-150 Red, ` +
	`62","qty":1,"price":999.99},{"sku":"HL-U509","name":"Sport-100 ` +
	`Helmet","qty":2,"price":34.99},{"sku":"SO-B909-M","name":"Mountain Bike Socks, ` +
	`M","qty":4,"price":44.995}],"tags":["bike","online","priority"],"payment":{"method":"card","last4":"4242","approved":true,"reference":"7c9e6679-7425-40de-944b-e07fc1f90ae7"},"history":[{"at":1791622994,"to":"paid"},{"at":1791623994,"to":"packed"},{"at":1791709394,"to":"shipped"}],"rev":7,"parent":null}`

// flat is one of 17 members without nesting, and about 900 bytes too.
var flat = `{"id":"session-000172839","pk":"tenant-84713","kind":"session","user":"c-84713","agent":"` +
	strings.Repeat("Mozilla/5.0 ", 20) +
	`","ip":"203.0.113.77","started":1791622994,"seen":1791709394,"ttl":3600,"score":0.875,"admin":false,"mfa":true,` +
	`"token":"` + strings.Repeat("7c9e6679742540de944be07fc1f90ae7", 8) + `","csrf":"` +
	strings.Repeat("0123456789abcdef", 6) +
	`","locale":"de-DE","device":"desktop","parent":null}`

var items = []struct{ name, text string }{{"flat", flat}, {"nested", sample}}

func BenchmarkFromJSON(b *testing.B) {
	for _, item := range items {
		b.Run(item.name, func(b *testing.B) {
			text := []byte(item.text)
			dst := make([]byte, 0, 4096)
			opts := ParseOptions{Skip: func(name []byte) bool {
				return string(name) == "_rid" || string(name) == "_ts"
			}}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := FromJSON(dst, text, opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	for _, item := range items {
		b.Run(item.name, func(b *testing.B) {
			d := mustDoc(b, item.text)
			dst := make([]byte, 0, 4096)
			b.SetBytes(int64(len(item.text)))
			b.ReportAllocs()
			for b.Loop() {
				AppendJSON(dst, d)
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	d := mustDoc(b, sample)
	b.ReportAllocs()
	for b.Loop() {
		if IsUndefined(Lookup(d, "rev")) {
			b.Fatal("no rev")
		}
	}
}

func BenchmarkSet(b *testing.B) {
	d := mustDoc(b, sample)
	at, v := Pointer{"address", "geo", "lat"}, Float(1.5)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Set(d, at, v); err != nil {
			b.Fatal(err)
		}
	}
}
