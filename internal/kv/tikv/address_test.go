package tikv

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
)

func TestParseAddress(t *testing.T) {
	for _, c := range []struct {
		address   string
		endpoints []string
		prefix    string
	}{
		{"tikv://pd1:2379", []string{"pd1:2379"}, "mayfly"},
		{"tikv://pd1:2379,pd2:2380", []string{"pd1:2379", "pd2:2380"}, "mayfly"},
		{"tikv://pd1:2379/orders", []string{"pd1:2379"}, "orders"},
		{"tikv://[::1]:2379,10.0.0.1:1/A_b.c-9", []string{"[::1]:2379", "10.0.0.1:1"}, "A_b.c-9"},
	} {
		o, err := ParseAddress(c.address)
		if err != nil || !slices.Equal(o.Endpoints, c.endpoints) || o.Prefix != c.prefix {
			t.Errorf("%s: %q, %q, %v", c.address, o.Endpoints, o.Prefix, err)
		}
	}
	for _, c := range []struct{ address, says string }{
		{"", "does not begin with tikv://"},
		{"http://pd1:2379", "does not begin with tikv://"},
		{"tikv:pd1:2379", "does not begin with tikv://"},
		{"tikv://", "is not HOST:PORT"},
		{"tikv:///orders", "is not HOST:PORT"},
		{"tikv://pd1", "is not HOST:PORT"},
		{"tikv://:2379", "is not HOST:PORT"},
		{"tikv://pd1:2379,", "is not HOST:PORT"},
		{"tikv://pd1:0", `"0" is not a port`},
		{"tikv://pd1:65536", "is not a port"},
		{"tikv://pd1:http", "is not a port"},
		{"tikv://me:secret@pd1:2379", "show certificates instead"},
		{"tikv://pd1:2379/", "The prefix"},
		{"tikv://pd1:2379/a/b", "The prefix"},
		{"tikv://pd1:2379/a?b=c", "The prefix"},
		{"tikv://pd1:2379/ä", "The prefix"},
		{"tikv://pd1:2379/" + strings.Repeat("a", 65), "The prefix"},
	} {
		_, err := ParseAddress(c.address)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Message(err), c.says) {
			t.Errorf("%s: %v, want one that says %q", c.address, err, c.says)
		}
	}
}
