package keys

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

// schemes are the ways a container can hash its partition key.
var schemes = []struct {
	name    string
	version PartitionVersion
	multi   bool
	n       int
}{
	{"version 1", HashV1, false, 1},
	{"version 2", HashV2, false, 1},
	{"two levels", HashV2, true, 2},
	{"three levels", HashV2, true, 3},
}

func TestPartitionRoundTrip(t *testing.T) {
	values := []doc.Value{undefined, null, no, yes, doc.Int(0), doc.Int(-7), doc.Double(0.5), str(""), str("a\x00b"),
		str(strings.Repeat("é", 1000))}
	for _, s := range schemes {
		for i := range values {
			in := make([]doc.Value, s.n)
			for j := range in {
				in[j] = values[(i+j)%len(values)]
			}
			b := AppendPartition(nil, s.version, s.multi, in)
			out, epk, rest, err := decodePartition(append(b, "id"...), s.version, s.multi, s.n)
			if err != nil || string(rest) != "id" || len(out) != s.n {
				t.Fatalf("%s: %v: %v, rest %q, error %v", s.name, in, out, rest, err)
			}
			for j := range out {
				if !out[j].Equal(in[j]) {
					t.Errorf("%s: %v became %v", s.name, in[j], out[j])
				}
			}
			if want := EffectivePartitionKey(nil, s.version, s.multi, in); !bytes.Equal(epk, want) {
				t.Errorf("%s: %v: effective partition key %x, want %x", s.name, in, epk, want)
			}
			for cut := range b {
				if _, _, _, err := decodePartition(b[:cut], s.version, s.multi, s.n); !errors.Is(err, ErrCorrupt) {
					t.Errorf("%s: %x cut to %d bytes: %v", s.name, b, cut, err)
				}
			}
		}
	}
}

func TestPartitionNumbersAreDoubles(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b doc.Value
		same bool
	}{
		{"1 and 1.0", doc.Int(1), doc.Double(1), true},
		{"0 and -0.0", doc.Int(0), doc.Double(math.Copysign(0, -1)), true},
		{"2^53 and 2^53 + 1", doc.Int(1 << 53), doc.Int(1<<53 + 1), true},
		{"2^53 and 2^53 + 2", doc.Int(1 << 53), doc.Int(1<<53 + 2), false},
		{"2^63 as unsigned and double", unsigned(1 << 63), doc.Double(1 << 63), true},
		{"1 and true", doc.Int(1), yes, false},
		{"null and undefined", null, undefined, false},
		{"1 and \"1\"", doc.Int(1), str("1"), false},
	} {
		for _, s := range schemes[:2] {
			a := AppendPartition(nil, s.version, s.multi, []doc.Value{c.a})
			b := AppendPartition(nil, s.version, s.multi, []doc.Value{c.b})
			if same := bytes.Equal(a, b); same != c.same {
				t.Errorf("%s, %s: one partition %t", c.name, s.name, same)
			}
		}
	}
}

// The strings differ only after the part that version 1 looks at.
func TestCollidingHashesAreTwoPartitions(t *testing.T) {
	head := strings.Repeat("a", v1StringUnits)
	a, b := []doc.Value{str(head + "x")}, []doc.Value{str(head + "y")}
	if !bytes.Equal(EffectivePartitionKey(nil, HashV1, false, a), EffectivePartitionKey(nil, HashV1, false, b)) {
		t.Fatal("the hashes do not collide")
	}
	if bytes.Equal(AppendPartition(nil, HashV1, false, a), AppendPartition(nil, HashV1, false, b)) {
		t.Error("one partition")
	}
}

func TestHierarchicalPrefix(t *testing.T) {
	values := []doc.Value{str("tenant"), doc.Int(7), null}
	whole := AppendPartition(nil, HashV2, true, values)
	for n := range values {
		if prefix := AppendPartition(nil, HashV2, true, values[:n]); !bytes.HasPrefix(whole, prefix) {
			t.Errorf("%d components: %x is no prefix of %x", n, prefix, whole)
		}
	}
}

func TestPartitionable(t *testing.T) {
	for _, v := range []doc.Value{undefined, null, no, yes, doc.Int(1), doc.Double(1), unsigned(1 << 63), str("")} {
		if !Partitionable(v) {
			t.Errorf("%v is refused", v)
		}
	}
	for _, v := range []doc.Value{array(), object()} {
		if Partitionable(v) {
			t.Errorf("%v is accepted", v)
		}
	}
}

func FuzzPartition(f *testing.F) {
	f.Add(uint8(0), uint8(10), uint64(0), 0.0, "a", uint8(10), uint64(0), 0.0, "b")
	f.Add(uint8(1), uint8(5), uint64(1<<53), 0.0, "", uint8(5), uint64(1<<53+1), 0.0, "")
	f.Add(uint8(2), uint8(10), uint64(0), 0.0, "a\x00", uint8(7), uint64(0), math.NaN(), "")
	f.Add(uint8(3), uint8(1), uint64(0), 0.0, "", uint8(0), uint64(0), 0.0, "")
	f.Add(uint8(0), uint8(10), uint64(0), 0.0, strings.Repeat("é", 60), uint8(10), uint64(0), 0.0,
		strings.Repeat("é", 61))
	f.Fuzz(func(t *testing.T, scheme, k1 uint8, n1 uint64, f1 float64, s1 string, k2 uint8, n2 uint64, f2 float64,
		s2 string) {
		s := schemes[scheme%4]
		a, b := made(k1, n1, f1, s1), made(k2, n2, f2, s2)
		if !Partitionable(a) || !Partitionable(b) {
			return
		}
		x, y := make([]doc.Value, s.n), make([]doc.Value, s.n)
		for i := range s.n {
			x[i], y[i] = a, b
		}
		p, q := AppendPartition(nil, s.version, s.multi, x), AppendPartition(nil, s.version, s.multi, y)
		values, e, rest, err := decodePartition(append(p, 1, 2, 3), s.version, s.multi, s.n)
		if err != nil || len(rest) != 3 || !bytes.Equal(AppendPartition(nil, s.version, s.multi, values), p) {
			t.Fatalf("%v became %v, rest %x, error %v", x, values, rest, err)
		}
		if same := samePartition(a, b); same != bytes.Equal(p, q) {
			t.Errorf("%v, %v: equal %t, one partition %t", a, b, same, !same)
		} else if !same && (bytes.HasPrefix(p, q) || bytes.HasPrefix(q, p)) {
			t.Errorf("%v, %v: one is a prefix of the other", a, b)
		}
		g, _, _ := PartitionEPK(nil, q, s.version, s.multi, s.n)
		if c := bytes.Compare(e, g); c != 0 && c != bytes.Compare(p, q) {
			t.Errorf("%v, %v: effective partition keys are in order %d, partitions are not", a, b, c)
		}
	})
}

func samePartition(a, b doc.Value) bool {
	if rank(a) == rankNumber && rank(b) == rankNumber {
		f, _, _ := number(a)
		g, _, _ := number(b)
		return f == g || f != f && g != g
	}
	return compare(a, b) == 0
}
