package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

func TestCountsAndSizes(t *testing.T) {
	for n, want := range map[int64][2]string{
		0: {"0", "0 B"}, 999: {"999", "999 B"}, 1000: {"1,000", "1000 B"}, 1536: {"1,536", "1.5 KiB"},
		-1024: {"-1,024", "-1 KiB"}, -999: {"-999", "-999 B"}, 20 << 20: {"20,971,520", "20 MiB"},
		123<<20 + 1<<19: {"129,499,136", "124 MiB"}, 1<<20 - 1: {"1,048,575", "1.0 MiB"},
		math.MaxInt64: {"9,223,372,036,854,775,807", "8 EiB"},
	} {
		if got := [2]string{Count(n), Bytes(n)}; got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a ü 日本": "a ü 日本", "a\nb\tc": `a\nb\tc`, "\x1b[31mred": `\x1b[31mred`, "\u202eback": `\u202eback`,
		"\u009b1m": `\u009b1m`,
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTablesFit(t *testing.T) {
	columns := Columns("id", ">bytes", "body", "deadline")
	rows := func() [][]string {
		return [][]string{
			{"1", "12", strings.Repeat("long ", 30), "2026-03-01T12:00:00Z"},
			{"日本語", "3,456", "\x1b[2Jshort", "never"},
		}
	}
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, `
id      bytes  body` + strings.Repeat(" ", 148) + `deadline
1          12  ` + strings.Repeat("long ", 30) + "  2026-03-01T12:00:00Z"},
		{60, `
id      bytes  body                     deadline
1          12  long long long long lo…  2026-03-01T12:00:00Z
日本語  3,456  \x1b[2Jshort             never`},
		{40, `
id      bytes  body         deadline
1          12  long long …  2026-03-01T…`},
		{18, `
id      bytes  …
1          12  …
日本語  3,456  …`},
	} {
		var out bytes.Buffer
		table := Screen{&out, c.width}.Table(columns)
		if err := table.Write(rows()); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix("\n"+out.String(), c.want) {
			t.Errorf("width %d:\n%s\nwant%s", c.width, out.String(), c.want)
		}
		before := out.Len()
		if err := table.Write(rows()); err != nil || strings.Contains(out.String()[before:], "deadline") {
			t.Errorf("width %d: the names of the columns are repeated, error %v:\n%s", c.width, err, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); c.width > 0 && n > c.width {
				t.Errorf("width %d: a line of %d:\n%s", c.width, n, line)
			}
		}
	}
}

func TestTablesOfAnyWidthFit(t *testing.T) {
	for width := 1; width < 60; width++ {
		for columns := 1; columns < 8; columns++ {
			var out bytes.Buffer
			row := make([]string, columns)
			for i := range row {
				row[i] = strings.Repeat("x", 1+(i*7)%20)
			}
			if err := (Screen{&out, width}).Table(make([]Column, columns)).Write([][]string{row}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if n := len([]rune(line)) - 1; n > max(width, 2*leastColumn+gap+1) {
					t.Errorf("%d columns on a width of %d: a line of %d: %q", columns, width, n, line)
				}
			}
		}
	}
}

func TestBars(t *testing.T) {
	var out bytes.Buffer
	err := Screen{&out, 44}.Bars([]Bar{
		{"2026-03-01", 1000, []string{"1,000", "1.5 MiB"}}, {"2026-03-02", 0, []string{"0", "0 B"}},
		{"later", 1, []string{"1", "64 B"}}, {"never", 500, []string{"500"}},
	})
	want := `
2026-03-01  ████████████████  1,000  1.5 MiB
2026-03-02                        0      0 B
later       ▏                     1     64 B
never       ████████            500
`
	if got := "\n" + out.String(); err != nil || got != want {
		t.Errorf("error %v:%s\nwant%s", err, got, want)
	}
}

func TestProgressOnAStream(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out, "import", "items", 1_000_000)
	p.Set(100_000, 0) // done by an earlier run
	p.Set(150_000, 0)
	if got, want := p.at(10*time.Second), "import: 150,000 of 1,000,000 (15%) items, 5,000/s, 2m50s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.Set(1_000_000, 0)
	p.Close()
	if got := out.String(); !strings.HasPrefix(got, "import: 1,000,000 of 1,000,000 (100%) items, ") ||
		strings.Count(got, "\n") != 1 {
		t.Errorf("%q, want one line at the end", got)
	}
	unknown := NewProgress(&out, "backup", "bytes", 0)
	unknown.Set(0, 0)
	unknown.Set(3<<20, 0)
	if got, want := unknown.at(2*time.Second), "backup: 3 MiB, 1.5 MiB/s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestConfirm(t *testing.T) {
	var out bytes.Buffer
	if err := Confirm(strings.NewReader("yes\n"), &out, "Delete?"); !errors.Is(err, ErrNoTerminal) || out.Len() > 0 {
		t.Errorf("without a terminal: %v, %q", err, out.String())
	}
	for text, want := range map[string]error{
		"y\n": nil, "YES\n": nil, " yes ": nil, "\n": ErrDeclined, "": ErrDeclined, "n\n": ErrDeclined,
		"yesterday\n": ErrDeclined,
	} {
		if err := answer(strings.NewReader(text)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

func TestPageWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	err := New(&out, "").Page("false", func(s Screen) error {
		_, err := s.Out.Write([]byte("a page"))
		return err
	})
	if err != nil || out.String() != "a page" {
		t.Errorf("%q, error %v", out.String(), err)
	}
}

// An interrupt ends a question: nothing else ends a read of a terminal.
func TestInterruptedQuestion(t *testing.T) {
	in, _ := io.Pipe() // nobody answers
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	if err := await(ctx, in, &out); !errors.Is(err, ErrDeclined) || out.String() != "\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

// A narrow screen cuts no number, and leaves enough of the first column to tell the rows apart.
func TestNarrowTable(t *testing.T) {
	var out strings.Builder
	s := Screen{Out: &out, width: 40}
	table := s.Table(Columns("WOULD END", ">ITEMS", ">OF ALL", ">SIZE", "SUCH AS"))
	if err := table.Write([][]string{
		{"within an hour", "3,000,000", "100%", "285 KiB", "a, b, c"},
		{"within a day", "3,000,001", "100%", "285 KiB", "d, e, f"},
	}); err != nil {
		t.Fatal(err)
	}
	const want = "" +
		"WOULD END           ITEMS  OF ALL  …\n" +
		"within an hour  3,000,000    100%  …\n" +
		"within a day    3,000,001    100%  …\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}
