package expiry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A Policy is the rule of lifetime of one container: the settings in force, and what earlier settings and the reaper
// have made final. The zero Policy is off. After a change of its fields, Compile prepares it for use; from then
// on it is immutable and safe for concurrent use.
type Policy struct {
	// Default is the life of a document without a ttl of its own. Unset means off: no document's own ttl is
	// interpreted (T-11, T-21, T-22).
	Default TTL `json:"default,omitempty"`

	// Property names the member whose number of seconds stands for the stamp (`ttlPropertyPath`, A-25); empty for the
	// stamp itself.
	Property string `json:"property,omitempty"`

	// InheritFloor: documents without a ttl of their own that were written at or before it are dead for good.
	// OwnFloor: so are documents whose own deadline is at or before it. Zero means that nothing is declared dead.
	// Two numbers are enough, because stamps and own deadlines are in order: what a setting has ended is always a
	// range that begins with the oldest.
	InheritFloor Stamp `json:"inherit_floor,omitempty"`
	OwnFloor     Stamp `json:"own_floor,omitempty"`

	// Past keeps closed policies that counted from a property. Such deadlines are in no order, so no floor can stand
	// for them.
	Past []Past `json:"past,omitempty"`

	// Dates end documents by a date in them. They follow from the container's indexes and are stored there.
	Dates []DateRule `json:"-"`

	// PastDates keeps closed rules of dates, for the same reason as Past. The catalog stores them after the policy.
	PastDates []PastDates `json:"-"`

	property doc.Path   // of Property
	past     []doc.Path // of Past
}

// MaxPast is how many closed policies, and how many closed rules of dates, a container may carry. Each of them costs
// every read a lookup in the document, until the reaper has visited all documents once.
const MaxPast = 16

// errManyPast asks the client to wait until the reaper has caught up.
var errManyPast = fault.New(fault.Invalid, "The lifetime of the container was changed %d times in a row. "+
	"Wait until its expired documents are reclaimed, then try again.", MaxPast)

// A Document is what the rule looks at in one version of a document.
type Document struct {
	Wrote    Stamp  // its stamp, `_ts`
	TTL      TTL    // its own ttl, Unset if it has none
	Sequence uint64 // of its write in the container
	Body     doc.Doc
}

// On reports whether a default is set, so that documents may have a ttl of their own. Dates need no default.
func (p *Policy) On() bool { return p.Default != Unset }

// Plain reports whether a document's stamp and own ttl decide alone, so that its body need not be looked at.
func (p *Policy) Plain() bool {
	return p.Property == "" && len(p.Past) == 0 && len(p.Dates) == 0 && len(p.PastDates) == 0
}

// Ordered reports whether all deadlines can be found in an order that the store keeps: stamps, own deadlines, dates in
// an index. Where it is false, only a look at each document finds the dead: deadlines that count from a property are in
// no order, and the index of a closed rule of dates may be gone.
func (p *Policy) Ordered() bool {
	return p.Property == "" && len(p.Past) == 0 && len(p.PastDates) == 0
}

// Effective is the life span of a document with this own ttl, Never if it has no end (T-20 to T-28).
func (p *Policy) Effective(own TTL) TTL { return effective(p.Default, own) }

func effective(container, own TTL) TTL {
	switch {
	case container == Unset:
		return Never
	case own != Unset:
		return own
	}
	return container
}

// Dead reports whether a document does not exist at now. It is the only way from a stored document to an answer.
func (p *Policy) Dead(d Document, now Stamp) bool {
	if p.Plain() { // first, because it is the rule of most containers and costs no look at the body
		return p.DeadByTTL(d.Wrote, d.TTL, now)
	}
	return p.deadByBody(d, now)
}

func (p *Policy) deadByBody(d Document, now Stamp) bool {
	for i := range p.past {
		if p.Past[i].dead(d, p.past[i]) {
			return true
		}
	}
	// Life counts from the property's value, while the floors go by the stamp: they were declared while no property
	// was set.
	return p.below(d.Wrote, d.TTL) || p.Effective(d.TTL).due(d.from(p.property), now) || p.deadByDate(d, now)
}

// DeadByTTL is Dead by stamp and own ttl alone, without a look at the document: for entries of the store's queues,
// which have nothing else.
func (p *Policy) DeadByTTL(wrote Stamp, own TTL, now Stamp) bool {
	return p.below(wrote, own) || p.Effective(own).due(wrote, now)
}

// below reports whether a floor has ended the document for good.
func (p *Policy) below(wrote Stamp, own TTL) bool {
	switch {
	case own > Unset:
		return p.OwnFloor != 0 && wrote+Stamp(own) <= p.OwnFloor
	case own == Unset:
		return p.InheritFloor != 0 && wrote <= p.InheritFloor
	}
	return false
}

