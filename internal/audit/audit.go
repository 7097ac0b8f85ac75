// Package audit says who changed what: a person or a program, through which API, and the change in words. The catalog
// writes an event in the batch of the change that it describes. An event never has a key, a password, or the content of
// a document.
package audit

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// Limits on the trail: the oldest events go first.
const (
	MaxEvents = 100_000
	MaxBytes  = 64 << 20
)

// Limits on one event in bytes.
const (
	maxText  = 1 << 10 // of a name
	maxEvent = 16 << 10
)

// The APIs in Who.API.
const (
	NoSQL   = "nosql"
	MongoDB = "mongodb"
	Admin   = "admin"
	Program = "program" // the program that mayfly is embedded in
	Own     = "mayfly"  // mayfly itself
)

// Who is who asks for a change.
type Who struct {
	API       string `json:"api"`
	Principal string `json:"principal,omitempty"` // name of an account key, or of a user; "" without credentials
	Address   string `json:"address,omitempty"`   // of the client, host:port
}

// Who makes a Who a Source.
func (w Who) Who() Who { return w }

// A Source knows who a request is from. It is asked only when the request changes something that is audited, so that
// other requests need not find out.
type Source interface{ Who() Who }

type sourceKey struct{}

// With returns a context for requests of a source.
func With(ctx context.Context, s Source) context.Context {
	return context.WithValue(ctx, sourceKey{}, s)
}

// From is the source of the request of a context; false if no client has asked for the work.
func From(ctx context.Context) (Source, bool) {
	s, ok := ctx.Value(sourceKey{}).(Source)
	return s, ok
}

// Same returns ctx for requests of the source of another context.
func Same(ctx, as context.Context) context.Context {
	if s, ok := From(as); ok {
		return With(ctx, s)
	}
	return ctx
}

// Of is who the request of a context is from. Work that no client has asked for is mayfly's own.
func Of(ctx context.Context) Who {
	if s, ok := From(ctx); ok {
		return s.Who()
	}
	return Who{API: Own}
}

// An Event is one change. Number, Time and Who are filled in when it is written.
type Event struct {
	Number uint64    `json:"number"` // 1 for the first event of the data, without gaps
	Time   time.Time `json:"time"`   // by the clock of the data; never falls as numbers rise
	Who

	Action  string   `json:"action"`            // create, replace, delete, rename, rotate, …
	Kind    string   `json:"kind"`              // of what has changed: container, index, user, clock, key, …
	Target  string   `json:"target,omitempty"`  // its name, below those of its owners: database/container/index
	Changes []Change `json:"changes,omitempty"` // what is different
}

// A Change is one setting. Before is left out for what is new, and After for what is gone.
type Change struct {
	Name   string `json:"name"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// Encode gives the stored form of an event, which is JSON. Long names are cut. If the event is too large even then, the
// values of its changes are left out.
func (e Event) Encode() []byte {
	e.Principal, e.Address, e.Target = cut(e.Principal), cut(e.Address), cut(e.Target)
	text := e.json()
	if len(text) <= maxEvent {
		return text
	}
	e.Changes = []Change{{Name: "settings", After: "too large to be shown"}}
	return e.json()
}

func (e *Event) json() []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // values are strings, numbers and valid JSON
	}
	return text
}

func cut(text string) string {
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + "…" // not a part of a character
	}
	return text
}

// Decode reads the form of Encode.
func Decode(text []byte) (e Event, err error) {
	err = json.Unmarshal(text, &e)
	return e, err
}
