package function

import "testing"

func TestTypes(t *testing.T) {
	names := []string{"IS_ARRAY", "IS_BOOL", "IS_DEFINED", "IS_FINITE_NUMBER", "IS_INTEGER", "IS_NULL", "IS_NUMBER",
		"IS_OBJECT", "IS_PRIMITIVE", "IS_STRING"}
	for _, c := range []struct {
		arg  string
		true string // for each name, whether it is true
	}{
		{`undefined`, "----------"},
		{`null`, "--D--N--P-"},
		{`true`, "-BD-----P-"},
		{`1`, "--DFI-N-P-"},
		{`0.5`, "--DF--N-P-"},
		{`20.0`, "--DFI-N-P-"},
		{`-9223372036854775808`, "--DFI-N-P-"},
		{`9223372036854775807`, "--DFI-N-P-"},
		{`9223372036854775808`, "--DF--N-P-"},
		{`18446744073709551615`, "--DF--N-P-"},
		{`1e300`, "--DF--N-P-"},
		{`NaN`, "--D---N-P-"},
		{`Infinity`, "--D---N-P-"},
		{`""`, "--D-----PS"},
		{`"AdventureWorks"`, "--D-----PS"},
		{`[]`, "A-D-------"},
		{`[1]`, "A-D-------"},
		{`{}`, "--D----O--"},
		{`{"a":1}`, "--D----O--"},
	} {
		for i, name := range names {
			want := "true"
			if c.true[i] == '-' {
				want = "false"
			}
			if got := evaluate(t, name, c.arg); got != want {
				t.Errorf("%s(%s) = %s, want %s", name, c.arg, got, want)
			}
		}
	}
}

func TestIsDateTime(t *testing.T) {
	runCalls(t, []callCase{
		{"IS_DATETIME", `"2024-12-12"`, `true`},
		{"IS_DATETIME", `"2024-12-12Z"`, `true`},
		{"IS_DATETIME", `"2024-12-12 20:21:25"`, `true`},
		{"IS_DATETIME", `"2024-12-12T20:21:25Z"`, `true`},
		{"IS_DATETIME", `"2024-12-12T20:21:25.123"`, `true`},
		{"IS_DATETIME", `"2024-12-12 20:21:25.123Z"`, `true`},
		{"IS_DATETIME", `"2024-12-12T20Z"`, `false`},
		{"IS_DATETIME", `"2024-12-12 20:21:25."`, `false`},
		{"IS_DATETIME", `"2023-03-06T15:29:59.1234567Z"`, `true`},

		{"IS_DATETIME", `"2023-03-06T15:29:59.12345678Z"`, `false`},
		{"IS_DATETIME", `"2023-02-29"`, `false`},
		{"IS_DATETIME", `"2024-02-29"`, `true`},
		{"IS_DATETIME", `"2024-13-01"`, `false`},
		{"IS_DATETIME", `"2024-00-01"`, `false`},
		{"IS_DATETIME", `"2024-01-00"`, `false`},
		{"IS_DATETIME", `"2024-01-01T24:00:00"`, `false`},
		{"IS_DATETIME", `"2024-01-01T00:60:00"`, `false`},
		{"IS_DATETIME", `"2024-01-01T00:00:0"`, `false`},
		{"IS_DATETIME", `"2024-01-01x00:00:00"`, `false`},
		{"IS_DATETIME", `"2024/01/01"`, `false`},
		{"IS_DATETIME", `"２０２４-01"`, `false`},
		{"IS_DATETIME", `"2024-01-01ZZ"`, `false`},
		{"IS_DATETIME", `"2024-01-01T"`, `false`},
		{"IS_DATETIME", `"Z"`, `false`},
		{"IS_DATETIME", `""`, `false`},
		{"IS_DATETIME", `1700000000`, `false`},
		{"IS_DATETIME", `undefined`, `false`},
	})
}
