package expiry_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

const (
	off   = expiry.Unset
	none  = expiry.Unset // an item without a ttl
	never = expiry.Never
	most  = expiry.MaxTTL
)

// wrote is the stamp of the documents in the tables.
const wrote expiry.Stamp = 1_000_000

// matrix is the rule, cell by cell: the life of an item, Never if it has no end.
var matrix = []struct {
	rule           string
	container, own expiry.TTL
	life           expiry.TTL
}{
	{"T-20", off, none, never},
	{"T-21", off, never, never},
	{"T-22", off, 5, never},
	{"T-23", never, none, never},
	{"T-24", never, never, never},
	{"T-25", never, 5, 5},
	{"T-26", 10, none, 10},
	{"T-27", 10, never, never},
	{"T-28 shorter", 10, 5, 5},
	{"T-28 longer", 10, 15, 15},
	{"T-28 the same", 10, 10, 10},
	{"shortest", never, 1, 1},
	{"longest of an item", 1, most, most},
	{"longest of a container", most, none, most},
}

func TestMatrix(t *testing.T) {
	for _, c := range matrix {
		t.Run(c.rule, func(t *testing.T) {
			p := expiry.Policy{Default: c.container}
			if got := p.On(); got != (c.container != off) {
				t.Errorf("On() = %v", got)
			}
			if got := p.Effective(c.own); got != c.life {
				t.Errorf("Effective(%d) = %d, want %d", c.own, got, c.life)
			}
			at, ok := p.Deadline(expiry.Document{Wrote: wrote, TTL: c.own})
			if c.life == never {
				if ok || at != 0 {
					t.Errorf("Deadline() = %d, %v, want none", at, ok)
				}
				expectAlive(t, &p, c.own, wrote, wrote+int64(most), 1<<53)
				return
			}
			if want := wrote + int64(c.life); !ok || at != want {
				t.Fatalf("Deadline() = %d, %v, want %d", at, ok, want)
			}
			expectAlive(t, &p, c.own, wrote, at-1)
			expectDead(t, &p, c.own, at, at+1, 1<<53)
		})
	}
}

// body is a document that has seconds under /at.
func body(seconds int64) doc.Doc {
	return bsoncore.NewDocumentBuilder().AppendInt64("at", seconds).Build()
}

// compiled is a policy without filters that is ready for use.
func compiled(t *testing.T, p expiry.Policy) *expiry.Policy {
	t.Helper()
	if err := p.Compile(nil); err != nil {
		t.Fatal(err)
	}
	return &p
}

