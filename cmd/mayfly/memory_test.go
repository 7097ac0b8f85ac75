package main

import (
	"errors"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestMachineMemory(t *testing.T) {
	const gib = 1 << 30
	known := memlimit.Limit
	unknown := func() (uint64, error) { return 0, errors.New("unknown") }
	for _, c := range []struct {
		name               string
		container, machine memlimit.Provider
		want               int64
	}{
		{"a machine", unknown, known(8 * gib), 4 * gib},
		{"a container on a large machine", known(5 * gib), known(64 * gib), 4 * gib},
		{"a container that may take all of the machine", known(8 * gib), known(8 * gib), 4 * gib},
		{"a container without a known machine", known(5 * gib), unknown, 4 * gib},
		{"a container that says that it has no limit", known(1<<63 - 4096), known(8 * gib), 4 * gib},
		{"a tiny container", known(64 << 20), known(8 * gib), leastMemory},
		{"nothing is known", unknown, unknown, 0},
	} {
		if got := machineMemory(c.container, c.machine); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestDivide(t *testing.T) {
	for _, inMemory := range []bool{false, true} {
		for _, limit := range []int64{leastMemory, 1 << 30, 1 << 40} {
			p := divide(limit, inMemory)
			if p.engine <= 0 || p.node <= 0 || p.heap <= 0 || p.engine+p.node >= limit || p.heap >= limit {
				t.Errorf("%d bytes, in memory %v: %+v", limit, inMemory, p)
			}
		}
	}
	if p := divide(0, false); p != (memoryPlan{}) {
		t.Errorf("no limit: %+v", p)
	}
}

func TestGarbagePercent(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name          string
		alive, engine int64
		want          int
	}{
		{"at the start", 4 * mib, 4 * mib, 100},
		{"caches outside of the heap", 40 * mib, 160 * mib, 80},
		{"caches in the heap", 192 * mib, 160 * mib, 16},
		{"large requests in addition", 1160 * mib, 160 * mib, 86},
		{"large caches", 4000 * mib, 4000 * mib, 10},
		{"nothing is known", 0, 0, 100},
	} {
		if got := garbagePercent(c.alive, c.engine); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
