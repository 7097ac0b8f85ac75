package cluster

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/cluster/stand"
	tikverr "github.com/tikv/client-go/v2/error"
)

// What is committed is read, in order, in both directions, also after both
// parts were killed.
func TestCommittedSurvives(t *testing.T) {
	c := stand.NewCluster(t)
	client := connect(t, c)
	ctx := within(t, time.Minute)
	want := map[string]string{}
	for _, w := range ways {
		txn, err := w.begin(ctx, client)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			key, value := fmt.Sprintf("%s %02d", w.name, i), fmt.Sprintf("%s's %d", w.name, i)
			if err := txn.Set([]byte(key), []byte(value)); err != nil {
				t.Fatal(err)
			}
			want[key] = value
		}
		if err := txn.Commit(ctx); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
	}
	for _, when := range []string{"before", "after"} {
		if when == "after" {
			c.Store.Kill()
			c.Placement.Kill()
			c.Placement.Again(t)
			c.Store.Again(t)
		}
		txn, err := client.Begin()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		last := ""
		it, err := txn.Iter([]byte("a"), []byte("z"))
		for ; err == nil && it.Valid(); err = it.Next() {
			if string(it.Key()) <= last {
				t.Fatalf("%q after %q", it.Key(), last)
			}
			last = string(it.Key())
			got[last] = string(it.Value())
		}
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s the kill: got %v, want %v", when, got, want)
		}
		back, err := txn.IterReverse([]byte("z"), []byte("a"))
		n := 0
		for ; err == nil && back.Valid(); err = back.Next() {
			n++
		}
		if err != nil || n != len(want) {
			t.Fatalf("%s the kill, backwards: %d keys, %v, want %d", when, n, err, len(want))
		}
	}
	txn, err := client.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := txn.Get(ctx, []byte("none")); !errors.Is(err, tikverr.ErrNotExist) {
		t.Errorf("a key that was never written: %v", err)
	}
}
