package slow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/slow"
)

// The newest requests are kept, and listed with the newest first.
func TestTheNewestAreKept(t *testing.T) {
	l := slow.New(time.Second)
	if list := l.List(10); len(list) != 0 {
		t.Errorf("an empty log has %v", list)
	}
	for n := 1; n <= 3*slow.MaxRequests; n++ {
		l.Add(slow.Request{API: slow.NoSQL, Query: fmt.Sprint(n)}, time.Duration(n)*time.Millisecond)
		list := l.List(5)
		for i, r := range list {
			if r.Query != fmt.Sprint(n-i) || r.Milliseconds != float64(n-i) || r.Time.IsZero() {
				t.Fatalf("after %d, at %d: %+v", n, i, r)
			}
		}
		if len(list) != min(n, 5) || len(l.List(10*slow.MaxRequests)) != min(n, slow.MaxRequests) {
			t.Fatalf("after %d: %d of 5, %d in all", n, len(list), len(l.List(1000)))
		}
	}
}

func TestTextsAreCut(t *testing.T) {
	l := slow.New(0)
	long := strings.Repeat("é", 5000)
	l.Add(slow.Request{Database: long, Container: "x\xff", Query: "a" + long, Plan: long}, time.Second)
	r := l.List(1)[0]
	if len(r.Query) > 2048 || len(r.Query) < 2040 || !strings.HasSuffix(r.Query, "é…") || len(r.Plan) > 1024 ||
		len(r.Database) > 255 || r.Container != "x?" || !utf8.ValidString(r.Query+r.Plan+r.Database) {
		t.Errorf("%d, %d, %d bytes, container %q", len(r.Query), len(r.Plan), len(r.Database), r.Container)
	}
}

func TestThresholds(t *testing.T) {
	l := slow.New(0)
	if l.NoSQL.Slow(time.Hour) {
		t.Error("without a threshold a request is slow")
	}
	l.Set(time.Second)
	l.Mongo.Set(time.Minute)
	if !l.NoSQL.Slow(time.Second) || l.NoSQL.Slow(time.Second-1) || l.Mongo.Slow(time.Second) {
		t.Error("the thresholds are not one second and one minute")
	}
}
