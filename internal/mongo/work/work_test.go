package work_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// TestIndex compares with package strings, on texts that repeat themselves and tokens that are found late, or cross
// pieces.
func TestIndex(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(letters string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[random.IntN(len(letters))]
		}
		return string(b)
	}
	period := "x" + strings.Repeat("a", 15)
	repeated := strings.Repeat(period, 1<<13)
	pieces := strings.Repeat("b", 200_000)
	cases := [][2]string{
		{"", ""}, {"a", ""}, {"", "a"}, {"abc", "c"}, {repeated, ""}, {repeated, "xx"},
		{repeated + "y", period + "y"}, {repeated + "y", strings.Repeat(period, 100) + "y"}, {repeated, repeated + "x"},
		{repeated, repeated},
		{repeated, strings.Repeat("a", 15) + strings.Repeat(period, 9)},
		{repeated + repeated[5:], "a" + repeated[16:] + "aa"},
		{pieces + "c", "c"}, {pieces + "c", strings.Repeat("b", 63) + "c"}, {pieces[:1<<16-1] + "cc" + pieces, "cc"},
		{pieces + "c", strings.Repeat("b", 1000) + "c"},
	}
	for range 300 {
		s := text("ab", 5000+random.IntN(5000))
		at, n := random.IntN(len(s)-200), 65+random.IntN(100)
		cases = append(cases, [2]string{s, s[at : at+n]}, [2]string{s, text("ab", 70)},
			[2]string{strings.Repeat(text("ab", 1+random.IntN(6)), 2000),
				strings.Repeat(text("ab", 1+random.IntN(6)), 30)})
	}
	for _, c := range cases {
		for _, m := range []*work.Meter{nil, {}} {
			if got, err := m.Index(c[0], c[1]); err != nil || got != strings.Index(c[0], c[1]) {
				t.Fatalf("%.40q of %d bytes in %.40q of %d: %d %v, not %d", c[1], len(c[1]), c[0], len(c[0]), got, err,
					strings.Index(c[0], c[1]))
			}
		}
	}
}

// TestMeter asks once for each quantum, and no more once Stop has failed.
func TestMeter(t *testing.T) {
	stop := errors.New("stop")
	asked := 0
	m := work.Meter{Stop: func() error {
		if asked++; asked == 3 {
			return stop
		}
		return nil
	}}
	for n := range 10 * 1 << 16 {
		if err := m.Spend(1); (err != nil) != (n+1 >= 3*1<<16) {
			t.Fatalf("after %d units: %v", n+1, err)
		}
	}
	if asked != 3 || m.Err() != stop || m.Ask() != stop || m.Spend(0) != stop {
		t.Errorf("asked %d times, %v", asked, m.Err())
	}
	asked = 0
	few := work.Limited(10, func() error { asked++; return stop })
	if few.Spend(9) != nil || asked != 0 || few.Spend(1) != stop {
		t.Errorf("limited to 10 units: asked %d times", asked)
	}
}

// What scopes have kept that are gone is given back by mark; a refusal is not counted as kept.
func TestRelease(t *testing.T) {
	held, refused := int64(0), errors.New("refused")
	m := &work.Meter{Hold: func(n int64) error {
		if held+n > 100 {
			return refused
		}
		held += n
		return nil
	}}
	_ = m.Kept(30)
	mark := m.Mark()
	_ = m.Kept(50)
	if err := m.Kept(50); err != refused {
		t.Errorf("error %v", err)
	}
	m.Release(mark)
	m.Release(mark)
	if held != 30 {
		t.Errorf("%d are held, want 30", held)
	}
	(*work.Meter)(nil).Release((*work.Meter)(nil).Mark())
}
