// Package pressure runs a mayfly under loads that are legal and large, with an
// innocent client of each API beside them, and judges what it does: how much
// memory it takes, whom it keeps waiting, whom it refuses, and whether it loses
// or shows what it must not.
//
// It holds tests only, and knows mayfly by its protocols, its admin API and what
// the system tells about its process (/proc). TestSoak has all loads in turn;
// BenchmarkPressure has each of them alone, and prints a row of the table in
// docs/performance.md.
package pressure
