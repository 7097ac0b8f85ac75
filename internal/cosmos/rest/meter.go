package rest

import (
	"strconv"
	"time"
)

// A Meter counts what a Door does. Its methods are safe for concurrent use.
type Meter interface {
	// Operation gives the function that counts the requests of one operation; label names a status.
	// It may be called more than once for an operation.
	Operation(name string, label func(status int) string) (done func(status int, took time.Duration))
	// ExpiredByPolicy counts documents that ended because the lifetime of their container was changed.
	ExpiredByPolicy(documents uint64)
}

// unmetered counts nothing.
type unmetered struct{}

func (unmetered) Operation(string, func(int) string) func(int, time.Duration) {
	return func(int, time.Duration) {}
}
func (unmetered) ExpiredByPolicy(uint64) {}

// unknownOperation is that of requests that have no route.
const unknownOperation = "Unknown"

// accounts are the functions that count requests. Requests that have no route are in one of them.
type accounts struct {
	routes  map[*route]*[operationKinds]func(status int, took time.Duration)
	unknown func(status int, took time.Duration)
}

// openAccounts names operations as the service does, what is done and with what: ReadDocument.
func openAccounts(m Meter) accounts {
	a := accounts{routes: map[*route]*[operationKinds]func(int, time.Duration){}, unknown: m.Operation(unknownOperation, strconv.Itoa)}
	for i := range table {
		each := new([operationKinds]func(int, time.Duration))
		for o := range operationKinds {
			each[o] = m.Operation(operationNames[o]+table[i].resourceType(), strconv.Itoa)
		}
		a.routes[&table[i]] = each
	}
	return a
}

func (a *accounts) of(e *exchange) func(status int, took time.Duration) {
	if each := a.routes[e.route]; each != nil {
		return each[e.operation()]
	}
	return a.unknown
}
