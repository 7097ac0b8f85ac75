package foresight

import (
	"context"
	"encoding/json"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// An Explanation says when one document ends and by which rule, or why it does not end and what would change that.
type Explanation struct {
	Database  string `json:"database"`
	Container string `json:"container"`
	Identity
	Now        Instant         `json:"now"`
	Written    Instant         `json:"written"`              // its stamp
	TTL        *int32          `json:"ttl,omitempty"`        // its own, -1 for never
	InvalidTTL json.RawMessage `json:"invalidTtl,omitempty"` // a value of its ttl that is not valid and means nothing

	Ends      bool     `json:"ends"`
	Rule      string   `json:"rule,omitempty"` // the Verdict that ends it: default, ttl or date
	Deadline  *Instant `json:"deadline,omitempty"`
	Remaining *int64   `json:"remainingSeconds,omitempty"`
	Reason    Reason   `json:"reason,omitempty"` // why it does not end

	Sentence string    `json:"sentence"`
	Remedy   string    `json:"remedy,omitempty"` // in one sentence, if it does not end
	Notes    []string  `json:"notes,omitempty"`  // what else is worth knowing
	Policy   string    `json:"policy"`           // of the container, in a sentence
	Rules    []Verdict `json:"rules"`            // what each rule says, that of default and ttl first
}

// A Verdict is what one rule says about a document.
type Verdict struct {
	Rule       string   `json:"rule"`            // default, ttl or date
	Path       string   `json:"path,omitempty"`  // of a date, or of ttlPropertyPath if the life counts from there
	Index      string   `json:"index,omitempty"` // that has the rule of dates
	CountsFrom *Instant `json:"countsFrom,omitempty"`
	Seconds    *int64   `json:"seconds,omitempty"` // from there on
	Ends       bool     `json:"ends"`
	Deadline   *Instant `json:"deadline,omitempty"`
	Reason     Reason   `json:"reason,omitempty"` // why it does not end the document
	Sentence   string   `json:"sentence"`

	at expiry.Stamp
}

// The values of Rule.
const (
	RuleDefault = "default"
	RuleTTL     = "ttl"
	RuleDate    = "date"
)

// A Reason is why a rule does not end a document.
type Reason string

// The reasons.
const (
	ReasonOff         Reason = "off"         // the container has no default, and the document no ttl above 0
	ReasonDormant     Reason = "dormant"     // its ttl has no effect, since the container has no default
	ReasonNever       Reason = "never"       // its ttl is -1
	ReasonNoDefault   Reason = "noDefault"   // the container's default is -1, and it has no ttl
	ReasonInvalid     Reason = "invalid"     // the same, and it has a ttl that is not valid
	ReasonFilter      Reason = "filter"      // it does not match the filter of the index
	ReasonAbsent      Reason = "absent"      // it has nothing under the path
	ReasonArray       Reason = "array"       // it has an array without a date there
	ReasonType        Reason = "type"        // it has something there that is no date
	ReasonBuilding    Reason = "building"    // the index is not complete
	ReasonSwitchedOff Reason = "switchedOff" // rules of dates are, for all collections
)

var misses = map[expiry.Miss]Reason{
	expiry.MissFilter: ReasonFilter, expiry.MissAbsent: ReasonAbsent,
	expiry.MissArray: ReasonArray, expiry.MissType: ReasonType,
}

// Explain finds a document by its key. For one that has expired, and one that never was, it fails alike with
// fault.NotFound.
func (f *Foresight) Explain(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, key store.Key,
) (*Explanation, error) {
	v, err := c.Enter(ctx, now)
	if err != nil {
		return nil, err
	}
	var e *Explanation
	err = f.store.Read(ctx, v, key, func(d access.Document) error {
		e = f.explain(v, d)
		return nil
	})
	if fault.KindOf(err) == fault.NotFound {
		return nil, fault.Wrap(fault.NotFound, err, "No %s lives under this key.", nounOf(v.State).One)
	}
	return e, err
}

func (f *Foresight) explain(v catalog.View, d access.Document) *Explanation {
	x := explainer{
		f: f, v: v, noun: nounOf(v.State),
		d:   expiry.Document{Wrote: d.Version.Stamp, TTL: d.TTL, Sequence: d.Version.Sequence, Body: d.Body},
		raw: doc.Lookup(d.Body, "ttl"),
	}
	e := &Explanation{
		Database: v.Container.Database.Name, Container: v.Name, Identity: identityOf(v.State, d.Body),
		Now: At(v.Now), Written: At(d.Version.Stamp), Policy: x.noun.Policy(&v.Policy),
	}
	if d.TTL != expiry.Unset {
		ttl := int32(d.TTL)
		e.TTL = &ttl
	}
	if x.invalid() {
		e.InvalidTTL = identityValue(x.raw)
	}
	e.Rules = append(e.Rules, x.byTTL())
	for i := range v.Named {
		if v.Named[i].Expires {
			e.Rules = append(e.Rules, x.byDate(&v.Named[i]))
		}
	}
	x.conclude(e)
	return e
}

// An explainer explains one document.
type explainer struct {
	f    *Foresight
	v    catalog.View
	noun Noun
	d    expiry.Document
	raw  doc.Value // its member ttl
}

// invalid reports whether it has a ttl that means nothing.
func (x *explainer) invalid() bool { return x.d.TTL == expiry.Unset && !doc.IsUndefined(x.raw) }

// byTTL is the verdict of the default of the container and the document's own ttl.
func (x *explainer) byTTL() Verdict {
	p, own := &x.v.Policy, x.d.TTL
	r := Verdict{Rule: RuleDefault}
	if own != expiry.Unset && p.On() {
		r.Rule = RuleTTL
	}
	life := p.Effective(own)
	from, byProperty := p.Start(x.d)
	at, ends := life.Deadline(from)
	if ends {
		seconds, start := int64(life), At(from)
		r.CountsFrom, r.Seconds = &start, &seconds
		r.end(at)
		if byProperty {
			r.Path = p.Property
		}
	} else {
		r.Reason = x.whyNoTTL()
	}
	r.Sentence = x.ttlSentence(&r)
	return r
}

func (r *Verdict) end(at expiry.Stamp) {
	deadline := At(at)
	r.Ends, r.Deadline, r.at = true, &deadline, at
}

func (x *explainer) whyNoTTL() Reason {
	switch own := x.d.TTL; {
	case !x.v.Policy.On() && own > expiry.Unset:
		return ReasonDormant
	case !x.v.Policy.On():
		return ReasonOff
	case own == expiry.Never:
		return ReasonNever
	case x.invalid():
		return ReasonInvalid
	}
	return ReasonNoDefault
}

// byDate is the verdict of a TTL index.
func (x *explainer) byDate(n *catalog.NamedIndex) Verdict {
	r := Verdict{Rule: RuleDate, Path: n.Columns[0].Path, Index: n.Name}
	seconds := int64(n.Seconds)
	r.Seconds = &seconds
	rule := x.rule(n.ID)
	switch {
	case n.Building:
		r.Reason = ReasonBuilding
	case rule == nil:
		r.Reason = ReasonSwitchedOff
	default:
		at, miss := rule.Why(x.d.Body)
		if miss == expiry.Hit {
			start := At(at - seconds)
			r.CountsFrom = &start
			r.end(at)
		} else {
			r.Reason = misses[miss]
		}
	}
	r.Sentence = x.dateSentence(&r)
	return r
}

// rule is the rule in force that an index has, nil if it is not in force.
func (x *explainer) rule(index uint32) *expiry.DateRule {
	for i := range x.v.Policy.Dates {
		if x.v.Policy.Dates[i].Index == index {
			return &x.v.Policy.Dates[i]
		}
	}
	return nil
}

// conclude takes the earliest verdict that ends the document. If none does, the reason is that of the rule that could
// most easily: a rule of dates if there is one, since somebody has made an index for it.
func (x *explainer) conclude(e *Explanation) {
	decides := &e.Rules[0]
	for i := range e.Rules {
		r := &e.Rules[i]
		if r.Ends && (!decides.Ends || r.at < decides.at) {
			decides = r
		}
	}
	if !decides.Ends && !x.v.Policy.On() && len(e.Rules) > 1 {
		decides = &e.Rules[1]
	}
	e.Ends, e.Sentence = decides.Ends, decides.Sentence
	e.Notes = x.notes(decides)
	if !e.Ends {
		e.Reason, e.Remedy = decides.Reason, x.remedy(decides)
		return
	}
	e.Rule, e.Deadline = decides.Rule, decides.Deadline
	remaining := decides.at - x.v.Now
	e.Remaining = &remaining
}
