package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/bench"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// A comparison is one operation with a number of clients, at one endpoint or two.
type comparison struct {
	Operation string         `json:"operation"`
	Clients   int            `json:"clients"`
	Endpoints []medianSample `json:"endpoints"`
	Ratio     *medianSample  `json:"ratio,omitempty"` // the second over the first
}

// A medianSample has the medians of turns. Latencies are in milliseconds, processor time is in microseconds for each
// call.
type medianSample struct {
	PerSecond float64 `json:"perSecond"`
	P50       float64 `json:"p50Ms"`
	P99       float64 `json:"p99Ms"`
	CPU       float64 `json:"cpuMicros,omitempty"`
	Failures  int64   `json:"failures,omitempty"`
	Error     string  `json:"error,omitempty"`
}

// operationNames is the list of operations to measure, nil for the mixed workload.
func (f *benchFlags) operationNames() ([]string, error) {
	known := bench.NoSQLOperations
	if f.mongo != "" {
		known = bench.MongoOperations
	}
	switch f.operations {
	case "":
		return nil, nil
	case "all":
		return known, nil
	}
	names := strings.Split(f.operations, ",")
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--operations: %q is not one of: all, %s", name, strings.Join(known, ", "))
		}
	}
	return names, nil
}

// compare measures operations one at a time, the endpoints in turns.
func (f *benchFlags) compare(ctx context.Context, c command, names []string, d time.Duration) (err error) {
	suffix, err := newSeed()
	if err != nil {
		return err
	}
	var subjects []*subject
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), setUpTime)
		defer cancel()
		for _, s := range slices.Backward(subjects) {
			err = errors.Join(err, s.close(last))
		}
	}()
	for i, endpoint := range f.endpoints() {
		s := &subject{name: withoutPassword(endpoint)}
		subjects = append(subjects, s)
		if err := f.prepare(ctx, s, i, fmt.Sprintf("bench-%x-%d", suffix, i)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	list := []comparison{}
	for _, name := range names {
		for _, clients := range f.clients {
			one, err := f.measure(ctx, subjects, name, clients, d)
			if err != nil {
				return err
			}
			list = append(list, one)
		}
	}
	return f.printComparisons(c, subjects, list)
}

// A subject is an endpoint that is compared.
type subject struct {
	name   string
	server *measuredServer // nil if it was not started here
	known  *bench.Process  // nil if its process is not known
	suite  *bench.Suite
}

// prepare starts the server of the i-th endpoint if there is a command for it, and writes documents to it.
func (f *benchFlags) prepare(ctx context.Context, s *subject, i int, container string) error {
	endpoint := f.endpoints()[i]
	pid, run := []int{f.pid, f.againstPID}[i], []string{f.run, f.againstRun}[i]
	if run != "" {
		var err error
		if s.server, err = startServer(ctx, run, endpoint); err != nil {
			return err
		}
		pid = s.server.command.Process.Pid
	}
	if pid != 0 {
		s.known = &bench.Process{ID: pid}
	}
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	var err error
	if f.mongo != "" {
		s.suite, err = bench.OpenMongoSuite(ctx, endpoint, f.db, container, f.documents)
		return err
	}
	authority, err := f.authority()
	if err != nil {
		return err
	}
	s.suite, err = bench.OpenNoSQLSuite(ctx, endpoint, f.key, authority, f.db, container, f.documents)
	return err
}

func (s *subject) close(ctx context.Context) error {
	var err error
	if s.suite != nil {
		err = s.suite.Close(ctx)
	}
	if s.server != nil {
		err = errors.Join(err, s.server.stop(ctx))
	}
	return err
}

// measure measures one operation with a number of clients. An endpoint that fails has an error, and the others do not.
func (f *benchFlags) measure(ctx context.Context, subjects []*subject, name string, clients int, d time.Duration) (
	comparison, error) {
	one := comparison{Operation: name, Clients: clients, Endpoints: make([]medianSample, len(subjects))}
	samples := make([][]bench.Sample, len(subjects))
	for i, s := range subjects {
		if err := s.suite.Operation(name).Check(ctx); err != nil {
			one.Endpoints[i].Error = err.Error()
		}
	}
	for range f.turns {
		for i, s := range subjects {
			if one.Endpoints[i].Error != "" {
				continue
			}
			sample, err := bench.Measure(ctx, s.suite.Operation(name), clients, d/time.Duration(f.turns), s.known)
			if err != nil {
				one.Endpoints[i].Error = err.Error()
				continue
			}
			samples[i] = append(samples[i], sample)
		}
		if err := ctx.Err(); err != nil {
			return one, err
		}
	}
	for i, turns := range samples {
		if one.Endpoints[i].Error == "" {
			one.Endpoints[i] = medians(turns)
		}
	}
	if len(subjects) == 2 && one.Endpoints[0].Error == "" && one.Endpoints[1].Error == "" {
		one.Ratio = ratios(samples[0], samples[1])
	}
	return one, nil
}

func medians(turns []bench.Sample) medianSample {
	of := func(number func(bench.Sample) float64) float64 {
		var list []float64
		for _, turn := range turns {
			list = append(list, number(turn))
		}
		return median(list)
	}
	m := medianSample{
		PerSecond: of(func(s bench.Sample) float64 { return s.PerSecond }),
		P50:       of(func(s bench.Sample) float64 { return s.P50 }),
		P99:       of(func(s bench.Sample) float64 { return s.P99 }),
		CPU:       of(func(s bench.Sample) float64 { return s.CPU }),
	}
	for _, turn := range turns {
		m.Failures += turn.Failures
	}
	return m
}

// ratios are the medians of what the second endpoint measured in a turn, over what the first measured just before.
func ratios(first, second []bench.Sample) *medianSample {
	over := func(a, b float64) float64 {
		if a <= 0 {
			return 0
		}
		return b / a
	}
	var turns []bench.Sample
	for i, a := range first {
		b := second[i]
		turns = append(turns, bench.Sample{PerSecond: over(a.PerSecond, b.PerSecond), P50: over(a.P50, b.P50),
			P99: over(a.P99, b.P99), CPU: over(a.CPU, b.CPU)})
	}
	m := medians(turns)
	return &m
}

// median is the middle of a list that is not empty, or the mean of the two in the middle.
func median(list []float64) float64 {
	slices.Sort(list)
	middle := len(list) / 2
	if len(list)%2 == 0 {
		return (list[middle-1] + list[middle]) / 2
	}
	return list[middle]
}

func (f *benchFlags) printComparisons(c command, subjects []*subject, list []comparison) error {
	if f.json {
		var names []string
		for _, s := range subjects {
			names = append(names, s.name)
		}
		return printJSON(c.out, map[string]any{"endpoints": names, "operations": list})
	}
	columns, _ := c.getenv("COLUMNS")
	screen := terminal.New(c.out, columns)
	for i, s := range subjects {
		fmt.Fprintf(c.out, "%s: %s\n", ordinals[i], terminal.Plain(s.name))
	}
	names := []string{"OPERATION", ">CLIENTS", "ENDPOINT", ">PER SECOND", ">P50 MS", ">P99 MS", ">CPU µS", ">FAILURES"}
	var rows [][]string
	for _, one := range list {
		for i, m := range one.Endpoints {
			rows = append(rows, m.row(one, ordinals[i], strconv.FormatInt(m.Failures, 10)))
		}
		if one.Ratio != nil {
			rows = append(rows, one.Ratio.row(one, "ratio", ""))
		}
	}
	if err := screen.Table(terminal.Columns(names...)).Write(rows); err != nil {
		return err
	}
	for _, one := range list {
		for i, m := range one.Endpoints {
			if m.Error != "" {
				fmt.Fprintf(c.out, "%s failed: %s\n", ordinals[i], terminal.Plain(m.Error))
			}
		}
	}
	return nil
}

// ordinals name the endpoints of a comparison.
var ordinals = []string{"first", "second"}

func (m medianSample) row(one comparison, endpoint, failures string) []string {
	number := func(f float64) string {
		if f == 0 {
			return ""
		}
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	row := []string{one.Operation, strconv.Itoa(one.Clients), endpoint}
	if m.Error != "" {
		return append(row, "failed", "", "", "", "")
	}
	return append(row, number(m.PerSecond), number(m.P50), number(m.P99), number(m.CPU), failures)
}
