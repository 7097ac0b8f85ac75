package doc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// steppedValues are values of several kilobytes, many of which differ only inside.
func steppedValues() (all []Value) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 12 {
		b := make([]byte, 4)
		for i := range 1000 {
			b = AppendElement(b, fmt.Sprint(i), Int32(int32(i+random.IntN(400)/399)))
		}
		array := Array(finish(b))
		object := finish(AppendElement(AppendElement(make([]byte, 4), "a", array), "b",
			String(strings.Repeat("x", 5000)+fmt.Sprint(random.IntN(2)))))
		all = append(all, array, Object(object), Array(object), String(strings.Repeat("y", 6000+random.IntN(2))),
			Int(int64(random.IntN(3))))
		deep := array
		for i := range 60 {
			deep = Object(finish(AppendElement(make([]byte, 4), fmt.Sprint("n", i), deep)))
		}
		all = append(all, deep)
	}
	return all
}

func finish(b []byte) []byte {
	b = append(b, 0)
	b[0], b[1], b[2], b[3] = byte(len(b)), byte(len(b)>>8), byte(len(b)>>16), byte(len(b)>>24)
	return b
}

func TestCompareStepsIsCompareBSON(t *testing.T) {
	all := steppedValues()
	for i, a := range all {
		for j, b := range all {
			walked := 0
			order, err := CompareSteps(a, b, func(n int) error { walked += n; return nil })
			if want := CompareBSON(a, b); err != nil || order != want {
				t.Fatalf("values %d and %d: %d %v, not %d", i, j, order, err, want)
			}
			if walked > 2*(len(a.Data)+len(b.Data)) {
				t.Errorf("values %d and %d: walked %d bytes", i, j, walked)
			}
		}
	}
	stop, calls := errors.New("stop"), 0
	_, err := CompareSteps(all[5], Object(append([]byte(nil), all[len(all)-1].Data...)), func(int) error {
		calls++
		return stop
	})
	if err != stop || calls != 1 {
		t.Errorf("stopped by %v after %d calls", err, calls)
	}
}

func TestLookupWalked(t *testing.T) {
	b := make([]byte, 4)
	for i := range 100 {
		b = AppendElement(b, fmt.Sprint("name", i), Int32(int32(i)))
	}
	d := Doc(finish(b))
	for name, least := range map[string]int{"name0": 0, "name50": 500, "name99": 1000, "none": len(d) - 5} {
		v, walked := LookupWalked(d, name)
		if want := Lookup(d, name); v.Type != want.Type || string(v.Data) != string(want.Data) {
			t.Errorf("%s: %v, not %v", name, v, want)
		}
		if walked < least || walked > len(d) {
			t.Errorf("%s: walked %d of %d bytes", name, walked, len(d))
		}
	}
}

// TestLookupInDamaged looks for members in documents with random bytes changed or cut off.
func TestLookupInDamaged(t *testing.T) {
	whole := mustDoc(t, `{"id":"item-1","a":1,"b":true,"seven77":null,"eight888":2.5,"a long name":"x","o":{"a":1},`+
		`"l":[1],"z":7}`)
	names := []string{"id", "a", "b", "seven77", "eight888", "a long name", "o", "l", "z", "", "none"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		d := slices.Clone(whole)
		for range rng.IntN(3) {
			d[4+rng.IntN(len(d)-4)] = byte(rng.Uint32() >> rng.IntN(9))
		}
		if cut := rng.IntN(len(d)); rng.IntN(3) == 0 {
			d = d[:cut]
		}
		if len(d) >= 4 {
			binary.LittleEndian.PutUint32(d, uint32(len(d)))
		}
		for _, name := range names {
			want, _ := LookupWalked(d, name)
			if v := Lookup(d, name); v.Type != want.Type || string(v.Data) != string(want.Data) {
				t.Fatalf("%q in %x: %v, want %v", name, d, v, want)
			}
		}
	}
}