// closed is a policy after Close.
func closed(t *testing.T, p expiry.Policy, now expiry.Stamp, sequence uint64) expiry.Policy {
	t.Helper()
	next, err := p.Close(now, sequence)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// expectAlive and expectDead ask about a document that was written at wrote, whose property says the same second, in
// every way that a policy can be asked.
func expectAlive(t *testing.T, p *expiry.Policy, own expiry.TTL, at ...expiry.Stamp) {
	t.Helper()
	expect(t, p, own, false, at)
}

func expectDead(t *testing.T, p *expiry.Policy, own expiry.TTL, at ...expiry.Stamp) {
	t.Helper()
	expect(t, p, own, true, at)
}

func expect(t *testing.T, p *expiry.Policy, own expiry.TTL, dead bool, at []expiry.Stamp) {
	t.Helper()
	for _, now := range at {
		d := expiry.Document{Wrote: wrote, TTL: own, Body: body(wrote)}
		by := *p
		by.Property = "/at"
		if p.Dead(d, now) != dead || p.DeadByTTL(wrote, own, now) != dead || compiled(t, by).Dead(d, now) != dead {
			t.Errorf("%+v: own ttl %d, %d s after the write: dead %v", *p, own, now-wrote, !dead)
		}
	}
}

func TestProperty(t *testing.T) {
	const from = wrote + 1000
	p := compiled(t, expiry.Policy{Default: 10, Property: "/at"})
	cases := []struct {
		name      string
		from, now expiry.Stamp
		own       expiry.TTL
		dead      bool
	}{
		{"long after the write, before the deadline", from, from + 9, none, false},
		{"at the deadline", from, from + 10, none, true},
		{"own ttl counts from the property too", from, from + 4, 5, false},
		{"own deadline", from, from + 5, 5, true},
		{"own ttl of -1", from, 1 << 53, never, false},
		{"property in the past: born dead", wrote - 10, wrote, none, true},
		{"property in the past, just alive", wrote - 9, wrote, none, false},
		{"before 1970", -10, 0, none, true},
		{"before 1970, just alive", -9, 0, none, false},
		{"far future", 1<<53 - 1, 1<<53 + 8, none, false},
		{"far future, the deadline", 1<<53 - 1, 1<<53 + 9, none, true},
		{"far future, longest life", 1<<53 - 1, 1 << 53, most, false},
		{"far past, longest life", -1<<53 + 1, wrote, most, true},
		{"too far away to count from: the stamp", 1 << 53, wrote + 10, none, true},
	}
	for _, c := range cases {
		d := expiry.Document{Wrote: wrote, TTL: c.own, Body: body(c.from)}
		if got := p.Dead(d, c.now); got != c.dead {
			t.Errorf("%s: dead %v", c.name, got)
		}
		if at, ok := p.Deadline(d); ok != (c.own != never) || ok && (at <= c.now) != c.dead {
			t.Errorf("%s: deadline %d, %v", c.name, at, ok)
		}
	}
	text := bsoncore.NewDocumentBuilder().AppendString("at", "x").Build()
	if d := (expiry.Document{Wrote: wrote, Body: text}); p.Dead(d, wrote+9) || !p.Dead(d, wrote+10) {
		t.Error("what is no number does not stand for the stamp (A-25)")
	}
}

func TestFloors(t *testing.T) {
	const inherit, own = wrote - 100, wrote - 50
	cases := []struct {
		name  string
		wrote expiry.Stamp
		own   expiry.TTL
		dead  bool
	}{
		{"inherits, before the floor", inherit - 1, none, true},
		{"inherits, at the floor", inherit, none, true},
		{"inherits, after the floor", inherit + 1, none, false},
		{"own deadline before the floor", own - 6, 5, true},
		{"own deadline at the floor", own - 5, 5, true},
		{"own deadline after the floor", own - 4, 5, false},
		{"own ttl: the floor of the others is nothing to it", inherit - 1000, 2000, false},
		{"inherits: the floor of the others is nothing to it", own, none, false},
		{"never, before both floors", 1, never, false},
		{"longest life, before both floors", inherit - 1000, most, false},
		{"longest life from the far past", own - int64(most), most, true},
		{"longest life from the far past, one second later", own - int64(most) + 1, most, false},
	}
	for _, setting := range []expiry.TTL{off, never} {
		p := expiry.Policy{Default: setting, InheritFloor: inherit, OwnFloor: own}
		for _, c := range cases {
			if setting == never && c.own > 0 {
				continue // the present policy ends those too
			}
			d := expiry.Document{Wrote: c.wrote, TTL: c.own, Body: body(1 << 40)}
			if got := p.Dead(d, wrote); got != c.dead {
				t.Errorf("default %d, %s: dead %v", setting, c.name, got)
			}
			by := p
			by.Property = "/at"
			if got := compiled(t, by).Dead(d, wrote); got != c.dead {
				t.Errorf("default %d, %s: a floor goes by the stamp, dead %v", setting, c.name, got)
			}
		}
	}
	var nothing expiry.Policy
	for _, at := range []expiry.Stamp{-1, 0, 1} {
		if nothing.DeadByTTL(at, none, 1<<53) || nothing.DeadByTTL(at-5, 5, 1<<53) {
			t.Errorf("a floor of zero has ended a document written at %d", at)
		}
	}
	if p := (expiry.Policy{InheritFloor: 7}); p.FirstStamp() != 8 || p.DeadByTTL(p.FirstStamp(), none, 8) {
		t.Errorf("FirstStamp() = %d is not the first above the floor", p.FirstStamp())
	}
}

func TestClose(t *testing.T) {
	past := expiry.Past{Property: "/a", Default: 9, Until: 500, Sequence: 3}
	const now, sequence = 1000, 77
	cases := []struct {
		name         string
		before, want expiry.Policy
	}{
		{"off has ended nothing", expiry.Policy{InheritFloor: 5, OwnFloor: 6},
			expiry.Policy{InheritFloor: 5, OwnFloor: 6}},
		{"no default ends own deadlines", expiry.Policy{Default: never}, expiry.Policy{Default: never, OwnFloor: now}},
		{"a default ends both", expiry.Policy{Default: 10},
			expiry.Policy{Default: 10, InheritFloor: now - 10, OwnFloor: now}},
		{"floors do not fall", expiry.Policy{Default: 10, InheritFloor: 995, OwnFloor: 2000},
			expiry.Policy{Default: 10, InheritFloor: 995, OwnFloor: 2000}},
		{"floors rise", expiry.Policy{Default: 10, InheritFloor: 3, OwnFloor: 4},
			expiry.Policy{Default: 10, InheritFloor: 990, OwnFloor: 1000}},
		{"longer than there was time", expiry.Policy{Default: most}, expiry.Policy{Default: most, OwnFloor: now}},
		{"a property leaves floors alone", expiry.Policy{Default: 10, Property: "/b", InheritFloor: 1, OwnFloor: 2},
			expiry.Policy{Default: 10, Property: "/b", InheritFloor: 1, OwnFloor: 2,
				Past: []expiry.Past{{"/b", 10, now, sequence}}}},
		{"a second property comes after the first",
			expiry.Policy{Default: never, Property: "/b", Past: []expiry.Past{past}},
			expiry.Policy{Default: never, Property: "/b", Past: []expiry.Past{past, {"/b", never, now, sequence}}}},
		{"the past stays", expiry.Policy{Default: 10, Past: []expiry.Past{past}},
			expiry.Policy{Default: 10, InheritFloor: 990, OwnFloor: 1000, Past: []expiry.Past{past}}},
	}
	for _, c := range cases {
		before := slices.Clone(c.before.Past)
		got := closed(t, c.before, now, sequence)
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
		if again := closed(t, got, now, sequence); got.Property == "" && fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("%s: closing twice at one instant makes a difference: %+v", c.name, again)
		}
		if !slices.Equal(c.before.Past, before) {
			t.Errorf("%s: Close has changed its receiver", c.name)
		}
		if plain := got.Property == "" && len(got.Past) == 0; got.Plain() != plain {
			t.Errorf("%s: Plain() = %v", c.name, !plain)
		}
	}
}

