package foresight

import (
	"fmt"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// A Noun is what the API of a container calls its documents and itself.
type Noun struct{ One, Many, Container string }

// nounOf is the Noun of a container.
func nounOf(st *catalog.State) Noun {
	if st.Dialect == catalog.Mongo {
		return Noun{"document", "documents", "collection"}
	}
	return Noun{"item", "items", "container"}
}

// Duration says in words how long a number of seconds is, exactly: "30 days", "1 hour 30 minutes".
func Duration(seconds int64) string {
	if seconds < 0 {
		return "minus " + Duration(-seconds)
	}
	var parts []string
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{day, "day"}, {hour, "hour"}, {minute, "minute"}, {1, "second"}} {
		n := seconds / unit.seconds
		seconds %= unit.seconds
		if n == 0 && (unit.seconds > 1 || len(parts) > 0) {
			continue
		}
		parts = append(parts, plural(uint64(n), unit.name))
	}
	return strings.Join(parts, " ")
}

func plural(n uint64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Policy says in sentences when documents end under a policy.
func (n Noun) Policy(p *expiry.Policy) string {
	many := strings.ToUpper(n.Many[:1]) + n.Many[1:]
	var sentences []string
	switch {
	case p.Default > 0:
		sentences = append(sentences, fmt.Sprintf("%s expire %s after %s, unless they have a ttl of their own.",
			many, Duration(int64(p.Default)), start(p.Property)))
	case p.Default == expiry.Never && p.Property != "":
		sentences = append(sentences, fmt.Sprintf("%s expire only by a ttl of their own, which counts from %s.",
			many, start(p.Property)))
	case p.Default == expiry.Never:
		sentences = append(sentences, many+" expire only by a ttl of their own.")
	case len(p.Dates) == 0:
		return fmt.Sprintf("TTL is off: %s do not expire, and a ttl of their own has no effect.", n.Many)
	}
	for i := range p.Dates {
		sentences = append(sentences, fmt.Sprintf("%s expire %s.", many, dated(&p.Dates[i])))
	}
	if p.Default == expiry.Unset {
		sentences = append(sentences, "A ttl of their own has no effect.")
	}
	return strings.Join(sentences, " ")
}

// count is a number of documents in words: "1 item", "about 20 items".
func (n Noun) count(documents uint64, exact bool) string {
	text := fmt.Sprintf("%d %s", documents, n.Many)
	if documents == 1 {
		text = "1 " + n.One
	}
	if !exact {
		text = "about " + text
	}
	return text
}

// preview says in a sentence what a policy would end.
func (n Noun) preview(p *Preview) string {
	first, last := &p.Windows[0], &p.Windows[len(p.Windows)-1]
	of := n.count(p.Living.Documents, p.LivingExact)
	switch {
	case last.Documents == 0:
		return fmt.Sprintf("Of %s, none would end within %s.", of, Duration(last.Seconds))
	case first.Documents == last.Documents:
		return fmt.Sprintf("Of %s, %s would end at once, and none later within %s.",
			of, amount(first.Documents, first.Exact), Duration(last.Seconds))
	}
	return fmt.Sprintf("Of %s, %s would end at once, and %s within %s.", of, amount(first.Documents, first.Exact),
		amount(last.Documents, last.Exact), Duration(last.Seconds))
}

// forecast says in a sentence what ends and what does not.
func (n Noun) forecast(f *Forecast) string {
	var ends uint64
	exact := true
	for i := range f.Buckets {
		ends += f.Buckets[i].Documents
		exact = exact && f.Buckets[i].Exact
	}
	return fmt.Sprintf("Of %s, %s %s in the %s shown, %s later, and %s never.", n.count(f.Living.Documents, f.Exact),
		amount(ends, exact), verb(ends, "end"), plural(uint64(len(f.Buckets)), f.By),
		amount(f.Beyond.Documents, f.Exact), amount(f.NoEnd.Documents, f.Exact))
}

func amount(n uint64, exact bool) string {
	if exact {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("about %d", n)
}

func verb(n uint64, many string) string {
	if n == 1 {
		return many + "s"
	}
	return many
}

// start is from when a life counts.
func start(property string) string {
	if property == "" {
		return "their last write"
	}
	return fmt.Sprintf("the time in %s, or after their last write where it is no number", property)
}

// dated is when a rule of dates ends documents.
func dated(r *expiry.DateRule) string {
	text := "at the date in " + r.Path
	if r.Seconds > 0 {
		text = fmt.Sprintf("%s after the date in %s", Duration(int64(r.Seconds)), r.Path)
	}
	if r.Partial != nil {
		text += " if they match " + filterText(r.Partial)
	}
	return text
}

// maxFilterText is how many bytes of a filter a sentence repeats.
const maxFilterText = 200

func filterText(filter doc.Doc) string {
	text := doc.AppendJSON(nil, filter)
	if len(text) > maxFilterText {
		return "the filter of the index"
	}
	return string(text)
}
