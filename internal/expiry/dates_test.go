package expiry_test

import (
	"errors"
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

// at is a date so many seconds and milliseconds after 1970.
func at(seconds, ms int64) bson.DateTime { return bson.DateTime(1000*seconds + ms) }

func dated(t *testing.T, d bson.M) doc.Doc {
	t.Helper()
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// dates is a policy with rules of dates and nothing else.
func dates(t *testing.T, rules ...expiry.DateRule) *expiry.Policy {
	t.Helper()
	return compiled(t, expiry.Policy{Dates: rules})
}

func TestDates(t *testing.T) {
	cases := []struct {
		name string
		path string
		body bson.M
		dies expiry.Stamp // 0: never
	}{
		{"a date", "at", bson.M{"at": at(100, 0)}, 110},
		{"within a second: the next whole one", "at", bson.M{"at": at(100, 1)}, 111},
		{"before 1970", "at", bson.M{"at": at(-100, 0)}, 1},
		{"no date", "at", bson.M{"at": int64(100_000)}, 0},
		{"nothing there", "at", bson.M{}, 0},
		{"the earliest of several", "at", bson.M{"at": bson.A{at(300, 0), at(200, 0), "x"}}, 210},
		{"below an object", "a.at", bson.M{"a": bson.M{"at": at(100, 0)}}, 110},
		{"below the objects of an array", "a.at",
			bson.M{"a": bson.A{bson.M{"at": at(200, 0)}, bson.M{"at": at(100, 0)}, 5}}, 110},
		{"one element", "a.1.at", bson.M{"a": bson.A{bson.M{"at": at(50, 0)}, bson.M{"at": at(100, 0)}}}, 110},
		{"one element that is not there", "a.2", bson.M{"a": bson.A{at(50, 0)}}, 0},
		{"a name that begins like an index", "a.01", bson.M{"a": bson.A{at(50, 0), bson.M{"01": at(100, 0)}}}, 110},
	}
	for _, c := range cases {
		p := dates(t, expiry.DateRule{Index: 1, Path: c.path, Seconds: 10})
		d := expiry.Document{Body: dated(t, c.body)}
		if c.dies == 0 {
			if dies, ok := p.Deadline(d); ok || p.Dead(d, math.MaxInt64) {
				t.Errorf("%s: ends at %d", c.name, dies)
			}
			continue
		}
		if dies, ok := p.Deadline(d); !ok || dies != c.dies || c.dies > 1 && p.Dead(d, c.dies-1) || !p.Dead(d, c.dies) {
			t.Errorf("%s: ends at %d, want %d", c.name, dies, c.dies)
		}
	}
}

// TestDatesAndTTL takes the earliest deadline of all parts of the rule.
func TestDatesAndTTL(t *testing.T) {
	p := compiled(t,
		expiry.Policy{Default: 60, Dates: []expiry.DateRule{{Index: 1, Path: "a", Seconds: 10}, {Index: 2, Path: "b"}}})
	for _, c := range []struct {
		own  expiry.TTL
		body bson.M
		want expiry.Stamp
	}{
		{none, bson.M{}, 1060},
		{5, bson.M{"a": at(1000, 0)}, 1005},
		{none, bson.M{"a": at(1000, 0)}, 1010},
		{never, bson.M{"a": at(1000, 0), "b": at(1001, 0)}, 1001},
	} {
		d := expiry.Document{Wrote: 1000, TTL: c.own, Body: dated(t, c.body)}
		if got, ok := p.Deadline(d); !ok || got != c.want || p.Dead(d, c.want-1) || !p.Dead(d, c.want) {
			t.Errorf("ttl %d, %v: ends at %d, want %d", c.own, c.body, got, c.want)
		}
	}
	if p.Plain() || !p.Ordered() {
		t.Error("a policy with dates is plain, or in no order")
	}
}

func TestPartialDates(t *testing.T) {
	filter := func(filter doc.Doc) (func(doc.Doc) bool, error) {
		if doc.Lookup(filter, "bad").Type != 0 {
			return nil, errors.New("bad")
		}
		return func(body doc.Doc) bool { return doc.Lookup(body, "on").Type != 0 }, nil
	}
	p := expiry.Policy{Dates: []expiry.DateRule{{Index: 1, Path: "at", Partial: dated(t, bson.M{"on": 1})}}}
	if err := p.Compile(filter); err != nil {
		t.Fatal(err)
	}
	in := expiry.Document{Body: dated(t, bson.M{"at": at(100, 0), "on": 1})}
	out := expiry.Document{Body: dated(t, bson.M{"at": at(100, 0)})}
	if !p.Dead(in, 100) || p.Dead(out, 100) {
		t.Error("the filter of a rule is not obeyed")
	}
	p.Dates[0].Partial = dated(t, bson.M{"bad": 1})
	if p.Compile(filter) == nil {
		t.Error("a bad filter is taken")
	}
}

// TestCloseDates closes rules: what was due stays dead, and nothing else dies of them.
func TestCloseDates(t *testing.T) {
	p := *dates(t, expiry.DateRule{Index: 1, Path: "a", Seconds: 10}, expiry.DateRule{Index: 2, Path: "b", Seconds: 10})
	next, err := p.CloseDates(func(r expiry.DateRule) bool { return r.Index == 1 }, 110, 7)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Dates) != 2 || len(next.Dates) != 1 || next.Dates[0].Index != 2 || len(next.PastDates) != 1 ||
		next.Ordered() {
		t.Fatalf("closed to %+v", next)
	}
	closed := compiled(t, next)
	for _, c := range []struct {
		name     string
		date     int64
		sequence uint64
		dead     bool
	}{
		{"due when it was closed", 100, 7, true},
		{"due a second later", 101, 7, false},
		{"written since", 100, 8, false},
	} {
		d := expiry.Document{Sequence: c.sequence, Body: dated(t, bson.M{"a": at(c.date, 0)})}
		if got := closed.Dead(d, 1000); got != c.dead {
			t.Errorf("%s: dead %v", c.name, got)
		}
	}
	all := func(expiry.DateRule) bool { return true }
	again := dates(t, expiry.DateRule{Index: 3, Path: "a", Seconds: 10})
	again.PastDates = next.PastDates
	covering, err := again.CloseDates(all, 200, 9)
	if err != nil || len(covering.PastDates) != 1 || covering.PastDates[0].Until != 200 {
		t.Errorf("a rule that ended all that the older one did: %+v, %v", covering.PastDates, err)
	}
	for len(again.PastDates) < expiry.MaxPast {
		again.PastDates = append(again.PastDates, expiry.PastDates{DateRule: expiry.DateRule{Path: "x"}})
	}
	again.Dates[0].Path = "y"
	if _, err := again.CloseDates(all, 200, 9); fault.KindOf(err) != fault.Invalid {
		t.Errorf("more than %d closed rules: %v", expiry.MaxPast, err)
	}
}

func TestLastDue(t *testing.T) {
	r := expiry.DateRule{Seconds: 10}
	for _, now := range []expiry.Stamp{0, 10, 1_000_000} {
		if ms := r.LastDue(now); r.Deadline(ms) > now || r.Deadline(ms+1) <= now {
			t.Errorf("at %d the last date due is %d", now, ms)
		}
	}
	if r.LastDue(math.MinInt64+10) != math.MinInt64 {
		t.Error("LastDue overflows")
	}
}

func TestPolicyInWords(t *testing.T) {
	for want, p := range map[string]expiry.Policy{
		"off":                            {},
		"60 s":                           {Default: 60},
		"never by default from /at":      {Default: never, Property: "/at"},
		"10 s after the date in seen":    {Dates: []expiry.DateRule{{Path: "seen", Seconds: 10}}},
		"5 s; 0 s after the date in a.b": {Default: 5, Dates: []expiry.DateRule{{Path: "a.b"}}},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