// TestCloseDoesNotShareItsPast grows two policies from one.
func TestCloseDoesNotShareItsPast(t *testing.T) {
	p := expiry.Policy{Default: 10, Property: "/a", Past: make([]expiry.Past, 0, 4)}
	one, two := closed(t, p, 100, 1), closed(t, p, 200, 2)
	if one.Past[0].Until != 100 || two.Past[0].Until != 200 {
		t.Errorf("the pasts %v and %v share their memory", one.Past, two.Past)
	}
}

func TestPast(t *testing.T) {
	const until = wrote + 100
	cases := []struct {
		name     string
		setting  expiry.TTL
		from     expiry.Stamp
		own      expiry.TTL
		sequence uint64
		dead     bool
	}{
		{"deadline before the end", 10, until - 11, none, 5, true},
		{"deadline at the end", 10, until - 10, none, 5, true},
		{"deadline after the end", 10, until - 9, none, 5, false},
		{"own deadline at the end", 10, until - 3, 3, 5, true},
		{"own deadline after the end", 10, until - 2, 3, 5, false},
		{"never", 10, 0, never, 5, false},
		{"the last sequence of its time", 10, 0, none, 9, true},
		{"written since", 10, 0, none, 10, false},
		{"no default", never, 0, none, 5, false},
		{"no default, own deadline", never, until - 3, 3, 5, true},
		{"longest life", most, until - int64(most), none, 5, true},
		{"longest life, one second later", most, until - int64(most) + 1, none, 5, false},
		{"far future", most, 1<<53 - 1, most, 5, false},
	}
	for _, c := range cases {
		p := compiled(t,
			expiry.Policy{Past: []expiry.Past{{Property: "/at", Default: c.setting, Until: until, Sequence: 9}}})
		d := expiry.Document{Wrote: wrote, TTL: c.own, Sequence: c.sequence, Body: body(c.from)}
		if got := p.Dead(d, wrote); got != c.dead {
			t.Errorf("%s: dead %v", c.name, got)
		}
	}
}

