package reaper

import (
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	for us := 1; us < 40_000; us = us*21/20 + 1 {
		took := time.Duration(us) * time.Microsecond
		i := bucket(took)
		if above := bound(i); us > 3 && took > above || above > 2*took {
			t.Errorf("%v is in a bucket that ends at %v", took, above)
		}
		if i > 0 && bucket(took-time.Microsecond) > i {
			t.Errorf("%v is in a higher bucket than %v", took-time.Microsecond, took)
		}
	}
	for _, took := range []time.Duration{-time.Second, 0, time.Nanosecond} {
		if i := bucket(took); i != bucket(time.Microsecond) {
			t.Errorf("%v is in bucket %d", took, i)
		}
	}
	if i := bucket(time.Hour); i != buckets-1 {
		t.Errorf("an hour is in bucket %d", i)
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		name       string
		fast, slow int
		above      time.Duration // the p99 is at least that
		below      time.Duration // and at most that
	}{
		{"no one", 0, 0, 0, 0},
		{"one in a thousand is slow", 999, 1, 0, 2 * time.Millisecond},
		{"one in a hundred is slow", 990, 10, 0, 2 * time.Millisecond},
		{"two in a hundred are slow", 980, 20, 50 * time.Millisecond, 100 * time.Millisecond},
		{"all are slow", 0, 3, 50 * time.Millisecond, 100 * time.Millisecond},
	} {
		var l latencies
		for range c.fast {
			l.observe(time.Millisecond)
		}
		for range c.slow {
			l.observe(50 * time.Millisecond)
		}
		requests, p99 := l.drain()
		if requests != uint32(c.fast+c.slow) || p99 < c.above || p99 > c.below {
			t.Errorf("%s: p99 of %d requests is %v", c.name, requests, p99)
		}
		if again, _ := l.drain(); again != 0 {
			t.Errorf("%s: %d requests are counted twice", c.name, again)
		}
	}
}

// TestBucketsHoldWhatTheyCount tries every latency of few microseconds and
// powers of two beyond.
func TestBucketsHoldWhatTheyCount(t *testing.T) {
	last := -1
	try := func(us int64) {
		took := time.Duration(us) * time.Microsecond
		i := bucket(took)
		if i < last {
			t.Errorf("%v is in bucket %d, below that of less", took, i)
		}
		if bound(i) < took || i > 0 && bound(i-1) > took {
			t.Errorf("%v is in bucket %d, from %v to %v", took, i, bound(i-1), bound(i))
		}
		last = i
	}
	for us := int64(1); us <= 1024; us++ {
		try(us)
	}
	for us := int64(1024); us < (100 * time.Second).Microseconds(); us *= 2 {
		try(us)
		try(us*5/4 - 1)
		try(us * 3 / 2)
		try(us*2 - 1)
	}
}
