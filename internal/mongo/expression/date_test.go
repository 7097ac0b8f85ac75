package expression

import (
	"fmt"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// TestInstantsOfClocks takes every quarter of an hour of two years, and asks when clocks
// showed what they showed then.
func TestInstantsOfClocks(t *testing.T) {
	for _, name := range []string{"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu",
		"America/Sao_Paulo", "-09:30"} {
		z, err := zoneOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2019; at = at.Add(15 * time.Minute) {
			shown := shownBy(at.In(z.location))
			again := z.at(z.instant(shown) * 1000)
			if shownBy(again) != shown {
				t.Errorf("%s shows %v, but at %v", name, time.Unix(shown, 0).UTC(), again)
			}
		}
	}
}

// TestDateAddThenDiff adds units to dates and counts them.
func TestDateAddThenDiff(t *testing.T) {
	start := time.Date(2016, 2, 28, 22, 59, 58, 997e6, time.UTC)
	for _, name := range []string{"UTC", "America/New_York", "Pacific/Apia"} {
		z, err := zoneOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for u := milliUnit; u <= yearUnit; u++ {
			for amount := int64(-50); amount <= 50; amount++ {
				ms, err := addUnits(start.UnixMilli(), u, amount, z)
				if err != nil {
					t.Fatal(err)
				}
				n, err := calendar{unit: u, startOfWeek: sunday, zone: z}.between(start.UnixMilli(), ms)
				if err != nil || n != amount {
					t.Errorf("%s: %d %ss are %d, %v", name, amount, unitNames[u], n, err)
				}
			}
		}
	}
}

// TestTruncatedDates looks at the bins of dates: a date is in its own, and the one
// before ends where it begins.
func TestTruncatedDates(t *testing.T) {
	for _, name := range []string{"UTC", "America/New_York", "Asia/Kolkata"} {
		z, err := zoneOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for u := milliUnit; u <= yearUnit; u++ {
			for _, bin := range []int64{1, 2, 7} {
				c := calendar{unit: u, startOfWeek: 2, zone: z}
				for at := time.Date(1998, 3, 1, 5, 4, 3, 2e6,
					time.UTC); at.Year() < 2003; at = at.Add(1000003 * time.Second) {
					start, err := c.truncate(at.UnixMilli(), bin)
					if err != nil || start > at.UnixMilli() {
						t.Fatalf("%v by %d %ss: %d, %v", at, bin, unitNames[u], start, err)
					}
					again, _ := c.truncate(start, bin)
					before, _ := c.truncate(start-1, bin)
					if next, _ := addUnits(before, u, bin, z); again != start || next != start && u >= dayUnit {
						t.Fatalf("%v by %d %ss in %s: %d, again %d, before %d, next %d", at, bin, unitNames[u], name,
							start, again, before, next)
					}
				}
			}
		}
	}
}

func TestZonesAreBounded(t *testing.T) {
	for i := range 3 * maxZones {
		if _, err := zoneOf(fmt.Sprintf("+%02d:%02d", i/60%100, i%60)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(zones.known); n > maxZones {
		t.Errorf("%d zones are remembered", n)
	}
	for _, name := range []string{"", "Local", "../../etc/passwd", "/etc/localtime", "+1", "+123", "+12:3", "+1a",
		"Europe"} {
		if _, err := zoneOf(name); !code.Is(err, 40485) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzDateFromString(f *testing.F) {
	for _, seed := range [][2]string{
		{"2017-02-08T12:10:40.787Z", ""}, {"2017-02-08 12:10:40 -0330", ""}, {"July 4th, 2017 12:30 a.m. EST", ""},
		{"Tue, 04 Jul 2017 11:34:25 GMT+2", ""}, {"04.07.17", ""}, {"2017-W27-2", ""}, {"20170208121040", ""},
		{"2017-366", ""},
		{"15/06/2018", "%d/%m/%Y"}, {"2018W24D5", "%GW%VD%u"}, {"2018 166 +90", "%Y %j %Z"},
		{"15 June 2018 10:20:30.5 +01", "%d %B %Y %H:%M:%S.%L %z"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, format string) {
		if checkFormat(format, "bBdGHjLmMSuVYzZ") != nil {
			format = ""
		}
		ms, err := parseDate(text, format, format != "", utc)
		if err != nil {
			if !code.Is(err, code.ConversionFailure) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		written, err := appendDate(nil, isoFormat, ms, utc)
		if err != nil {
			return // the year has more than four digits
		}
		again, err := parseDate(string(written), "", false, utc)
		if err != nil || again != ms {
			t.Fatalf("%q is %d, written %s, which is %d, %v", text, ms, written, again, err)
		}
	})
}

func BenchmarkDateToString(b *testing.B) {
	for _, given := range []string{
		`{"$dateToString": {"date": "$d"}}`,
		`{"$dateToString": {"date": "$d", "format": "%Y-%m-%d", "timezone": "America/New_York"}}`,
	} {
		b.Run(given, func(b *testing.B) { benchmark(b, given) })
	}
}

func BenchmarkDateTrunc(b *testing.B) {
	benchmark(b, `{"$dateTrunc": {"date": "$d", "unit": "month", "timezone": "America/New_York"}}`)
}

// benchmark evaluates an expression for a document like those of the stories.
func benchmark(b *testing.B, given string) {
	names := NewNames()
	x, err := Compile(parse(b, given), names)
	if err != nil {
		b.Fatal(err)
	}
	root := doc.Object(document(b,
		`{"d": {"$date": "2017-06-19T15:08:51.123Z"}, "s": "mayfly", "i": 7, "f": 2.5, "o": {"$oid": `+
			`"5947e8c30000000000000001"}}`))
	s := &Scope{Vars: make([]doc.Value, names.Slots())}
	b.ReportAllocs()
	for b.Loop() {
		s.Reset(root)
		if _, err := x.Evaluate(s); err != nil {
			b.Fatal(err)
		}
	}
}