// TestChanges plays a container's settings over time, for a document that is
// written at second 0.
func TestChanges(t *testing.T) {
	type change struct {
		at expiry.Stamp
		to expiry.TTL
	}
	cases := []struct {
		name    string
		own     expiry.TTL
		changes []change // the first is in force when the document is written
		died    expiry.Stamp
	}{
		{"off to n ends what is old", none, []change{{0, off}, {50, 10}}, 50},
		{"off to n leaves what is young", none, []change{{0, off}, {5, 10}}, 10},
		{"off to n: an own ttl comes into force", 20, []change{{0, off}, {50, 100}}, 50},
		{"off to n: -1 holds", never, []change{{0, off}, {50, 10}}, 0},
		{"off to -1 leaves those that inherit", none, []change{{0, off}, {50, never}}, 0},
		{"off to -1: an own ttl comes into force", 20, []change{{0, off}, {50, never}}, 50},
		{"off to -1: an own ttl that is not over yet", 60, []change{{0, off}, {50, never}}, 60},
		{"n to fewer ends more at once", none, []change{{0, 100}, {50, 20}}, 50},
		{"n to fewer, not over yet", none, []change{{0, 100}, {10, 20}}, 20},
		{"n to more: the living live longer", none, []change{{0, 10}, {9, 100}}, 100},
		{"n to more at the deadline: too late (A-01)", none, []change{{0, 10}, {10, 100}}, 10},
		{"n to more: the dead stay dead (A-01)", none, []change{{0, 10}, {50, 100}}, 10},
		{"n to more and a document's own ttl", 30, []change{{0, 10}, {20, 100}}, 30},
		{"n to -1 saves those that inherit", none, []change{{0, 10}, {9, never}}, 0},
		{"n to -1 does not save the dead (A-01)", none, []change{{0, 10}, {10, never}}, 10},
		{"n to -1 keeps an own ttl", 30, []change{{0, 10}, {9, never}}, 30},
		{"n to off saves the living", none, []change{{0, 10}, {9, off}}, 0},
		{"n to off saves those with their own", 30, []change{{0, 10}, {29, off}}, 0},
		{"n to off at the deadline: too late (A-01)", none, []change{{0, 10}, {10, off}}, 10},
		{"n to off at the own deadline: too late (A-01)", 30, []change{{0, 10}, {30, off}}, 30},
		{"-1 to off at the own deadline: too late (A-01)", 30, []change{{0, never}, {30, off}}, 30},
		{"off and on again: the time off counts", none, []change{{0, 30}, {20, off}, {40, 30}}, 40},
		{"off and on again before the end", none, []change{{0, 30}, {10, off}, {20, 30}}, 30},
		{"off, on, off: a dormant ttl that woke", 20, []change{{0, off}, {50, never}, {60, off}}, 50},
		{"off, on, off: a dormant ttl that did not wake in time", 20, []change{{0, off}, {10, never}, {19, off}}, 0},
		{"dead, then off and on with more", none, []change{{0, 10}, {50, off}, {60, 1000}}, 10},
		{"dead by its own, then on and off many times", 5,
			[]change{{0, never}, {7, off}, {8, never}, {9, off}, {10, 1000}}, 5},
		{"the shortest of three", none, []change{{0, 100}, {10, 15}, {14, 100}}, 100},
		{"the shortest of three, reached", none, []change{{0, 100}, {10, 15}, {15, 100}}, 15},
		{"several changes in one second", none, []change{{0, 100}, {20, 10}, {20, off}, {20, never}}, 20},
	}
	for _, c := range cases {
		p := expiry.Policy{Default: c.changes[0].to}
		changes, died := c.changes[1:], expiry.Stamp(0)
		for now := expiry.Stamp(0); now <= 200; now++ {
			for len(changes) > 0 && changes[0].at == now {
				p = closed(t, p, wrote+now, 1)
				p.Default, changes = changes[0].to, changes[1:]
			}
			dead := p.DeadByTTL(wrote, c.own, wrote+now)
			if died != 0 && !dead {
				t.Errorf("%s: dead at %d, alive at %d", c.name, died, now)
			}
			if dead && died == 0 {
				died = now
			}
		}
		if died != c.died {
			t.Errorf("%s: died at %d, want %d", c.name, died, c.died)
		}
	}
}

