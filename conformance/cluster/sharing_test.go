package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/cluster/load"
	"github.com/mayflydb/mayfly/conformance/cluster/stand"
)

// rounds is how often each part is killed, and which times it stays away.
var rounds = flag.Int("rounds", 1, "kills of each part in TestProcessesSurviveKills; parts stay away from the second on")

// away is how long a part stays away in a round.
func away(round int) time.Duration {
	return []time.Duration{0, 3 * time.Second, 8 * time.Second}[round%3]
}

// sharing are mayfly processes that share a cluster, behind balancers.
type sharing struct {
	cluster      *stand.Cluster
	processes    []*stand.Mayfly
	nosql, mongo string // balancers
}

func startSharing(t *testing.T, n int, flags ...string) *sharing {
	t.Helper()
	s := &sharing{cluster: stand.NewCluster(t)}
	s.processes = stand.NewMayflies(t, s.cluster, n, flags...)
	var nosql, mongo []string
	for _, m := range s.processes {
		nosql, mongo = append(nosql, m.NoSQL), append(mongo, m.Mongo)
	}
	s.nosql, s.mongo = balance(t, nosql...), balance(t, mongo...)
	return s
}

// overNoSQL are the ways to a container of some ranges: by the balancer, and
// to each process.
func (s *sharing) overNoSQL(ctx context.Context, t *testing.T, ranges int) []load.API {
	t.Helper()
	var ways []load.API
	add := func(name, address string) {
		api, err := load.NoSQL(ctx, fmt.Sprintf("NoSQL-%d-%s", ranges, name), "http://"+address, ranges)
		if err != nil {
			t.Fatal(err)
		}
		ways = append(ways, api)
	}
	add("balanced", s.nosql)
	for i, m := range s.processes {
		add(fmt.Sprint(i), m.NoSQL)
	}
	return ways
}

// overMongoDB are the ways to the collection: by the balancer, by all addresses
// of which the driver chooses, and to each process. As processes that share
// their data have no change streams, its changes come from the API for NoSQL.
func (s *sharing) overMongoDB(ctx context.Context, t *testing.T) []load.API {
	t.Helper()
	var ways []load.API
	add := func(name, addresses, nosql, how string) {
		api, err := load.MongoDB(ctx, "MongoDB-"+name, addresses, how)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := load.Collection(ctx, "changes-"+name, "http://"+nosql)
		if err != nil {
			t.Fatal(err)
		}
		ways = append(ways, load.Following(api, changes))
	}
	add("balanced", s.mongo, s.nosql, "loadBalanced=true")
	seeds := ""
	for i, m := range s.processes {
		if i > 0 {
			seeds += ","
		}
		seeds += m.Mongo
		add(fmt.Sprint(i), m.Mongo, m.NoSQL, "directConnection=true")
	}
	add("seeds", seeds, s.nosql, "")
	return ways
}

// loads are several containers' loads at once.
type loads map[string]*load.Load

func (all loads) wrong() bool {
	for _, l := range all {
		if l.Wrong() > 0 {
			return true
		}
	}
	return false
}

// await returns when each load has n more documents acknowledged and some more ended.
func (all loads) await(t *testing.T, n, ended int) {
	t.Helper()
	for name, l := range all {
		await(t, l, n, ended)
		if t.Failed() {
			t.Logf("waiting for %s", name)
			return
		}
	}
}

// silence is the longest silence of each load since it was asked before.
func (all loads) silence() map[string]time.Duration {
	longest := map[string]time.Duration{}
	for name, l := range all {
		longest[name] = l.Silence().Round(time.Millisecond)
	}
	return longest
}

