package foresight

import (
	"fmt"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// ttlSentence says what the default and the own ttl do to a document.
func (x *explainer) ttlSentence(r *Verdict) string {
	one, container := x.noun.One, x.noun.Container
	switch r.Reason {
	case ReasonOff:
		if x.indexed() {
			return fmt.Sprintf("The %s has no default that could end this %s.", container, one)
		}
		return fmt.Sprintf("TTL is off for the %s, so this %s does not expire.", container, one)
	case ReasonDormant:
		if x.indexed() {
			return fmt.Sprintf("This %s has a ttl of %s, but the %s has no default, so the ttl has no effect.",
				one, Duration(int64(x.d.TTL)), container)
		}
		return fmt.Sprintf("This %s has a ttl of %s, but TTL is off for the %s, so the ttl has no effect.",
			one, Duration(int64(x.d.TTL)), container)
	case ReasonNever:
		return fmt.Sprintf("This %s has a ttl of -1, so it never expires.", one)
	case ReasonNoDefault:
		return fmt.Sprintf("The default of the %s is -1, and this %s has no ttl of its own, so it never expires.",
			container, one)
	case ReasonInvalid:
		return fmt.Sprintf("The default of the %s is -1, and the ttl of this %s is not valid, so it never expires.",
			container, one)
	}
	who := fmt.Sprintf("The default of the %s", container)
	if r.Rule == RuleTTL {
		who = "Its own ttl"
	}
	return fmt.Sprintf("%s ends this %s %s after %s.", who, one, Duration(*r.Seconds), x.since(r))
}

// indexed reports whether the collection has a TTL index, so that TTL is not off as a whole.
func (x *explainer) indexed() bool {
	return slices.ContainsFunc(x.v.Named, func(n catalog.NamedIndex) bool { return n.Expires })
}

// since is from when the life of a document counts.
func (x *explainer) since(r *Verdict) string {
	switch {
	case r.Path != "":
		return "the time in " + r.Path
	case x.v.Policy.Property != "":
		return fmt.Sprintf("its last write, since it has no number in %s", x.v.Policy.Property)
	}
	return "its last write"
}

// dateSentence says what a rule of dates does to a document.
func (x *explainer) dateSentence(r *Verdict) string {
	one := x.noun.One
	does := "does not end this " + one
	switch r.Reason {
	case ReasonFilter:
		return fmt.Sprintf("The TTL index %s %s: it does not match the filter of the index.", r.Index, does)
	case ReasonAbsent:
		return fmt.Sprintf("The TTL index %s %s: it has no field %s.", r.Index, does, r.Path)
	case ReasonArray:
		return fmt.Sprintf("The TTL index %s %s: the array in %s has no date.", r.Index, does, r.Path)
	case ReasonType:
		return fmt.Sprintf("The TTL index %s %s: the value of %s is no date.", r.Index, does, r.Path)
	case ReasonBuilding:
		return fmt.Sprintf("The TTL index %s %s yet: it is being built.", r.Index, does)
	case ReasonSwitchedOff:
		return fmt.Sprintf("The TTL index %s %s: rules of dates are switched off for all collections.", r.Index, does)
	}
	if *r.Seconds == 0 {
		return fmt.Sprintf("The TTL index %s ends this %s at the date in %s.", r.Index, one, r.Path)
	}
	return fmt.Sprintf("The TTL index %s ends this %s %s after the date in %s.",
		r.Index, one, Duration(*r.Seconds), r.Path)
}

// remedy says in one sentence what would make a document expire that does not.
func (x *explainer) remedy(r *Verdict) string {
	one, container := x.noun.One, x.noun.Container
	switch r.Reason {
	case ReasonOff:
		return fmt.Sprintf("Set a default for the %s, such as 30 days, or -1 to let %s expire by a ttl of their own "+
			"alone.", container, x.noun.Many)
	case ReasonDormant:
		return fmt.Sprintf("Set a default for the %s, such as -1: then the ttl takes effect, and %s.",
			container, x.awakens())
	case ReasonNever:
		return fmt.Sprintf("Write the %s with a ttl in seconds, or without one to let it follow the default of the %s.",
			one, container)
	case ReasonNoDefault:
		return fmt.Sprintf("Write the %s with a ttl in seconds, or set a default for the %s.", one, container)
	case ReasonInvalid:
		return fmt.Sprintf("Write the %s with a ttl that is %s.", one, x.valid())
	case ReasonFilter:
		return fmt.Sprintf("Change the %s so that it matches the filter, or make a TTL index without one.", one)
	case ReasonAbsent:
		return fmt.Sprintf("Write the %s with a date in %s.", one, r.Path)
	case ReasonArray:
		return fmt.Sprintf("Write a date into the array in %s.", r.Path)
	case ReasonType:
		return fmt.Sprintf("Write %s as a BSON date: numbers and strings do not count.", r.Path)
	case ReasonBuilding:
		return "Wait until the index is built."
	case ReasonSwitchedOff:
		return "Set the parameter ttlMonitorEnabled to true."
	}
	return ""
}

// awakens says what becomes of a dormant ttl when TTL is switched on.
func (x *explainer) awakens() string {
	at, _ := x.d.TTL.Deadline(x.d.Wrote)
	if at <= x.v.Now {
		return fmt.Sprintf("ends the %s at once, since that time is over", x.noun.One)
	}
	return fmt.Sprintf("ends the %s at %s", x.noun.One, At(at).Time)
}

// valid says which values of a ttl are.
func (x *explainer) valid() string {
	if x.v.Identity().Partitioned() {
		return fmt.Sprintf("-1 or a whole number of seconds from 1 to %d", expiry.MaxTTL)
	}
	return fmt.Sprintf("an int32, an int64 or a double of -1, or of a whole number of seconds from 1 to %d",
		expiry.MaxTTL)
}

// notes are what is worth knowing beside the rule that decides.
func (x *explainer) notes(decides *Verdict) (list []string) {
	if x.invalid() {
		list = append(list, fmt.Sprintf("Its ttl is %s, which is ignored: a valid one is %s.",
			clipped(doc.AppendJSONValue(nil, x.raw)), x.valid()))
	}
	if decides.Rule == RuleDate && x.d.TTL > expiry.Unset && !x.v.Policy.On() {
		list = append(list, fmt.Sprintf("Its ttl of %s has no effect, since the %s has no default.",
			Duration(int64(x.d.TTL)), x.noun.Container))
	}
	return list
}

// clipped is a text without what is behind its first 64 bytes.
func clipped(text []byte) string {
	const most = 64
	if len(text) <= most {
		return string(text)
	}
	end := most
	for end > 0 && text[end]&0xC0 == 0x80 {
		end-- // a character is not cut
	}
	return string(text[:end]) + "..."
}
