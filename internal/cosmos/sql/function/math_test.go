package function

import (
	"math"
	"strconv"
	"testing"
)

// runNumberCalls is runCalls for numbers as the reference prints them, with as few digits as possible; results of
// queries have 17. The last digit may differ by one.
func runNumberCalls(t *testing.T, cases []callCase) {
	t.Helper()
	for i, c := range cases {
		got, errGot := strconv.ParseFloat(evaluate(t, c.name, c.args), 64)
		want, errWant := strconv.ParseFloat(c.want, 64)
		if errGot == nil && errWant == nil && (got == want || got == math.Nextafter(want, got)) {
			cases[i].want = evaluate(t, c.name, c.args)
		}
	}
	runCalls(t, cases)
}

// The examples of the reference's pages, one by one.
func TestMathExamples(t *testing.T) {
	runNumberCalls(t, []callCase{
		{"ABS", "-1", "1"}, {"ABS", "0", "0"}, {"ABS", "1", "1"},
		{"ACOS", "-1", "3.141592653589793"},
		{"ASIN", "-1", "-1.5707963267948966"},
		{"ATAN", "-45.01", "-1.5485826962062663"},
		{"ATN2", "35.175643, 129.44", "0.265344532064832"},
		{"CEILING", "62.6", "63"}, {"CEILING", "-62.6", "-62"},
		{"COT", "124.1332", "-0.040311998371148884"},
		{"INTADD", "20, 10", "30"}, {"INTADD", "20, 0", "20"}, {"INTADD", "20, 0.10", "undefined"},
		{"INTBITLEFTSHIFT", "16, 4", "256"}, {"INTBITLEFTSHIFT", "16, 0.4", "undefined"},
		{"INTBITNOT", "65", "-66"}, {"INTBITNOT", "0", "-1"}, {"INTBITNOT", "0.1", "undefined"},
		{"INTBITRIGHTSHIFT", "16, 4", "1"}, {"INTBITRIGHTSHIFT", "16, 0.4", "undefined"},
		{"INTDIV", "10, 2", "5"}, {"INTDIV", "10, -2", "-5"}, {"INTDIV", "-10, -2", "5"}, {"INTDIV", "10, 10", "1"},
		{"INTDIV", "10, 0", "undefined"}, {"INTDIV", "10, 0.1", "undefined"},
		{"INTMOD", "12, 5", "2"}, {"INTMOD", "12, -5", "2"}, {"INTMOD", "-12, -5", "-2"}, {"INTMOD", "15, 5", "0"},
		{"INTMOD", "12, 0", "undefined"}, {"INTMOD", "12, 0.2", "undefined"},
		{"LOG", "5", "1.6094379124341003"}, {"LOG", "2, 10", "0.3010299956639812"},
		{"LOG10", "5", "0.6989700043360189"}, {"LOG10", "2", "0.3010299956639812"}, {"LOG10", "100", "2"},
		{"NUMBERBIN", "37.752, -100", "100"}, {"NUMBERBIN", "37.752, 10", "30"}, {"NUMBERBIN", "37.752, 1", "37"},
		{"NUMBERBIN", "37.752, 0", "undefined"}, {"NUMBERBIN", "37.752, 0.1", "37.7"}, {"NUMBERBIN", "37.752, 0.01",
			"37.75"},
		{"NUMBERBIN", "155.23478, 0.01", "155.23"},
		{"ROUND", "2.4", "2"}, {"ROUND", "2.6", "3"}, {"ROUND", "2.5", "3"}, {"ROUND", "-2.4", "-2"},
		{"ROUND", "-2.6", "-3"},
		{"ROUND", "-6.5", "-7"}, {"ROUND", "-0.5", "-1"}, {"ROUND", "0.5", "1"}, {"ROUND", "6.5", "7"},
		{"TAN", "1.5707963267948966", "16331239353195370"}, {"TAN", "124.1332", "-24.80651023035602"},
		{"TRUNC", "2.37", "2"}, {"TRUNC", "-2.78", "-2"}, {"TRUNC", "2", "2"}, {"TRUNC", "0.0000714", "0"},
		{"TRUNC", "3.141592653589793", "3"},
	})
}