// Deadline is the first second at which a document does not exist, under the settings in force alone. ok is false if
// there is none.
func (p *Policy) Deadline(d Document) (at Stamp, ok bool) {
	at, ok = p.Effective(d.TTL).Deadline(d.from(p.property))
	if date, dated := p.DateDeadline(d.Body); dated && (!ok || date < at) {
		return date, true
	}
	return at, ok
}

// Lasting reports whether documents with this own ttl have no Deadline, whatever else they are.
func (p *Policy) Lasting(own TTL) bool { return len(p.Dates) == 0 && p.Effective(own) <= Unset }

// Floors are the floors as they would be if everything that the present setting has ended by now were declared dead:
// documents that inherit their life are dead if they were written at or before inherit, the others if their own
// deadline is at or before own. Where life counts from a property the floors stay as they are.
func (p *Policy) Floors(now Stamp) (inherit, own Stamp) {
	inherit, own = p.InheritFloor, p.OwnFloor
	if !p.On() || p.Property != "" {
		return inherit, own
	}
	if p.Default > Unset {
		inherit = max(inherit, now-Stamp(p.Default))
	}
	return inherit, max(own, now)
}

// FirstStamp is the lowest stamp that may still be given out: a document with one at or below the floor would be dead
// from the start.
func (p *Policy) FirstStamp() Stamp { return p.InheritFloor + 1 }

// Close returns the policy with everything that its default, own ttls and property have ended by now made final: a
// later setting brings nothing back. sequence is the newest of the container. The caller sets Default and
// Property to the next setting. It fails with fault.Invalid when MaxPast policies are closed already.
func (p Policy) Close(now Stamp, sequence uint64) (Policy, error) {
	if p.Property == "" || !p.On() {
		p.InheritFloor, p.OwnFloor = p.Floors(now)
		return p, nil
	}
	if len(p.Past) >= MaxPast {
		return p, errManyPast
	}
	p.Past = append(slices.Clip(p.Past), Past{p.Property, p.Default, now, sequence})
	return p, nil
}

// CloseDates returns the policy with the rules of dates that ends accepts closed: what they have ended by now is final
// . sequence is the newest of the container. It fails with fault.Invalid when MaxPast rules are closed already.
func (p Policy) CloseDates(ends func(DateRule) bool, now Stamp, sequence uint64) (Policy, error) {
	for _, r := range p.Dates {
		if !ends(r) {
			continue
		}
		r.Index = 0 // it may be gone
		past := PastDates{r, now, sequence}
		kept := slices.DeleteFunc(slices.Clone(p.PastDates), past.covers)
		if len(kept) >= MaxPast {
			return p, errManyPast
		}
		p.PastDates = append(kept, past)
	}
	p.Dates = slices.DeleteFunc(slices.Clone(p.Dates), ends)
	return p, nil
}

// Compile prepares the policy for use: it parses paths, and compiles the filters of Dates and PastDates by filter,
// which is nil where there are none. It fails only for a path that cannot be parsed and as filter does; the definition
// of a container is checked for both before. The policy then shares no memory with the one that it was copied from.
func (p *Policy) Compile(filter func(doc.Doc) (func(doc.Doc) bool, error)) (err error) {
	if p.property, err = parsePath(p.Property); err != nil {
		return err
	}
	p.past = make([]doc.Path, len(p.Past))
	for i := range p.Past {
		if p.past[i], err = parsePath(p.Past[i].Property); err != nil {
			return err
		}
	}
	p.Dates, p.PastDates = slices.Clone(p.Dates), slices.Clone(p.PastDates)
	for i := range p.Dates {
		if err := p.Dates[i].compile(filter); err != nil {
			return err
		}
	}
	for i := range p.PastDates {
		if err := p.PastDates[i].compile(filter); err != nil {
			return err
		}
	}
	return nil
}

func parsePath(property string) (doc.Path, error) {
	if property == "" {
		return nil, nil
	}
	return doc.ParsePath(property)
}

// String says in words how long documents live: "off", "60 s", or "never by default from /at; 10 s after the date in
// seen".
func (p *Policy) String() string {
	var parts []string
	switch p.Default {
	case Unset:
	case Never:
		parts = append(parts, "never by default")
	default:
		parts = append(parts, fmt.Sprintf("%d s", p.Default))
	}
	if p.Property != "" {
		parts[0] += " from " + p.Property
	}
	for i := range p.Dates {
		parts = append(parts, fmt.Sprintf("%d s after the date in %s", p.Dates[i].Seconds, p.Dates[i].Path))
	}
	if len(parts) == 0 {
		return "off"
	}
	return strings.Join(parts, "; ")
}
