// Package expiry says when a document stops existing. It holds pure functions
// and nothing else: no clock, no storage. Its heart is Policy.Dead; everything
// that reads documents asks it. A document is gone at its deadline because every
// read asks this rule, never because a job has run.
package expiry

// A Stamp is a whole number of Unix seconds.
type Stamp = int64

// A TTL is a life span in seconds. Unset (0) means that none was given; on a
// container it switches lifetime off. Never (-1) means for ever.
type TTL int32

// The two TTL values that are not a number of seconds.
const (
	Unset TTL = 0
	Never TTL = -1
)

// MaxTTL is the longest life span, about 68 years (L-01).
const MaxTTL TTL = 1<<31 - 1

// MaxPast is how many closed property policies a container may carry, see Past.
const MaxPast = 16

// A Policy is a container's TTL setting together with what earlier settings
// and the reaper have made final. The zero Policy is off.
type Policy struct {
	// Default is the life of a document without a ttl of its own.
	// Unset means off: no document's own ttl is interpreted (T-11, T-21, T-22).
	Default TTL `json:"default,omitempty"`

	// Property names the member whose number of seconds stands for the stamp
	// (`ttlPropertyPath`, A-25); empty for the stamp itself.
	Property string `json:"property,omitempty"`

	// InheritFloor: documents that inherit their life and were written at or
	// before it are dead for good. OwnFloor: so are documents whose own deadline
	// is at or before it. Zero means that nothing is declared.
	InheritFloor Stamp `json:"inherit_floor,omitempty"`
	OwnFloor     Stamp `json:"own_floor,omitempty"`

	// Past keeps closed policies that counted from a property. The order of such
	// deadlines has nothing to do with the order of writes, so no floor can stand
	// for them.
	Past []Past `json:"past,omitempty"`
}

// A Past is a policy that counted from a property and was closed at Until. It
// holds for documents with a sequence up to Sequence.
type Past struct {
	Property string `json:"property"`
	Default  TTL    `json:"default"`
	Until    Stamp  `json:"until"`
	Sequence uint64 `json:"sequence"`
}

// On reports whether documents can expire at all under the present setting.
func (p *Policy) On() bool { return p.Default != Unset }

// Plain reports whether a document's stamp and own ttl decide alone; if not,
// the property has to be read and DeadFrom and Past.Dead be asked too.
func (p *Policy) Plain() bool { return p.Property == "" && len(p.Past) == 0 }

// Effective is the life span of a document with this own ttl, Never if it has
// no end (T-20 to T-28).
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

// Deadline is the first second at which a document that counts from that stamp
// does not exist, under the present setting alone. ok is false if there is none.
func (p *Policy) Deadline(from Stamp, own TTL) (at Stamp, ok bool) {
	return deadline(from, effective(p.Default, own))
}

func deadline(from Stamp, life TTL) (Stamp, bool) {
	if life == Never {
		return 0, false
	}
	return from + Stamp(life), true
}

// Dead reports whether a document written at wrote does not exist at now. The
// instant of the deadline belongs to the dead (T-13, A-02).
func (p *Policy) Dead(wrote Stamp, own TTL, now Stamp) bool {
	return p.below(wrote, own) || due(wrote, p.Effective(own), now)
}

// DeadFrom is Dead for a policy that is not Plain: life counts from the
// property's value, while the floors go by the stamp as ever.
func (p *Policy) DeadFrom(wrote, from Stamp, own TTL, now Stamp) bool {
	return p.below(wrote, own) || due(from, p.Effective(own), now)
}

// Dead reports whether the closed policy ended a document of that sequence,
// counting from the value of its property.
func (p *Past) Dead(from Stamp, own TTL, sequence uint64) bool {
	return sequence <= p.Sequence && due(from, effective(p.Default, own), p.Until)
}

func due(from Stamp, life TTL, now Stamp) bool {
	at, ok := deadline(from, life)
	return ok && at <= now
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

// Close returns the policy with everything that it has ended by now made final.
// sequence is the newest of the container. The result has room for a different
// setting: set Default and Property.
func (p Policy) Close(now Stamp, sequence uint64) Policy {
	if !p.On() {
		return p
	}
	if p.Property != "" {
		p.Past = append(append([]Past(nil), p.Past...), Past{p.Property, p.Default, now, sequence})
		return p
	}
	if p.Default > Unset {
		p.InheritFloor = max(p.InheritFloor, now-Stamp(p.Default))
	}
	p.OwnFloor = max(p.OwnFloor, now)
	return p
}

// FirstStamp is the lowest stamp that may still be given out: one at or below
// a floor would be born dead.
func (p *Policy) FirstStamp() Stamp { return p.InheritFloor + 1 }