// stop ends the loads and says what is wrong.
func (all loads) stop(ctx context.Context, t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	reports := map[string]load.Report{}
	var mu sync.Mutex
	var stopping sync.WaitGroup
	for name, l := range all {
		stopping.Go(func() {
			seen := l.Stop(ctx)
			mu.Lock()
			defer mu.Unlock()
			reports[name] = seen
		})
	}
	stopping.Wait()
	for name, seen := range reports {
		for _, w := range seen.Wrong {
			t.Errorf("%s: %s", name, w)
		}
		if seen.Lost > 0 { // what a feed shows is safe, because the engine has no other state
			t.Errorf("%s: %d changes were shown and taken back", name, seen.Lost)
		}
		if t.Failed() {
			t.Logf("%s: errors: %q", name, seen.Errors)
		}
		t.Logf("%s: %d acknowledged, %d additions, %d requests failed, silence of %v; %d changes; %d looks at %d "+
			"documents of which %d ended", name, seen.Acknowledged, seen.Counted, seen.Failed,
			seen.Silence.Round(time.Millisecond), seen.Changes, seen.Looks, seen.Mortal, seen.Gone)
	}
}

// Several processes share a cluster and write through both APIs, by a balancer
// and directly, into containers of one range and of several, while each part is
// killed in turn. Nothing acknowledged is lost, no feed has a gap or gives
// something twice, no additions are done twice, no process shows an expired
// document, every request ends, and /readyz says what is so.
func TestProcessesSurviveKills(t *testing.T) {
	s := startSharing(t, 2)
	ctx := within(t, time.Minute)
	all := loads{}
	for name, ways := range map[string][]load.API{
		"one range": s.overNoSQL(ctx, t, 1), "four ranges": s.overNoSQL(ctx, t, 4), "MongoDB": s.overMongoDB(ctx, t),
	} {
		l, err := load.Start(ways, ways)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = l
	}
	all.await(t, 30, 1)
	steps := []struct {
		name string
		do   func(away time.Duration)
	}{
		{"a mayfly", func(away time.Duration) { kill(t, away, s.processes[0].Process) }},
		{"the store", func(away time.Duration) { kill(t, away, s.cluster.Store) }},
		{"PD", func(away time.Duration) { kill(t, away, s.cluster.Placement) }},
		{"a mayfly, politely", func(away time.Duration) {
			if err := s.processes[1].Stop(); err != nil {
				t.Error(err)
			}
			time.Sleep(away)
			s.processes[1].Again(t)
		}},
		{"the store and a mayfly", func(away time.Duration) { kill(t, away, s.cluster.Store, s.processes[1].Process) }},
	}
	for round := range *rounds {
		for _, step := range steps {
			all.silence()
			step.do(away(round))
			all.await(t, 30, 1)
			s.awaitReady(t)
			t.Logf("killed: %s, away for %v: longest silences %v", step.name, away(round), all.silence())
			if all.wrong() || t.Failed() {
				break
			}
		}
	}
	all.stop(t.Context(), t)
}

// kill ends processes, and starts them again after a while.
func kill(t *testing.T, away time.Duration, processes ...*stand.Process) {
	t.Helper()
	for _, p := range processes {
		p.Kill()
	}
	time.Sleep(away)
	for _, p := range processes {
		p.Again(t)
	}
}

// awaitReady returns when every process says that it is ready.
func (s *sharing) awaitReady(t *testing.T) {
	t.Helper()
	for _, m := range s.processes {
		var err error
		for end := time.Now().Add(load.Deadline); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if err = m.Readyz(t.Context()); err == nil {
				break
			}
		}
		if err != nil {
			t.Errorf("%s is not ready %v after everything is there again: %v", m.Name, load.Deadline, err)
		}
	}
}

// /readyz of every process says within seconds that the store, or PD, is away,
// and that it is back.
func TestReadyz(t *testing.T) {
	t.Parallel() // it mostly waits
	s := startSharing(t, 2)
	for _, p := range []*stand.Process{s.cluster.Store, s.cluster.Placement} {
		p.Kill()
		for _, m := range s.processes {
			var err error
			for end := time.Now().Add(load.Deadline); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				if err = m.Readyz(t.Context()); err != nil {
					break
				}
			}
			if status := (stand.NotReady{}); !errors.As(err, &status) {
				t.Errorf("%s while the %s is away: got %v, want 503", m.Name, p.Name, err)
			}
		}
		p.Again(t)
		s.awaitReady(t)
	}
}
