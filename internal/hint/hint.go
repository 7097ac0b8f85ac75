// Package hint knows the mistakes that people make with lifetimes: what a document, or the
// definition of a container, says that is allowed and probably not meant. Its rules are pure functions. A
// Teller passes a hint on to the log, once per container and kind within an hour, and to a counter. A
// hint never changes what becomes of a document.
package hint

import (
	"fmt"
	"iter"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// A Kind is one mistake.
type Kind uint8

// The kinds of mistakes.
const (
	None                Kind = iota
	Off                      // a ttl does nothing, because the container has no default
	Dormant                  // a ttl is no valid life span
	Milliseconds             // a ttl looks like milliseconds
	Long                     // a ttl is longer than 31 years
	Name                     // a number stands under a name like ttl
	DefaultMilliseconds      // a container's default looks like milliseconds
	DefaultLong              // it is longer than 31 years
	DefaultName              // the definition has a member with a name like defaultTtl
	kinds
)

var labels = [kinds]string{"none", "off", "dormant", "milliseconds", "long", "name", "default_milliseconds", "default_long", "default_name"}

// String is a short name, such as a metric's label wants.
func (k Kind) String() string { return labels[k] }

// Kinds yields every kind but None.
func Kinds() iter.Seq[Kind] {
	return func(yield func(Kind) bool) {
		for k := None + 1; k < kinds; k++ {
			if !yield(k) {
				return
			}
		}
	}
}

// messages are for the log, where many documents are meant.
var messages = [kinds]string{
	Off:                 "a ttl does nothing: its container has no default lifetime, set it to -1 to let documents expire by their own ttl alone",
	Dormant:             "a ttl is not a valid life span and does nothing: a ttl is -1, or a whole number of seconds from 1 to 2147483647",
	Milliseconds:        "a ttl looks like milliseconds: it counts seconds",
	Long:                "a ttl is more than 31 years: it counts seconds since the last write, not milliseconds, and is no point in time",
	Name:                "a document has a number under a name that is like ttl and means nothing: the name is ttl",
	DefaultMilliseconds: "a default lifetime looks like milliseconds: it counts seconds",
	DefaultLong:         "a default lifetime is more than 31 years: it counts seconds since the last write, not milliseconds, and is no point in time",
	DefaultName:         "the definition of a container has a member that is like defaultTtl and means nothing: the name is defaultTtl",
}

// A Hint is one mistake, and words for the client who made it: one line, in ASCII.
// The zero Hint is none.
type Hint struct {
	Kind Kind
	Text string
}

// longTTL is the life above which a ttl looks like an instant, or like milliseconds: more than 31 years.
const longTTL expiry.TTL = 1_000_000_000

// tooLong reports whether a life span looks like an instant. The longest one there is means what it says.
func tooLong(ttl expiry.TTL) bool { return ttl > longTTL && ttl != expiry.MaxTTL }

// Half an hour and an hour in milliseconds.
const (
	halfHour expiry.TTL = 1_800_000
	hour                = 2 * halfHour
)

// InMilliseconds reports whether a life span looks as if it was written in milliseconds: whole half
// hours, from one hour up. Taken as seconds they are 41 days and more, and no whole number
// of days below 125, no month of 30 days below 25 of them, and no year: what people mean in seconds is not among them.
func InMilliseconds(ttl expiry.TTL) bool { return ttl >= hour && ttl%halfHour == 0 }

const (
	offText = "This item's ttl does nothing, because the container has no defaultTtl. " +
		"Set defaultTtl to -1 to let items expire by their own ttl alone."
	dormantText = "This item's ttl is not a valid life span and never takes effect. " +
		"A ttl is -1, or a whole number of seconds from 1 to 2147483647."
	longText = "This item's ttl is more than 31 years. It counts seconds since the last write, " +
		"not milliseconds, and is no point in time."
	defaultLongText = "This defaultTtl is more than 31 years. It counts seconds since the last write, " +
		"not milliseconds, and is no point in time."
)

// Written looks at a document that was written, with a ttl of its own, Unset if it has no valid one, to a
// container with that policy. A document without a hint costs no allocation.
func Written(p *expiry.Policy, own expiry.TTL, body doc.Doc) Hint {
	if own == expiry.Unset {
		return unsaid(body)
	}
	return Stored(p, own, body)
}

// Stored looks at a document that is read. It says what Written does, except of names that are like ttl.
func Stored(p *expiry.Policy, own expiry.TTL, body doc.Doc) Hint {
	switch {
	case own == expiry.Unset:
		if !doc.IsUndefined(doc.Lookup(body, "ttl")) { // it was written while lifetime was off
			return Hint{Dormant, dormantText}
		}
	case !p.On():
		return Hint{Off, offText}
	case InMilliseconds(own):
		return Hint{Milliseconds, milliseconds("This item's ttl", own)}
	case tooLong(own):
		return Hint{Long, longText}
	}
	return Hint{}
}

// unsaid looks at a document without a ttl that counts.
func unsaid(body doc.Doc) (h Hint) {
	for name, v := range doc.Members(body) {
		if name == "ttl" {
			return Hint{Dormant, dormantText}
		}
		if h.Kind == None && like(name, itemNames) {
			if _, ok := doc.AsFloat(v); ok {
				h = Hint{Name, strings.Clone(name)}
			}
		}
	}
	if h.Kind == Name {
		h.Text = "This item's " + h.Text + " is an ordinary property and does not set its lifetime. The name for that is ttl, in small letters, at the root of the item."
	}
	return h
}

// Definition looks at the definition of a container as a client sent it, with the lifetime that was read from it.
func Definition(ttl expiry.TTL, body doc.Doc) Hint {
	switch {
	case InMilliseconds(ttl):
		return Hint{DefaultMilliseconds, milliseconds("This defaultTtl", ttl)}
	case tooLong(ttl):
		return Hint{DefaultLong, defaultLongText}
	case ttl != expiry.Unset:
		return Hint{}
	}
	for name := range doc.Members(body) {
		if name != "defaultTtl" && like(name, containerNames) {
			return Hint{DefaultName, "This definition's " + name + " is ignored, so that no item expires. The name of the container's lifetime is defaultTtl."}
		}
	}
	return Hint{}
}

func milliseconds(what string, ttl expiry.TTL) string {
	return fmt.Sprintf("%s of %d looks like milliseconds. It counts seconds, so that this is %d days; in seconds it would be %d.", what, ttl, ttl/86_400, ttl/1000)
}

// Names that are taken for ttl, and for defaultTtl: without underscores and dashes, in small letters. Names of
// dates, such as expiresAt, are not among them: applications have them for purposes of their own.
var (
	itemNames      = []string{"ttl", "timetolive", "ttlseconds", "ttlinseconds", "expireafter", "expireafterseconds", "defaultttl"}
	containerNames = []string{"ttl", "timetolive", "ttlseconds", "ttlinseconds", "expireafter", "expireafterseconds", "defaultttl",
		"defaulttimetolive", "defaultttlseconds", "defaultttlinseconds"}
)

// Lengths of names to look at, with a few underscores or dashes.
const minName, maxName = 3, 24

// like reports whether a name is one of list when underscores, dashes and case do not count.
func like(name string, list []string) bool {
	if len(name) < minName || len(name) > maxName {
		return false
	}
	switch name[0] {
	case 't', 'T', 'e', 'E', 'd', 'D', '_', '-':
	default:
		return false
	}
	var plain [maxName]byte
	n := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_' || c == '-':
			continue
		case 'A' <= c && c <= 'Z':
			plain[n] = c + 'a' - 'A'
		case 'a' <= c && c <= 'z':
			plain[n] = c
		default:
			return false
		}
		n++
	}
	for _, known := range list {
		if string(plain[:n]) == known {
			return true
		}
	}
	return false
}
