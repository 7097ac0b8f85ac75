package hint

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
)

func parse(t testing.TB, text string) doc.Doc {
	t.Helper()
	d, err := doc.FromJSON(nil, []byte(text), doc.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const day = 86_400

func TestMilliseconds(t *testing.T) {
	for _, ms := range []expiry.TTL{
		3_600_000, 5_400_000, 7_200_000, 10_800_000, 14_400_000, 21_600_000, 28_800_000, 43_200_000, // hours
		86_400_000, 172_800_000, 259_200_000, 604_800_000, 1_209_600_000, // days, weeks
	} {
		if !InMilliseconds(ms) {
			t.Errorf("%d is %s in milliseconds", ms, time.Duration(ms)*time.Millisecond)
		}
	}
	honest := []expiry.TTL{
		-1, 1, 10, 60, 300, 900, 1000, 1800, 3600, 7200, 21_600, 43_200, 100_000, 1_000_000, 1_800_000, // up to 20 days
		2_592_000, 5_184_000, 7_776_000, 15_552_000, 31_104_000, // 30 to 360 days
		31_536_000, 31_557_600, 31_622_400, 63_072_000, 94_608_000, 157_680_000, 220_752_000, 315_360_000, // years
		604_800 * 6, 604_800 * 13, 604_800 * 26, 604_800 * 52, // weeks
		10_000_000, 100_000_000, expiry.MaxTTL,
	}
	for days := expiry.TTL(1); days < 125; days++ {
		honest = append(honest, days*day)
	}
	for years := expiry.TTL(1); years < 25; years++ {
		honest = append(honest, years*365*day)
	}
	for _, s := range honest {
		if InMilliseconds(s) {
			t.Errorf("%d, %g days, is a life in seconds", s, float64(s)/day)
		}
	}
}

func TestWritten(t *testing.T) {
	on, off := &expiry.Policy{Default: expiry.Never}, &expiry.Policy{}
	cases := []struct {
		name, body string
		policy     *expiry.Policy
		want       Kind
		text       string // in the hint
	}{
		{"nothing", `{"id":"1","pk":"a"}`, on, None, ""},
		{"a ttl", `{"id":"1","ttl":60}`, on, None, ""},
		{"a year", `{"id":"1","ttl":31536000}`, on, None, ""},
		{"for ever", `{"id":"1","ttl":-1}`, on, None, ""},
		{"off", `{"id":"1","ttl":60}`, off, Off, "has no defaultTtl"},
		{"off, and a day in milliseconds", `{"id":"1","ttl":86400000}`, off, Off, "has no defaultTtl"},
		{"dormant", `{"id":"1","ttl":"60"}`, on, Dormant, "never takes effect"},
		{"dormant while off", `{"id":"1","ttl":0}`, off, Dormant, "never takes effect"},
		{"dormant behind a like name", `{"TTL":1,"ttl":0}`, off, Dormant, "never takes effect"},
		{"an hour in milliseconds", `{"id":"1","ttl":3600000}`, on, Milliseconds,
			"ttl of 3600000 looks like milliseconds. It counts seconds, so that this is 41 days; in seconds it would " +
				"be 3600."},
		{"a fortnight in milliseconds", `{"id":"1","ttl":1209600000}`, on, Milliseconds, "it would be 1209600."},
		{"an instant", `{"id":"1","ttl":1767323145}`, on, Long, "no point in time"},
		{"the longest life", `{"id":"1","ttl":2147483647}`, on, None, ""},
		{"below another member", `{"id":"1","a":{"TTL":60}}`, on, None, ""},
		{"a date of the application", `{"id":"1","expiresAt":1767323145,"expires":1,"expiry":1,"expirationDate":1}`, on,
			None, ""},
		{"like names that hold no number", `{"TTL":"60","timeToLive":null,"_ttl":{},"defaultTtl":true}`, on, None, ""},
		{"names that are not like it",
			`{"title":1,"total":1,"ttls":1,"tt":1,"t_t":1,"little":1,"ttl2":1,"ttlé":1,"_":1,"___":1,"expireAfterSecondsOfTheTotal":1}`, on, None, ""},
	}
	for _, name := range []string{"TTL", "Ttl", "tTl", "_ttl", "ttl_", "__ttl", "timeToLive", "TimeToLive",
		"time_to_live", "time-to-live", "timetolive", "ttlSeconds", "ttl_seconds", "ttlInSeconds",
		"expireAfter", "expire_after", "expireAfterSeconds", "defaultTtl", "defaultTTL", "default_ttl"} {
		cases = append(cases, struct {
			name, body string
			policy     *expiry.Policy
			want       Kind
			text       string
		}{name, fmt.Sprintf(`{"id":"1","%s":60.0}`, name), on, Name,
			"This item's " + name + " is an ordinary property"})
		cases = append(cases, struct {
			name, body string
			policy     *expiry.Policy
			want       Kind
			text       string
		}{name + " and ttl", fmt.Sprintf(`{"%s":60,"ttl":60}`, name), on, None, ""})
	}
	for _, c := range cases {
		body := parse(t, c.body)
		own, _ := expiry.ParseItem(doc.Lookup(body, "ttl"))
		h := Written(c.policy, own, body)
		if h.Kind != c.want || !strings.Contains(h.Text, c.text) || (h.Kind == None) != (h.Text == "") {
			t.Errorf("%s: %v, %q, want %v with %q", c.name, h.Kind, h.Text, c.want, c.text)
		}
		printable(t, h)
		stored := Stored(c.policy, own, body)
		if c.want == Name {
			h = Hint{}
		}
		if stored != h {
			t.Errorf("%s: %v when it is read, want %v", c.name, stored, h)
		}
	}
}

func TestDefinition(t *testing.T) {
	for _, c := range []struct {
		body string
		want Kind
		text string
	}{
		{`{"id":"c"}`, None, ""},
		{`{"id":"c","defaultTtl":60}`, None, ""},
		{`{"id":"c","defaultTtl":31536000}`, None, ""},
		{`{"id":"c","defaultTtl":null}`, None, ""},
		{`{"id":"c","defaultTtl":-1,"defaultTTL":60}`, None, ""},
		{`{"id":"c","defaultTtl":604800000}`, DefaultMilliseconds,
			"This defaultTtl of 604800000 looks like milliseconds. It counts seconds, so that this is 7000 days; in " +
				"seconds it would be 604800."},
		{`{"id":"c","defaultTtl":1767323145}`, DefaultLong, "no point in time"},
		{`{"id":"c","defaultTtl":2147483647}`, None, ""},
		{`{"id":"c","defaultTTL":60}`, DefaultName, "This definition's defaultTTL is ignored"},
		{`{"id":"c","DefaultTtl":60}`, DefaultName, "DefaultTtl"},
		{`{"id":"c","default_ttl":60}`, DefaultName, "default_ttl"},
		{`{"id":"c","ttl":60}`, DefaultName, "This definition's ttl"},
		{`{"id":"c","timeToLive":60}`, DefaultName, "timeToLive"},
		{`{"id":"c","defaultTimeToLive":60}`, DefaultName, "defaultTimeToLive"},
		{`{"id":"c","expireAfterSeconds":60}`, DefaultName, "expireAfterSeconds"},
		{`{"id":"c","ttlPropertyPath":"/at","analyticalStorageTtl":-1}`, None, ""},
	} {
		body := parse(t, c.body)
		ttl, err := expiry.ParseDefault(doc.Lookup(body, "defaultTtl"))
		if err != nil {
			t.Fatal(err)
		}
		h := Definition(ttl, body)
		if h.Kind != c.want || !strings.Contains(h.Text, c.text) {
			t.Errorf("%s: %v, %q, want %v with %q", c.body, h.Kind, h.Text, c.want, c.text)
		}
		printable(t, h)
	}
}

// printable checks that a hint can be the value of a header.
func printable(t *testing.T, h Hint) {
	t.Helper()
	for _, c := range []byte(h.Text) {
		if c < ' ' || c > '~' {
			t.Errorf("%q is no header", h.Text)
		}
	}
}

func TestEveryKindHasWords(t *testing.T) {
	seen := map[string]bool{}
	for k := range Kinds() {
		if k.String() == "" || messages[k] == "" || seen[k.String()] {
			t.Errorf("kind %d: label %q, message %q", k, k, messages[k])
		}
		seen[k.String()] = true
	}
}

func TestTeller(t *testing.T) {
	var log bytes.Buffer
	counted := map[string]int{}
	teller := NewTeller(slog.New(slog.NewTextHandler(&log, nil)), func(kind string) { counted[kind]++ })
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		after     time.Duration
		container uint32
		kind      Kind
		lines     int // of the log, so far
	}{
		{0, 1, Off, 1},
		{time.Second, 1, Off, 1},
		{time.Second, 1, Name, 2},
		{time.Second, 2, Off, 3},
		{time.Hour - time.Second, 1, Off, 3},
		{time.Hour, 1, Off, 4},
		{2*time.Hour - time.Second, 1, Off, 4},
		{2 * time.Hour, 1, None, 4},
	} {
		teller.Tell(start.Add(step.after), step.container, "db/c", step.kind)
		if n := strings.Count(log.String(), "\n"); n != step.lines {
			t.Errorf("%v in %d at %v: %d lines, want %d\n%s", step.kind, step.container, step.after, n, step.lines,
				log.String())
		}
	}
	if counted["off"] != 6 || counted["name"] != 1 || len(counted) != 2 {
		t.Errorf("counted %v", counted)
	}
	if want := `level=WARN msg="a ttl does nothing`; !strings.Contains(log.String(), want) ||
		!strings.Contains(log.String(), "container=db/c hint=off") {
		t.Errorf("no %q in\n%s", want, log.String())
	}
	for i := range uint32(3 * maxTold) {
		teller.Tell(start, i, "db/c", Off)
	}
	if n := len(teller.told); n > maxTold {
		t.Errorf("%d remembered, want %d at most", n, maxTold)
	}
	(*Teller)(nil).Tell(start, 1, "db/c", Off)
	NewTeller(nil, nil).Tell(start, 1, "db/c", Off)
}

func TestNoHintAllocatesNothing(t *testing.T) {
	body := parse(t, `{"id":"1","pk":"a","title":"x","total":1,"data":{"a":1},"expiresAt":1,"description":"y"}`)
	policy := &expiry.Policy{Default: 60}
	if n := testing.AllocsPerRun(100, func() { Written(policy, expiry.Unset, body) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkWritten(b *testing.B) {
	body := parse(b, `{"id":"1","pk":"a","title":"x","total":1,"data":{"a":1},"expiresAt":1,"description":"y"}`)
	policy := &expiry.Policy{Default: 60}
	b.ReportAllocs()
	for b.Loop() {
		Written(policy, expiry.Unset, body)
	}
}
