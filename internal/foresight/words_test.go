package foresight

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/expiry"
)

func TestPolicyWords(t *testing.T) {
	filter, err := bson.Marshal(bson.D{{Key: "on", Value: true}})
	if err != nil {
		t.Fatal(err)
	}
	items, documents := Noun{"item", "items", "container"}, Noun{"document", "documents", "collection"}
	for _, c := range []struct {
		noun   Noun
		policy expiry.Policy
		want   string
	}{
		{items, expiry.Policy{}, "TTL is off: items do not expire, and a ttl of their own has no effect."},
		{items, expiry.Policy{Default: -1}, "Items expire only by a ttl of their own."},
		{items, expiry.Policy{Default: 5400},
			"Items expire 1 hour 30 minutes after their last write, unless they have a ttl of their own."},
		{items, expiry.Policy{Default: 60, Property: "/from"}, "Items expire 1 minute after the time in /from, " +
			"or after their last write where it is no number, unless they have a ttl of their own."},
		{items, expiry.Policy{Default: -1, Property: "/from"}, "Items expire only by a ttl of their own, " +
			"which counts from the time in /from, or after their last write where it is no number."},
		{documents,
			expiry.Policy{Dates: []expiry.DateRule{{Path: "at", Seconds: 86400}, {Path: "a.b", Partial: filter}}},
			`Documents expire 1 day after the date in at. Documents expire at the date in a.b if they match ` +
				`{"on":true}. ` +
				"A ttl of their own has no effect."},
		{documents, expiry.Policy{Default: -1, Dates: []expiry.DateRule{{Path: "at"}}},
			"Documents expire only by a ttl of their own. Documents expire at the date in at."},
	} {
		if got := c.noun.Policy(&c.policy); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.policy, got, c.want)
		}
	}
}

func TestSentencesOfEstimates(t *testing.T) {
	items := Noun{"item", "items", "container"}
	few, all := Amount{Documents: 3}, Amount{Documents: 10}
	p := Preview{Living: all, Windows: []Window{{Amount: few, Exact: true}, {Amount: all, Seconds: 30 * day}}}
	want := "Of about 10 items, 3 would end at once, and about 10 within 30 days."
	if got := items.preview(&p); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.Windows[1].Amount, p.Windows[1].Exact, p.LivingExact = few, true, true
	if got, want := items.preview(&p), "Of 10 items, 3 would end at once, and none later within 30 days."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f := Forecast{By: ByDay, Living: all, NoEnd: few, Buckets: []Bucket{{Amount: few, Exact: true}, {Amount: few}}}
	want = "Of about 10 items, about 6 end in the 2 days shown, about 0 later, and about 3 never."
	if got := items.forecast(&f); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
