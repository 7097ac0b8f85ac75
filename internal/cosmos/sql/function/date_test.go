package function

import (
	"fmt"
	"testing"
	"time"
)

// The examples of the reference's pages, one by one.
func TestDateExamples(t *testing.T) {
	day := `"2021-01-08T18:35:00.0000000"`
	late, early := `"2019-02-04T16:00:00.0000000"`, `"2018-03-05T05:00:00.0000000"`
	part := `"2016-05-29T08:30:00.1301617"`
	runCalls(t, []callCase{
		{"DATETIMEADD", `"yyyy", 1, "2020-07-03T00:00:00.0000000"`, `"2021-07-03T00:00:00.0000000Z"`},
		{"DATETIMEADD", `"mm", 1, "2020-07-03T00:00:00.0000000"`, `"2020-08-03T00:00:00.0000000Z"`},
		{"DATETIMEADD", `"dd", 1, "2020-07-03T00:00:00.0000000"`, `"2020-07-04T00:00:00.0000000Z"`},
		{"DATETIMEADD", `"hh", 1, "2020-07-03T00:00:00.0000000"`, `"2020-07-03T01:00:00.0000000Z"`},
		{"DATETIMEADD", `"yyyy", -1, "2020-07-03T00:00:00.0000000"`, `"2019-07-03T00:00:00.0000000Z"`},
		{"DATETIMEADD", `"mm", -1, "2020-07-03T00:00:00.0000000"`, `"2020-06-03T00:00:00.0000000Z"`},
		{"DATETIMEADD", `"dd", -1, "2020-07-03T00:00:00.0000000"`, `"2020-07-02T00:00:00.0000000Z"`},
		{"DATETIMEBIN", day + `, "dd"`, `"2021-01-08T00:00:00.0000000Z"`},
		{"DATETIMEBIN", day + `, "hh"`, `"2021-01-08T18:00:00.0000000Z"`},
		{"DATETIMEBIN", day + `, "ss"`, `"2021-01-08T18:35:00.0000000Z"`},
		{"DATETIMEBIN", day + `, "hh", 5`, `"2021-01-08T15:00:00.0000000Z"`},
		{"DATETIMEBIN", day + `, "dd", 7`, `"2021-01-07T00:00:00.0000000Z"`},
		{"DATETIMEBIN", day + `, "dd", 7, "1601-01-01T00:00:00.0000000"`, `"2021-01-04T00:00:00.0000000Z"`},
		{"DATETIMEDIFF", `"yyyy", ` + late + `, ` + early, "-1"},
		{"DATETIMEDIFF", `"mm", ` + late + `, ` + early, "-11"},
		{"DATETIMEDIFF", `"hh", ` + late + `, ` + early, "-8075"},
		{"DATETIMEDIFF", `"ss", ` + late + `, ` + early, "-29070000"},
		{"DATETIMEDIFF", `"yyyy", ` + early + `, ` + late, "1"},
		{"DATETIMEDIFF", `"mm", ` + early + `, ` + late, "11"},
		{"DATETIMEDIFF", `"hh", ` + early + `, ` + late, "8075"},
		{"DATETIMEDIFF", `"ss", ` + early + `, ` + late, "29070000"},
		{"DATETIMEFORMAT", `"2024-10-10 14:40:20", "yyyyMMdd"`, `"20241010"`},
		{"DATETIMEFORMAT", `"2024-10-10 14:40:20", "yyyy-MM-dd [HH:mm:ss]"`, `"2024-10-10 [14:40:20]"`},
		{"DATETIMEFORMAT", `"2024-10-10 14:40:20", "To\\da\\y i\\s: yyyy-MM-ddTHH:mm:ss.fff"`,
			`"Today is: 2024-10-10T14:40:20.000"`},
		{"DATETIMEFORMAT", `"2024-10-10 14:40:20", "To\\da\\y i\\s: yyyy-MM-ddTHH:mm:ss.FFF"`,
			`"Today is: 2024-10-10T14:40:20."`},
		{"DATETIMEFROMPARTS", `2017, 4, 20`, `"2017-04-20T00:00:00.0000000Z"`},
		{"DATETIMEFROMPARTS", `2017, 4, 20, 0, 0, 0, 0`, `"2017-04-20T00:00:00.0000000Z"`},
		{"DATETIMEFROMPARTS", `2017, 4, 20, 13, 15, 20, 3456789`, `"2017-04-20T13:15:20.3456789Z"`},
		{"DATETIMEFROMPARTS", `2017, 4, 20, 13, 15`, `"2017-04-20T13:15:00.0000000Z"`},
		{"DATETIMEFROMPARTS", `-2000, -1, -1`, "undefined"},
		{"DATETIMEPART", `"yyyy", ` + part, "2016"}, {"DATETIMEPART", `"mm", ` + part, "5"}, {"DATETIMEPART",
			`"dd", ` + part, "29"},
		{"DATETIMEPART", `"hh", ` + part, "8"}, {"DATETIMEPART", `"mi", ` + part, "30"}, {"DATETIMEPART",
			`"ss", ` + part, "0"},
		{"DATETIMEPART", `"ms", ` + part, "130"}, {"DATETIMEPART", `"mcs", ` + part, "130161"}, {"DATETIMEPART",
			`"ns", ` + part, "130161700"},
		{"DATETIMETOTICKS", `"2015-05-19T12:00:00.0000000"`, "14320368000000000"},
		{"DATETIMETOTIMESTAMP", `"2015-05-19T12:00:00.0000000"`, "1432036800000"},
		{"TICKSTODATETIME", "15973607943002652", `"2020-08-13T23:19:54.3002652Z"`},
		{"TICKSTODATETIME", "0", `"1970-01-01T00:00:00.0000000Z"`},
		{"TICKSTODATETIME", "-116444736000000000", `"1601-01-01T00:00:00.0000000Z"`},
		{"TIMESTAMPTODATETIME", "1597360794300", `"2020-08-13T23:19:54.3000000Z"`},
		{"TIMESTAMPTODATETIME", "0", `"1970-01-01T00:00:00.0000000Z"`},
		{"TIMESTAMPTODATETIME", "-11644473600000", `"1601-01-01T00:00:00.0000000Z"`},
	})
}