// TestFloorsAreEnough tries every history of three settings within a few
// seconds against the rule as it is stated: dead is who has reached the deadline of a setting while
// that was in force.
func TestFloorsAreEnough(t *testing.T) {
	settings := []expiry.TTL{off, never, 2, 4}
	const end = 10
	for n := range 4 * 4 * 4 {
		history := [3]expiry.TTL{settings[n%4], settings[n/4%4], settings[n/16]}
		for first := expiry.Stamp(1); first < end; first++ {
			for second := first; second < end; second++ {
				tryHistory(t, history, [4]expiry.Stamp{1, first, second, end})
			}
		}
	}
}

// tryHistory plays settings from at[i] to at[i+1], instants of change belonging
// to both.
func tryHistory(t *testing.T, history [3]expiry.TTL, at [4]expiry.Stamp) {
	t.Helper()
	for _, own := range []expiry.TTL{none, never, 1, 3} {
		for written := at[0]; written <= at[3]; written++ {
			p := expiry.Policy{Default: history[0]}
			gone := false
			for i, setting := range history {
				if i > 0 {
					p = closed(t, p, at[i], 1)
					p.Default = setting
				}
				life := own
				if own == none {
					life = setting
				}
				for now := max(at[i], written); now <= at[i+1]; now++ {
					gone = gone || setting != off && life != never && written+int64(life) <= now
					if p.DeadByTTL(written, own, now) != gone {
						t.Fatalf("settings %v at %v, written at %d with ttl %d: dead %v at %d", history, at, written,
							own, !gone, now)
					}
				}
			}
		}
	}
}

func value(t testing.TB, text string) doc.Value {
	t.Helper()
	if text == "" {
		return doc.Value{}
	}
	v, err := doc.ValueFromJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// values is every value of a life span that a client may send; echo is set for
// those that are refused.
var values = []struct {
	text string
	want expiry.TTL
	echo string
}{
	{"", off, ""},
	{"-1", never, ""},
	{"1", 1, ""},
	{"2147483647", most, ""},
	{"60.0", 60, ""},
	{"6e1", 60, ""},
	{"20.0", 20, ""},
	{"-1.0", never, ""},
	{"2147483647.0", most, ""},
	{"0", off, "0"},
	{"-0", off, "0"},
	{"0.0", off, "0"},
	{"-2", off, "-2"},
	{"-10", off, "-10"},
	{"2147483648", off, "2147483648"},
	{"-2147483648", off, "-2147483648"},
	{"4294967295", off, "4294967295"},
	{"4294967297", off, "4294967297"}, // 1 in 32 bits
	{"9223372036854775807", off, "9223372036854775807"},
	{"9223372036854775808", off, "9223372036854775808"},
	{"18446744073709551615", off, "18446744073709551615"}, // -1 in 64 bits
	{"18446744073709551617", off, "1.8446744073709552e+019"},
	{"1e300", off, "1e+300"},
	{"1.5", off, "1.5"},
	{"20.5", off, "20.5"},
	{"0.9999999999999999", off, "0.99999999999999989"},
	{`"60"`, off, `"60"`},
	{`"20"`, off, `"20"`},
	{`""`, off, `""`},
	{"true", off, "true"},
	{"false", off, "false"},
	{"{}", off, "{}"},
	{"[]", off, "[]"},
	{`{"a": 1}`, off, `{"a":1}`},
	{"[60]", off, "[60]"},
}

func TestParse(t *testing.T) {
	parsers := []struct {
		byDefault bool
		parse     func(doc.Value) (expiry.TTL, error)
	}{
		{true, expiry.ParseDefault},
		{false, expiry.ParseItem},
	}
	for _, p := range parsers {
		for _, c := range values {
			got, err := p.parse(value(t, c.text))
			if got != c.want {
				t.Errorf("default %v, %s: got %d, want %d", p.byDefault, c.text, got, c.want)
			}
			if c.echo == "" && err != nil {
				t.Errorf("default %v, %s: %v", p.byDefault, c.text, err)
			}
			if c.echo != "" {
				n, wrong := strconv.ParseFloat(c.text, 64)
				expectRefusal(t, err,
					expiry.BadTTL{Default: p.byDefault, Value: c.echo, TooLong: wrong == nil && n > float64(most)})
			}
		}
	}
}

// TestParseOtherNumbers tries values that JSON does not make.
func TestParseOtherNumbers(t *testing.T) {
	int32Of := func(b ...byte) doc.Value { return doc.Value{Type: bsoncore.TypeInt32, Data: b} }
	cases := []struct {
		name  string
		value doc.Value
		want  expiry.TTL // none: refused
	}{
		{"int32", int32Of(20, 0, 0, 0), 20},
		{"int32 of -1", int32Of(255, 255, 255, 255), never},
		{"int32 of 0", int32Of(0, 0, 0, 0), none},
		{"smallest int32", int32Of(0, 0, 0, 128), none},
		{"too short an int32", int32Of(20, 0), none},
		{"double", doc.Float(20), 20},
		{"not a number", doc.Float(math.NaN()), none},
		{"infinity", doc.Float(math.Inf(1)), none},
		{"minus infinity", doc.Float(math.Inf(-1)), none},
		{"the least int64", doc.Float(-1 << 63), none},
		{"minus zero", doc.Float(math.Copysign(0, -1)), none},
		{"date", doc.Value{Type: bsoncore.TypeDateTime, Data: []byte{20, 0, 0, 0, 0, 0, 0, 0}}, none},
	}
	for _, c := range cases {
		for _, parse := range []func(doc.Value) (expiry.TTL, error){expiry.ParseDefault, expiry.ParseItem} {
			got, err := parse(c.value)
			if got != c.want || (err == nil) != (c.want != none) || err != nil && fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: got %d, %v", c.name, got, err)
			}
		}
	}
}

