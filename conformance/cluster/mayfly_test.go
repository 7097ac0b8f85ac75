package cluster

import (
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/cluster/balancer"
	"github.com/mayflydb/mayfly/conformance/cluster/load"
	"github.com/mayflydb/mayfly/conformance/cluster/stand"
)

// One process on its own disk is killed under load through both APIs and
// starts again: nothing acknowledged is lost, both feeds of changes go on
// without a gap or a double, nobody is shown after the end, nothing hangs.
func TestOneProcessSurvivesKills(t *testing.T) {
	m := stand.NewMayfly(t, "mayfly", "--data", t.TempDir())
	nosql, mongo := balance(t, m.NoSQL), balance(t, m.Mongo)
	ctx := within(t, time.Minute)
	rest, err := load.NoSQL(ctx, "NoSQL", "https://"+nosql, 1)
	if err != nil {
		t.Fatal(err)
	}
	// A process alone forgets retried writes when it dies (docs/decisions/0043): a second attempt would be a second
	// write.
	wire, err := load.MongoDB(ctx, "MongoDB", mongo, "directConnection=true&retryWrites=false")
	if err != nil {
		t.Fatal(err)
	}
	for _, api := range []load.API{rest, wire} {
		t.Run(api.Name(), func(t *testing.T) {
			l, err := load.Start([]load.API{api}, []load.API{api})
			if err != nil {
				t.Fatal(err)
			}
			await(t, l, 200, 1)
			for range 3 {
				m.Kill()
				m.Again(t)
				await(t, l, 200, 20)
			}
			seen := l.Stop(within(t, time.Minute))
			for _, w := range seen.Wrong {
				t.Error(w)
			}
			if t.Failed() {
				t.Logf("errors: %q", seen.Errors)
			}
			// With its own disk, mayfly shows writes a moment before they are safe, so a kill may take back what a
			// feed has shown and nobody was promised.
			t.Logf("%d acknowledged, %d requests failed, silence of %v; %d changes of which %d were lost; %d looks at %d "+
				"documents of which %d ended", seen.Acknowledged, seen.Failed, seen.Silence.Round(time.Millisecond),
				seen.Changes, seen.Lost, seen.Looks, seen.Mortal, seen.Gone)
		})
	}
}

// balance puts a balancer in front of backends until the test ends.
func balance(t *testing.T, backends ...string) string {
	t.Helper()
	b, err := balancer.New(backends...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.Address
}

// await returns when n more documents were acknowledged and some more came to
// their end, or when something is wrong.
func await(t *testing.T, l *load.Load, n, ended int) {
	t.Helper()
	end := time.Now().Add(2 * load.Deadline)
	n, ended = n+l.Acknowledged(), ended+l.Gone()
	for (l.Acknowledged() < n || l.Gone() < ended) && l.Wrong() == 0 {
		if time.Now().After(end) {
			t.Errorf("after %v: %d documents acknowledged of %d, %d ended of %d",
				2*load.Deadline, l.Acknowledged(), n, l.Gone(), ended)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
