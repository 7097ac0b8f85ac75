package expiry

import "github.com/mayflydb/mayfly/internal/doc"

// A Past is a policy that counted from a property and was closed at Until. It holds for documents with a sequence up to
// Sequence.
type Past struct {
	Property string `json:"property"`
	Default  TTL    `json:"default"`
	Until    Stamp  `json:"until"`
	Sequence uint64 `json:"sequence"`
}

// dead reports whether the closed policy, whose property is at path, ended a document.
func (p *Past) dead(d Document, path doc.Path) bool {
	return d.Sequence <= p.Sequence && effective(p.Default, d.TTL).due(d.from(path), p.Until)
}

// from is the second from which a document's life counts: the whole seconds of the number at path, or the stamp where
// there is no path or no number.
func (d Document) from(path doc.Path) Stamp {
	if path == nil {
		return d.Wrote
	}
	if f, ok := doc.AsFloat(path.Lookup(d.Body)); ok && f > -maxInstant && f < maxInstant {
		return Stamp(f)
	}
	return d.Wrote
}

// maxInstant bounds the seconds of a property, so that adding a life span cannot overflow and every whole second below
// it is exact in a float64.
const maxInstant = 1 << 53