// TestParseNull is where the two differ (A-08, L-04).
func TestParseNull(t *testing.T) {
	if got, err := expiry.ParseDefault(doc.Null()); got != off || err != nil {
		t.Errorf("defaultTtl null: got %d, %v, want off", got, err)
	}
	got, err := expiry.ParseItem(doc.Null())
	if got != none {
		t.Errorf("ttl null: got %d", got)
	}
	expectRefusal(t, err, expiry.BadTTL{Value: "null"})
}

func expectRefusal(t *testing.T, err error, want expiry.BadTTL) {
	t.Helper()
	bad, ok := errors.AsType[*expiry.BadTTL](err)
	if !ok || fault.KindOf(err) != fault.Invalid || *bad != want {
		t.Errorf("got %v of kind %v, want %+v", err, fault.KindOf(err), want)
	}
}

func TestLongValuesAreNotRepeated(t *testing.T) {
	long := strings.Repeat("x", 1000)
	cases := []struct{ name, text, echo string }{
		{"just fits", `"` + long[:62] + `"`, `"` + long[:62] + `"`},
		{"one too long", `"` + long[:63] + `"`, `"` + long[:63] + `...`},
		{"long string", `"` + long + `"`, `"` + long[:63] + `...`},
		{"long array", "[" + strings.Repeat("1,", 500) + "1]", "[" + strings.Repeat("1,", 31) + "1..."},
		{"a character is not cut", `"` + strings.Repeat("é", 500) + `"`, `"` + strings.Repeat("é", 31) + `...`},
		{"nor a wide one", `"` + strings.Repeat("😀", 500) + `"`, `"` + strings.Repeat("😀", 15) + `...`},
		{"what is not a character", "\"" + strings.Repeat("\ufffd", 500) + "\"",
			`"` + strings.Repeat("\ufffd", 21) + `...`},
	}
	for _, c := range cases {
		_, err := expiry.ParseDefault(value(t, c.text))
		expectRefusal(t, err, expiry.BadTTL{Default: true, Value: c.echo})
		if !utf8.ValidString(err.Error()) {
			t.Errorf("%s: the message is not UTF-8", c.name)
		}
	}
}

func BenchmarkDead(b *testing.B) {
	p := expiry.Policy{Default: 10, InheritFloor: wrote - 100, OwnFloor: wrote - 100}
	d := expiry.Document{Wrote: wrote, TTL: 5, Body: body(wrote)}
	for b.Loop() {
		p.Dead(d, wrote+3)
	}
}