func TestDateTexts(t *testing.T) {
	for text, want := range map[string]string{
		`2020-07-03`:                   `2020-07-03T00:00:00.0000000Z`,
		`2020-07-03Z`:                  `2020-07-03T00:00:00.0000000Z`,
		`2020-07-03 01:02:03`:          `2020-07-03T01:02:03.0000000Z`,
		`2020-07-03T01:02:03.1Z`:       `2020-07-03T01:02:03.1000000Z`,
		`2020-07-03T01:02:03.0000001Z`: `2020-07-03T01:02:03.0000001Z`,
		`2000-02-29T23:59:59.9999999Z`: `2000-02-29T23:59:59.9999999Z`,
		`0001-01-01T00:00:00Z`:         `0001-01-01T00:00:00.0000000Z`,
		`9999-12-31T23:59:59.9999999Z`: `9999-12-31T23:59:59.9999999Z`,
	} {
		at, ok := parseTicks(text)
		if got := string(at.appendISO(nil)); !ok || got != want {
			t.Errorf("%s is %s, %v; want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{
		``, `2020`, `2020-07`, `2020-7-3`, `20200703`, `2020-07-03ZZ`, `2020-07-03T01:02`, `2020-07-03T01:02Z`,
		`2020-07-03T`, `2020-07-03T01`, `2020-07-03T01:02:`, `2020-07-03T01:02:03.`,
		`2020-07-03T01:02:03.Z`, `2020-07-03T01:02:03.00000001Z`, `2020-07-03T01:02:03+00:00`,
		`2020-07-03T01:02:03ZZ`, `2020-07-03T24:00:00`,
		`2020-07-03T00:60:00`, `2020-07-03T00:00:60`, `2020-02-30`, `2021-02-29`, `1900-02-29`, `2020-13-01`,
		`2020-00-01`, `2020-01-00`, `0000-01-01`,
		`2020-07-03t01:02:03z`, ` 2020-07-03`, `2020-07-03 `, `+020-07-03`, `2020-07-03T 1:02`, `２020-07-03`,
	} {
		if at, ok := parseTicks(text); ok {
			t.Errorf("%q is read as %s", text, at.appendISO(nil))
		}
	}
}

func TestDatesBeyondExamples(t *testing.T) {
	runCalls(t, []callCase{
		{"DATETIMEADD", `"month", 1, "2021-01-31T10:00:00Z"`, `"2021-02-28T10:00:00.0000000Z"`},
		{"DATETIMEADD", `"m", 13, "2019-01-31"`, `"2020-02-29T00:00:00.0000000Z"`},
		{"DATETIMEADD", `"year", 1, "2020-02-29"`, `"2021-02-28T00:00:00.0000000Z"`},
		{"DATETIMEADD", `"MS", -1, "1970-01-01"`, `"1969-12-31T23:59:59.9990000Z"`},
		{"DATETIMEADD", `"mcs", 1, "1970-01-01"`, `"1970-01-01T00:00:00.0000010Z"`},
		{"DATETIMEADD", `"ns", 250, "1970-01-01"`, `"1970-01-01T00:00:00.0000002Z"`},
		{"DATETIMEADD", `"ns", -1, "1970-01-01"`, `"1969-12-31T23:59:59.9999999Z"`},
		{"DATETIMEADD", `"yy", 8000, "2020-01-01"`, "undefined"}, {"DATETIMEADD", `"mm", -120000, "2020-01-01"`,
			"undefined"},
		{"DATETIMEADD", `"d", 9223372036854775807, "2020-01-01"`, "undefined"}, {"DATETIMEADD",
			`"yyyy", -9223372036854775808, "2020-01-01"`, "undefined"},
		{"DATETIMEADD", `"ns", 9223372036854775807, "2020-01-01"`, `"2312-04-11T23:47:16.8547758Z"`},
		{"DATETIMEADD", `"d", 1.5, "2020-01-01"`, "undefined"}, {"DATETIMEADD", `"d", "1", "2020-01-01"`, "undefined"},
		{"DATETIMEADD", `"week", 1, "2020-01-01"`, "undefined"}, {"DATETIMEADD", `"d", 1, "tomorrow"`, "undefined"},
		{"DATETIMEADD", `"d", 1, undefined`, "undefined"},
		{"DATETIMEADD", `"d", 1, 5`, "undefined"}, {"DATETIMEADD", `null, 1, "2020-01-01"`, "undefined"},

		{"DATETIMEBIN", `"1969-12-31T23:00:00Z", "day"`, `"1969-12-31T00:00:00.0000000Z"`},
		{"DATETIMEBIN", `"2020-01-01", "mm"`, "undefined"}, {"DATETIMEBIN", `"2020-01-01", "yyyy"`, "undefined"},
		{"DATETIMEBIN", `"2020-01-01", "d", 0`, "undefined"}, {"DATETIMEBIN", `"2020-01-01", "d", -1`, "undefined"},
		{"DATETIMEBIN", `"2020-01-01", "d", 1.5`, "undefined"},
		{"DATETIMEBIN", `"2020-01-01", "d", 1, "1600-12-31T23:59:59.9999999Z"`, "undefined"}, {"DATETIMEBIN",
			`"2020-01-01", "d", 1, "x"`, "undefined"},
		{"DATETIMEBIN", `"2020-01-01", "d", 9223372036854775807`, `"1970-01-01T00:00:00.0000000Z"`},
		{"DATETIMEBIN", `"1960-01-01", "d", 9223372036854775807`, "undefined"},
		{"DATETIMEBIN", `"1970-01-01T00:00:00.0000015Z", "ns", 1000`, `"1970-01-01T00:00:00.0000010Z"`},
		{"DATETIMEBIN", `"1970-01-01T00:00:00.0000015Z", "ns", 350`, `"1970-01-01T00:00:00.0000014Z"`},
		{"DATETIMEBIN", `"1969-12-31T23:59:59.9999995Z", "ns", 1000`, `"1969-12-31T23:59:59.9999990Z"`},
		{"DATETIMEBIN", `"2020-01-01T00:00:00.1234567Z", "ns"`, `"2020-01-01T00:00:00.1234567Z"`},
		{"DATETIMEBIN", `"1960-01-01", "ns", 9223372036854775807`, `"1677-09-21T00:12:43.1452241Z"`},

		{"DATETIMEDIFF", `"d", "2020-01-01T23:59:59Z", "2020-01-02T00:00:00Z"`, "1"},
		{"DATETIMEDIFF", `"yyyy", "2020-12-31T23:59:59Z", "2021-01-01"`, "1"},
		{"DATETIMEDIFF", `"hh", "1969-12-31T23:30:00Z", "1970-01-01T00:30:00Z"`, "1"},
		{"DATETIMEDIFF", `"s", "2020-01-01T00:00:00.9Z", "2020-01-01T00:00:01.1Z"`, "1"},
		{"DATETIMEDIFF", `"s", "2020-01-01T00:00:01.1Z", "2020-01-01T00:00:01.9Z"`, "0"},
		{"DATETIMEDIFF", `"ns", "2020-01-01", "2020-01-01T00:00:00.0000001Z"`, "100"},
		{"DATETIMEDIFF", `"mcs", "2020-01-01", "2020-01-01T00:00:00.0000019Z"`, "1"},
		{"DATETIMEDIFF", `"dw", "2020-01-01", "2020-01-02"`, "undefined"}, {"DATETIMEDIFF", `"d", "2020-01-01", null`,
			"undefined"},

		{"DATETIMEFORMAT", `"2024-02-03T04:05:06.0708009Z", "d M yy h:m:s tt,` +
			` dddd MMMM (ddd MMM) fffffff FFFFFFF f zz K"`,
			`"3 2 24 4:5:6 AM, Saturday February (Sat Feb) 0708009 0708009 0 +00 Z"`},
		{"DATETIMEFORMAT", `"2024-02-03T00:05:06Z", "hh H t '<hh>' \"dd\" %d \\"`, `"12 0 A <hh> dd 3 "`},
		{"DATETIMEFORMAT", `"2024-02-03T14:05:06Z", "hh é'unclosed"`, `"02 éunclosed"`},
		{"DATETIMEFORMAT", `"2024-02-03", ""`, `""`}, {"DATETIMEFORMAT", `"2024-02-03", 1`, "undefined"},
		{"DATETIMEFORMAT", `"x", "yyyy"`, "undefined"},

		{"DATETIMEFROMPARTS", `2020, 2, 30`, "undefined"}, {"DATETIMEFROMPARTS", `2020, 1, 1, 24`, "undefined"},
		{"DATETIMEFROMPARTS", `2020, 1, 1, 0, 0, 0, 10000000`, "undefined"},
		{"DATETIMEFROMPARTS", `2020, 1, 1, 0, 0, 0, -1`, "undefined"}, {"DATETIMEFROMPARTS", `10000, 1, 1`,
			"undefined"}, {"DATETIMEFROMPARTS", `2020, 1, 1.5`, "undefined"},
		{"DATETIMEFROMPARTS", `2020, 1, 1, undefined`, "undefined"}, {"DATETIMEFROMPARTS", `"2020", 1, 1`, "undefined"},

		{"DATETIMEPART", `"hour", "1969-12-31T23:30:00Z"`, "23"}, {"DATETIMEPART", `"n", "1969-12-31T23:30:00Z"`,
			"30"}, {"DATETIMEPART", `"weekday", "2020-01-01"`, "undefined"},
		{"YEAR", `"2021-03-04T05:06:07Z"`, "2021"}, {"MONTH", `"2021-03-04T05:06:07Z"`, "3"},
		{"DAY", `"2021-03-04T05:06:07Z"`, "4"}, {"DAY", `4`, "undefined"},
		{"DATETIMETOTICKS", `"1960-01-01T00:00:00.0000001Z"`, "-3156191999999999"}, {"DATETIMETOTICKS", `"x"`,
			"undefined"},
		{"DATETIMETOTIMESTAMP", `"1969-12-31T23:59:59.9999Z"`, "-1"}, {"DATETIMETOTIMESTAMP", `1`, "undefined"},
		{"TICKSTODATETIME", "2534023008000000000", "undefined"}, {"TICKSTODATETIME", "1e300", "undefined"},
		{"TICKSTODATETIME", "0.5", "undefined"}, {"TICKSTODATETIME", `"0"`, "undefined"},
		{"TIMESTAMPTODATETIME", "9223372036854775807", "undefined"}, {"TIMESTAMPTODATETIME", "253402300799999",
			`"9999-12-31T23:59:59.9990000Z"`}, {"TIMESTAMPTODATETIME", "0.5", "undefined"},
	})
}

func TestCurrentTime(t *testing.T) {
	now := time.Date(2023, 11, 14, 22, 13, 20, 123456789, time.UTC)
	for _, c := range []struct{ name, args, want string }{
		{"GETCURRENTDATETIME", "", `"2023-11-14T22:13:20.1234567Z"`}, {"GETCURRENTDATETIMESTATIC", "",
			`"2023-11-14T22:13:20.1234567Z"`},
		{"GETCURRENTTICKS", "", "17000000001234568"}, {"GETCURRENTTICKSSTATIC", "", "17000000001234568"},
		{"GETCURRENTTIMESTAMP", "", "1700000000123"}, {"GETCURRENTTIMESTAMPSTATIC", "", "1700000000123"},
		{"NOW", "", `"2023-11-14T22:13:20.1234567Z"`}, {"NOW", `"dd", 1`, `"2023-11-15T22:13:20.1234567Z"`},
		{"NOW", `"dd"`, "undefined"},
		{"AGO", `"hh", 3`, `"2023-11-14T19:13:20.1234567Z"`}, {"AGO", `"month", 9`, `"2023-02-14T22:13:20.1234567Z"`},
		{"AGO", `"hh", 0.5`, "undefined"},
		{"AGO", `"ns", -9223372036854775808`, "undefined"}, {"AGO", `"century", 1`, "undefined"},
	} {
		f, _ := Lookup(c.name)
		call := &Call{Now: now.In(time.FixedZone("", 3600))}
		var got string
		if c.args == "" {
			got = shown(call, f.Run(call, nil))
		} else {
			got = shown(call, f.Run(call, arguments(t, c.args)))
		}
		if got != c.want {
			t.Errorf("%s(%s) is %s, want %s", c.name, c.args, got, c.want)
		}
	}
}

// The functions of this family accept what IS_DATETIME considers valid.
func TestDatesAreDates(t *testing.T) {
	for _, text := range []string{"2024-12-12", "2024-12-12Z", "2024-12-12 20:21:25.123Z", "2024-12-12T20:21",
		"2024-12-12T20Z", "2024-12-12 20:21:25.", "2024-02-30"} {
		_, ok := parseTicks(text)
		if want := evaluate(t, "IS_DATETIME", `"`+text+`"`) == "true"; ok != want {
			t.Errorf("%q is read: %v; IS_DATETIME: %v", text, ok, want)
		}
	}
}

func FuzzTicks(f *testing.F) {
	f.Add("2020-07-03T01:02:03.4567Z", "yyyy-MM-dd'T'HH\\:mm", int64(1))
	f.Add("0001-01-01", "dddd\\", int64(-1))
	f.Add("9999-12-31T23:59:59.9999999", "%\"", int64(1)<<62)
	f.Fuzz(func(t *testing.T, text, format string, n int64) {
		at, ok := parseTicks(text)
		if !ok {
			return
		}
		again, ok := parseTicks(string(at.appendISO(nil)))
		if !ok || again != at {
			t.Fatalf("%q is %d, written and read again %d", text, at, again)
		}
		at.appendFormat(nil, format)
		for part := partYear; part <= partNanosecond; part++ {
			if sum, ok := at.add(part, n); ok && !sum.valid() {
				t.Errorf("%s and %d of %d is out of range", text, n, part)
			}
			if part >= partDay && n > 0 {
				if b := at.bin(part, n, 0); b > at {
					t.Errorf("%s is in a bin of %d that begins later: %s", text, n, fmt.Sprint(b))
				}
			}
		}
	})
}
