// Package kvtest is the suite that every storage engine passes: what package kv
// promises, as tests. It knows no engine. An engine's own test package calls
// Run with a function that opens an empty engine, and Crash if the engine can
// live on a file system that loses what was not synced.
package kvtest

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Run tests the engines that open gives. Each is empty and is closed by the suite.
func Run(t *testing.T, open func(t *testing.T) kv.Engine) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, e kv.Engine)
	}{
		{"get", get},
		{"get pins and passes errors on", getErrors},
		{"empty value is not absence", emptyValue},
		{"keys are any bytes", anyBytes},
		{"engine copies what it keeps", copies},
		{"iterate forward", forward},
		{"iterate backward", backward},
		{"iterate bounds", bounds},
		{"iterate turns round", turns},
		{"seek", seek},
		{"iterator sees one state", iteratorStable},
		{"iterator close twice", closeTwice},
		{"snapshot sees one state", snapshotStable},
		{"several keys at once", getAll},
		{"random operations against a map", random},
		{"later changes win", laterWins},
		{"delete range", deleteRange},
		{"batches are seen whole", whole},
		{"empty batch", emptyBatch},
		{"conflict", conflict},
		{"no conflict", noConflict},
		{"view", viewSees},
		{"view is the state at its moment or a conflict", viewConflict},
		{"view of an engine that keeps time", viewTime},
		{"time of a batch", batchTime},
		{"time of a batch that has waited", batchTimeWaits},
		{"bound of the commit's moment", before},
		{"order lowers the bound", orderLowersBefore},
		{"conflict writes nothing", conflictWritesNothing},
		{"conflict with either side of a commit", conflictRace},
		{"no lost update", lostUpdate},
		{"no write skew", writeSkew},
		{"order", order},
		{"order of one counter twice", orderTwice},
		{"order survives other writes of its counter", orderOverwritten},
		{"order counts for readers of the counter", orderConflict},
		{"order under concurrency", orderConcurrent},
		{"order of two counters under concurrency", orderPair},
		{"order error", orderError},
		{"order again after conflict", orderAgain},
		{"limits", limits},
		{"context", ended},
		{"context ends in apply", endedInApply},
		{"no sync", noSync},
		{"space", space},
		{"compact", compact},
		{"load", load},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t)
			defer func() {
				if err := e.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			c.test(t, e)
		})
	}
	t.Run("closed", func(t *testing.T) { closed(t, open(t)) })
	t.Run("close waits for calls", func(t *testing.T) { closeWaits(t, open(t)) })
	t.Run("close with an open iterator", func(t *testing.T) { closeEarly(t, open(t)) })
}

// times is n, or a quarter of it where tests are to be short: the race detector makes each run many times as long.
func times(n int) int {
	if testing.Short() {
		return max(1, n/4)
	}
	return n
}

// set writes pairs of key and value in one batch.
func set(t *testing.T, e kv.Engine, pairs ...string) {
	t.Helper()
	var b kv.Batch
	for i := 0; i < len(pairs); i += 2 {
		b.Set([]byte(pairs[i]), []byte(pairs[i+1]))
	}
	apply(t, e, &b)
}

func remove(t *testing.T, e kv.Engine, keys ...string) {
	t.Helper()
	var b kv.Batch
	for _, key := range keys {
		b.Delete([]byte(key))
	}
	apply(t, e, &b)
}

func apply(t *testing.T, e kv.Engine, b *kv.Batch) {
	t.Helper()
	if err := e.Apply(context.Background(), b); err != nil {
		t.Fatalf("apply: %v", err)
	}
}

func snapshot(t *testing.T, e kv.Engine) kv.Snapshot {
	t.Helper()
	s, err := e.Snapshot(context.Background())
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	return s
}

func view(t *testing.T, e kv.Engine) kv.View {
	t.Helper()
	v, err := e.View(context.Background())
	if err != nil {
		t.Fatalf("view: %v", err)
	}
	return v
}

// applySince applies a batch that rests on a view, and that has no reason to conflict. It begins again with another
// view if the engine reports a conflict where there is none, which it may do now and then but not always.
func applySince(t *testing.T, e kv.Engine, make func(v kv.View) *kv.Batch) {
	t.Helper()
	const tries = 20
	var err error
	for range tries {
		if err = e.Apply(context.Background(), make(view(t, e))); fault.KindOf(err) != fault.Conflict {
			break
		}
	}
	if err != nil {
		t.Fatalf("apply: %v", err)
	}
}

// longestKey is the limit of an engine for keys, in bytes.
func longestKey(e kv.Engine) int {
	if l, ok := e.(kv.KeyLimiter); ok {
		return l.MaxKeyBytes()
	}
	return kv.MaxKeyBytes
}

// absent stands for a missing key; no test stores it.
const absent = "(absent)"

// read gives the value of key, or absent.
func read(r kv.Reader, key string) (string, error) {
	value := absent
	found, err := r.Get(context.Background(), []byte(key), func(v []byte) error {
		value = string(v)
		return nil
	})
	if err == nil && found != (value != absent) {
		err = errors.New("found does not agree with the call of use")
	}
	return value, err
}

func want(t *testing.T, r kv.Reader, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		got, err := read(r, pairs[i])
		if err != nil {
			t.Fatalf("get %q: %v", pairs[i], err)
		}
		if got != pairs[i+1] {
			t.Errorf("get %q = %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind {
		t.Errorf("error is %v, want a fault of kind %v", err, kind)
	}
}

// number reads a counter; absent and empty are zero.
func number(value []byte) uint64 {
	if len(value) == 0 {
		return 0
	}
	return binary.BigEndian.Uint64(value)
}

func bytesOf(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// count reads the counter at key.
func count(r kv.Reader, key string) (n uint64, err error) {
	_, err = r.Get(context.Background(), []byte(key), func(v []byte) error {
		n = number(v)
		return nil
	})
	return n, err
}