func TestMathBeyondExamples(t *testing.T) {
	runNumberCalls(t, []callCase{
		{"ABS", `"1"`, "undefined"}, {"ABS", "null", "undefined"}, {"ABS", "undefined", "undefined"}, {"ABS", "true",
			"undefined"},
		{"ABS", "NaN", `"NaN"`}, {"ABS", "-Infinity", `"Infinity"`}, {"ABS", "-0.0", "0"},
		{"ACOS", "2", `"NaN"`}, {"ASIN", "-1.1", `"NaN"`}, {"ATAN", "0", "0"},
		{"ATN2", "0, -1", "3.141592653589793"}, {"ATN2", "1, undefined", "undefined"}, {"ATN2", `"1", 1`, "undefined"},
		{"CEILING", "-0.4", "0"}, {"FLOOR", "-0.4", "-1"}, {"FLOOR", "62.6", "62"}, {"FLOOR", "9007199254740993",
			"9007199254740992"},
		{"COS", "0", "1"}, {"SIN", "0", "0"}, {"COT", "0", `"Infinity"`},
		{"DEGREES", "1.5707963267948966", "90"}, {"RADIANS", "180", "3.141592653589793"}, {"RADIANS", "-45.01",
			"-0.7855726963226477"},
		{"EXP", "0", "1"}, {"EXP", "1", "2.718281828459045"}, {"EXP", "710", `"Infinity"`}, {"EXP", "-1e6", "0"},
		{"INTADD", "9223372036854775807, 1", "-9223372036854775808"}, {"INTADD", "9007199254740993, 2",
			"9007199254740995"},
		{"INTADD", "18446744073709551615, 1", "undefined"}, {"INTADD", "1e300, 1", "undefined"}, {"INTADD", "20.0, 1",
			"21"}, {"INTADD", `"1", 1`, "undefined"},
		{"INTSUB", "-9223372036854775808, 1", "9223372036854775807"}, {"INTMUL", "4611686018427387904, 2",
			"-9223372036854775808"},
		{"INTMUL", "3037000500, 3037000500", "-9223372036709301616"},
		{"INTDIV", "7, 2", "3"}, {"INTDIV", "-7, 2", "-3"}, {"INTDIV", "-9223372036854775808, -1",
			"-9223372036854775808"}, {"INTDIV", "null, 0", "undefined"},
		{"INTMOD", "-9223372036854775808, -1", "0"},
		{"INTBITAND", "6, 3", "2"}, {"INTBITOR", "6, 3", "7"}, {"INTBITXOR", "6, 3", "5"}, {"INTBITAND",
			"-1, 9223372036854775807", "9223372036854775807"},
		{"INTBITLEFTSHIFT", "1, 63", "-9223372036854775808"}, {"INTBITLEFTSHIFT", "1, 64", "1"}, {"INTBITLEFTSHIFT",
			"1, -1", "-9223372036854775808"},
		{"INTBITRIGHTSHIFT", "-16, 2", "-4"}, {"INTBITRIGHTSHIFT", "-1, 63", "-1"},
		{"LOG", "0", `"-Infinity"`}, {"LOG", "-1", `"NaN"`}, {"LOG", "1", "0"}, {"LOG", "8, 2", "3"}, {"LOG", "8, 1",
			`"Infinity"`},
		{"LOG", "8, 0", "0"}, {"LOG", "8, -2", `"NaN"`}, {"LOG", "8, undefined", "undefined"}, {"LOG", `"8", 2`,
			"undefined"},
		{"LOG10", "1000", "3"}, {"LOG10", "0.001", "-3"}, {"LOG10", "1e300", "300"}, {"LOG10", "0", `"-Infinity"`},
		{"LOG10", "-10", `"NaN"`},
		{"NUMBERBIN", "37.752", "37"}, {"NUMBERBIN", "-37.752, 10", "-40"}, {"NUMBERBIN", "1, undefined",
			"undefined"}, {"NUMBERBIN", "0, 0", "undefined"},
		{"POWER", "2, 10", "1024"}, {"POWER", "2, -1", "0.5"}, {"POWER", "0, -1", `"Infinity"`}, {"POWER", "-8, 0.5",
			`"NaN"`}, {"POWER", "10, 400", `"Infinity"`},
		{"ROUND", "2.675, 2", "2.68"}, {"ROUND", "1234.5678, 2", "1234.57"}, {"ROUND", "1234.5678, -2", "1200"},
		{"ROUND", "1250, -2", "1300"}, {"ROUND", "-1250, -2", "-1300"},
		{"ROUND", "1234.5, 0", "1235"}, {"ROUND", "0.1, 300", "0.1"}, {"ROUND", "1e300, 20", "1e+300"},
		{"ROUND", "5, -400", "0"}, {"ROUND", "5, 400", "5"},
		{"ROUND", "5, 0.5", "undefined"}, {"ROUND", "5, undefined", "undefined"}, {"ROUND", "5, -9223372036854775808",
			"0"}, {"ROUND", "1e308, -308", "1e+308"},
		{"SIGN", "-3.5", "-1"}, {"SIGN", "0", "0"}, {"SIGN", "7", "1"}, {"SIGN", "NaN", `"NaN"`},
		{"SQRT", "4", "2"}, {"SQRT", "-1", `"NaN"`}, {"SQUARE", "3", "9"}, {"SQUARE", "1e200", `"Infinity"`},
		{"TRUNC", "1e300", "1e+300"}, {"TRUNC", "[]", "undefined"},
	})
}

