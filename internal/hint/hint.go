// Package hint finds probable mistakes with lifetimes: a ttl in milliseconds, a default lifetime under a wrong name,
// and others that are allowed but hardly ever meant. Its rules are pure functions. A Teller writes a hint to the log,
// once per container and kind within an hour, and counts it. A hint never changes what happens to a document.
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
	Off                      // a ttl has no effect, because the container has no default
	Dormant                  // a ttl is not a valid lifetime
	Milliseconds             // a ttl looks like milliseconds
	Long                     // a ttl is longer than 31 years
	Name                     // a number has a name that resembles ttl
	DefaultMilliseconds      // a container's default looks like milliseconds
	DefaultLong              // a container's default is longer than 31 years
	DefaultName              // the definition has a member whose name resembles defaultTtl
	kinds
)

var labels = [kinds]string{"none", "off", "dormant", "milliseconds", "long", "name",
	"default_milliseconds", "default_long", "default_name"}

// String is a short name in the form of a metric's label.
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

// messages are for the log. One line stands for many documents.
var messages = [kinds]string{
	Off: "a ttl does nothing, because its container has no default lifetime: " +
		"set that to -1 to let documents expire by their own ttl only",
	Dormant: "a ttl is not valid and has no effect: a ttl is -1, or a whole number of seconds from 1 to 2147483647",

	Milliseconds: "a ttl looks like milliseconds: it counts seconds",
	Long: "a ttl is more than 31 years: it counts seconds since the last write, not milliseconds, " +
		"and is not a point in time",
	Name: "a document has a number whose name resembles ttl and which has no effect: the name must be ttl",

	DefaultMilliseconds: "a default lifetime looks like milliseconds: it counts seconds",
	DefaultLong: "a default lifetime is more than 31 years: it counts seconds since the last write, " +
		"not milliseconds, and is not a point in time",
	DefaultName: "the definition of a container has a member whose name resembles defaultTtl and which has " +
		"no effect: the name must be defaultTtl",
}

// A Hint is one mistake, and a sentence for the client who made it: one line, in ASCII, since it travels in a header.
// The zero Hint means that there is no mistake.
type Hint struct {
	Kind Kind
	Text string
}

// longTTL is the ttl above which a ttl looks like a Unix time, or like milliseconds: more than 31 years.
const longTTL expiry.TTL = 1_000_000_000

// tooLong reports whether a ttl looks like a Unix time. The largest possible ttl is taken to be meant.
func tooLong(ttl expiry.TTL) bool { return ttl > longTTL && ttl != expiry.MaxTTL }

// Half an hour and an hour in milliseconds.
const (
	halfHour expiry.TTL = 1_800_000
	hour                = 2 * halfHour
)

// InMilliseconds reports whether a ttl looks as if it were in milliseconds: a multiple of half an hour, from one hour
// up. In seconds, these are 41 days or more, and people do not choose them: no such number is a whole number of days
// below 125, of 30-day months below 25, or of years.
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

// Written checks a document that was written to a container with policy p. own is the document's ttl, Unset if it has
// no valid one. A document without a hint costs no allocation.
func Written(p *expiry.Policy, own expiry.TTL, body doc.Doc) Hint {
	if own == expiry.Unset {
		return withoutTTL(body)
	}
	return Stored(p, own, body)
}

// Stored checks a document that is read: like Written, but it ignores names that resemble ttl.
func Stored(p *expiry.Policy, own expiry.TTL, body doc.Doc) Hint {
	switch {
	case own == expiry.Unset:
		if !doc.IsUndefined(doc.Lookup(body, "ttl")) { // written while the container had no default
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

// withoutTTL checks a document that has no valid ttl.
func withoutTTL(body doc.Doc) (h Hint) {
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
		h.Text = "This item's " + h.Text + " is an ordinary property and does not set its lifetime. " +
			"The name for that is ttl, in small letters, at the root of the item."
	}
	return h
}

// Definition checks the definition of a container as a client sent it, and the default lifetime that was read from it.
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
			return Hint{DefaultName, "This definition's " + name + " is ignored, so that no item expires. " +
				"The name of the container's lifetime is defaultTtl."}
		}
	}
	return Hint{}
}

func milliseconds(what string, ttl expiry.TTL) string {
	return fmt.Sprintf("%s of %d looks like milliseconds. It counts seconds, so that this is %d days; "+
		"in seconds it would be %d.", what, ttl, ttl/86_400, ttl/1000)
}

// Names that are probably meant to be ttl, and defaultTtl: without underscores and dashes, in lower case. Names of
// dates, such as expiresAt, are not among them: applications have them for purposes of their own.
var (
	itemNames = []string{"ttl", "timetolive", "ttlseconds", "ttlinseconds", "expireafter", "expireafterseconds",
		"defaultttl"}
	containerNames = []string{"ttl", "timetolive", "ttlseconds", "ttlinseconds", "expireafter", "expireafterseconds",
		"defaultttl", "defaulttimetolive", "defaultttlseconds", "defaultttlinseconds"}
)

// Lengths of names to compare, with a few underscores or dashes.
const minName, maxName = 3, 24

// like reports whether a name is in list, ignoring underscores, dashes and case.
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
