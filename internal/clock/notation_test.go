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
		{text: "9999999h", err: "too long"},
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