// Every function of one or two numbers, with numbers that are not finite.
func TestMathBeyondFinite(t *testing.T) {
	runCalls(t, []callCase{
		{"ACOS", "NaN", `"NaN"`}, {"ASIN", "Infinity", `"NaN"`}, {"ATAN", "Infinity", "1.5707963267948966"},
		{"ATAN", "NaN", `"NaN"`},
		{"ATN2", "Infinity, 1", "1.5707963267948966"}, {"ATN2", "1, NaN", `"NaN"`}, {"CEILING", "-Infinity",
			`"-Infinity"`}, {"FLOOR", "NaN", `"NaN"`},
		{"COS", "Infinity", `"NaN"`}, {"SIN", "-Infinity", `"NaN"`}, {"TAN", "Infinity", `"NaN"`}, {"COT", "NaN",
			`"NaN"`},
		{"DEGREES", "Infinity", `"Infinity"`}, {"DEGREES", "1e308", `"Infinity"`}, {"RADIANS", "-Infinity",
			`"-Infinity"`},
		{"EXP", "Infinity", `"Infinity"`}, {"EXP", "-Infinity", "0"}, {"LOG", "Infinity", `"Infinity"`},
		{"LOG", "0, 10", `"-Infinity"`}, {"LOG", "0, 2", `"-Infinity"`},
		{"LOG", "8, NaN", `"NaN"`}, {"LOG10", "Infinity", `"Infinity"`}, {"LOG10", "NaN", `"NaN"`},
		{"NUMBERBIN", "Infinity", `"Infinity"`}, {"NUMBERBIN", "Infinity, 0", "undefined"}, {"NUMBERBIN",
			"1, Infinity", `"NaN"`}, {"NUMBERBIN", "NaN, 2", `"NaN"`},
		{"POWER", "Infinity, 0", "1"}, {"POWER", "NaN, 1", `"NaN"`}, {"POWER", "Infinity, -1", "0"},
		{"ROUND", "Infinity", `"Infinity"`}, {"ROUND", "NaN, 2", `"NaN"`}, {"ROUND", "-Infinity, -400",
			`"-Infinity"`}, {"ROUND", "1, NaN", "undefined"},
		{"SIGN", "-Infinity", "-1"}, {"SQRT", "Infinity", `"Infinity"`}, {"SQUARE", "-Infinity", `"Infinity"`},
		{"TRUNC", "Infinity", `"Infinity"`},
		{"INTADD", "Infinity, 1", "undefined"}, {"INTDIV", "NaN, 1", "undefined"}, {"INTBITNOT", "NaN", "undefined"},
	})
}

func TestPiAndRandom(t *testing.T) {
	c := &Call{}
	for name, want := range map[string]string{"PI": "3.1415926535897931"} {
		f, _ := Lookup(name)
		if got := shown(c, f.Run(c, nil)); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	f, _ := Lookup("RAND")
	if !f.Volatile {
		t.Error("RAND is no constant")
	}
	first := shown(c, f.Run(c, nil))
	for range 10 {
		if next := shown(c, f.Run(c, nil)); next != first {
			return
		}
	}
	t.Errorf("RAND is always %s", first)
}
