package clock

import (
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	cases := []struct {
		text string
		want time.Duration
		err  string // what the error says
	}{
		{text: "90s", want: 90 * time.Second},
		{text: "1h30m", want: 90 * time.Minute},
		{text: "-5s", want: -5 * time.Second},
		{text: "90d", want: 90 * 24 * time.Hour},
		{text: "2w", want: 14 * 24 * time.Hour},
		{text: "1w1d12h30m", want: (8*24+12)*time.Hour + 30*time.Minute},
		{text: "1.5d", want: 36 * time.Hour},
		{text: "-0.5w", want: -84 * time.Hour},
		{text: "9999999h", err: "too long"},
		{text: "106752d", err: "too long"},
		{text: "-15251w", err: "too long"},
		{text: "99999999999999999999w", err: "too long"},
		{text: "1y", err: "write it like"},
		{text: "dw", err: "write it like"},
		{text: "1 d", err: "write it like"},
		{text: "2562047h48m", err: "too long"},
		{text: "99999999999999999999s", err: "too long"},
		{text: "soon", err: "write it like"},
		{text: "5", err: "write it like"},
		{text: "", err: "write it like"},
		{text: "h", err: "write it like"},
	}
	for _, c := range cases {
		got, err := ParseDuration(c.text)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %v, error %v, want %v, %q", c.text, got, err, c.want, c.err)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                               "0s",
		90 * 24 * time.Hour:             "90d",
		12*time.Hour + 30*time.Minute:   "12h30m",
		24*time.Hour + time.Second:      "1d1s",
		-90 * time.Second:               "-1m30s",
		1500 * time.Millisecond:         "1.5s",
		time.Minute + time.Millisecond:  "1m1ms",
		maxDuration:                     "106751d23h47m16.854775807s",
		-maxDuration - 1:                "-106751d23h47m16.854775808s",
		14*24*time.Hour + 5*time.Minute: "14d5m",
	} {
		got := FormatDuration(d)
		if got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
		if back, err := ParseDuration(got); err != nil || back != d {
			t.Errorf("%q is read as %v, error %v, want %v", got, back, err, d)
		}
	}
}

func TestParseTime(t *testing.T) {
	if got, err := ParseTime("2026-03-01T14:00:00+02:00"); err != nil || got.Unix() != 1772366400 {
		t.Errorf("%v, error %v", got, err)
	}
	if _, err := ParseTime("tomorrow"); err == nil || !strings.Contains(err.Error(), "tomorrow") {
		t.Errorf("error %v, want one that names the text", err)
	}
}

func TestInRange(t *testing.T) {
	cases := map[time.Time]bool{
		Earliest: true, Limit: true,
		Earliest.Add(-1): false, Limit.Add(1): false, {}: false,
	}
	for at, want := range cases {
		if err := InRange(at); (err == nil) != want {
			t.Errorf("%v: error %v, want in range %v", at, err, want)
		}
	}
}

func TestRealKnowsThatItStandsStill(t *testing.T) {
	floor := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	wall := floor.Add(-time.Hour)
	r := newReal(floor, func() time.Time { return wall })
	if got := r.Ahead(); got != time.Hour {
		t.Errorf("ahead by %v, want 1h", got)
	}
	wall = floor.Add(time.Hour)
	if r.Now(); r.Ahead() != 0 {
		t.Errorf("ahead by %v when it follows, want 0", r.Ahead())
	}
}
