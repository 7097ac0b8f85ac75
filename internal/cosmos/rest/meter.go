package rest

import (
	"strconv"
	"time"
)

// A Meter counts the requests of an API. Its methods are safe for concurrent use.
type Meter interface {
	// Operation returns the function that counts the requests of one operation; label is the label of a status. It
	// may be called more than once for an operation.
	Operation(name string, label func(status int) string) (done func(status int, took time.Duration))
	// ExpiredByPolicy counts documents that expired because the TTL of their container was changed.
	ExpiredByPolicy(documents uint64)
}

// noMeter is a Meter that counts nothing.
type noMeter struct{}

func (noMeter) Operation(string, func(int) string) func(int, time.Duration) {
	return func(int, time.Duration) {}
}
func (noMeter) ExpiredByPolicy(uint64) {}

// unknownOperation is the operation of requests without a route.
const unknownOperation = "Unknown"

// requestCounters holds the functions that count requests. Requests without a route share one of them.
type requestCounters struct {
	routes  map[*route]*[operationKinds]func(status int, took time.Duration)
	unknown func(status int, took time.Duration)
}

// newRequestCounters names operations as the service does, by what is done and the type of resource: ReadDocument.
func newRequestCounters(m Meter) requestCounters {
	a := requestCounters{routes: map[*route]*[operationKinds]func(int, time.Duration){},
		unknown: m.Operation(unknownOperation, strconv.Itoa)}
	for i := range table {
		each := new([operationKinds]func(int, time.Duration))
		for o := range operationKinds {
			each[o] = m.Operation(operationNames[o]+table[i].resourceType(), strconv.Itoa)
		}
		a.routes[&table[i]] = each
	}
	return a
}

func (a *requestCounters) of(e *exchange) func(status int, took time.Duration) {
	if each := a.routes[e.route]; each != nil {
		return each[e.operation()]
	}
	return a.unknown
}
