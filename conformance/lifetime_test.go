package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// virtual starts a mayfly whose clock stands still until the test moves it.
func virtual(t testing.TB) *server {
	t.Helper()
	return start(t, "--memory", "--clock=virtual")
}

// lives makes a container with a default ttl; nil means that TTL is off.
func lives(t testing.TB, s *server, defaultTTL *int32) *box {
	t.Helper()
	return newBox(t, s, azcosmos.ContainerProperties{DefaultTimeToLive: defaultTTL})
}

// living are the ids in partition "p" that exist, in order of creation. Every
// way of reading must say the same: point read, feed, feed of the partition,
// change feed.
func (b *box) living(t testing.TB) []string {
	t.Helper()
	feed := listed(t, b.server, b.path+"/docs", "Documents")
	for what, other := range map[string][]string{
		"the feed of the partition": ids(b.server.do(t, "GET", b.path+"/docs", nil, keyed("p"))),
		"the change feed":           firstOf(changes(t, b, azcosmos.ChangeFeedOptions{FeedRange: &everything})),
	} {
		slices.Sort(other)
		sorted := slices.Clone(feed)
		if slices.Sort(sorted); !slices.Equal(other, sorted) {
			t.Errorf("the feed shows %v, %s %v", feed, what, other)
		}
	}
	return feed
}

// wantLiving requires that exactly these ids exist, and that the others of all
// are 404 to a point read.
func (b *box) wantLiving(t testing.TB, when string, all, want []string) {
	t.Helper()
	got := b.living(t)
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s: living %v, want %v", when, got, want)
	}
	for _, id := range all {
		code := http.StatusNotFound
		if slices.Contains(want, id) {
			code = http.StatusOK
		}
		if got, _ := b.read(t, id); got != code {
			t.Errorf("%s: point read of %s: %d, want %d", when, id, got, code)
		}
	}
}

// setPolicy replaces the container with another default ttl; nil switches TTL off.
func (b *box) setPolicy(t testing.TB, defaultTTL *int32) {
	t.Helper()
	ctx := within(t, patience)
	read, err := b.Read(ctx, nil)
	ok(t, "read the container", err)
	p := *read.ContainerProperties
	p.DefaultTimeToLive = defaultTTL
	_, err = b.Replace(ctx, p, nil)
	ok(t, "replace the container", err)
}

func ids(a answer) []string {
	var all []string
	for _, i := range a.items() {
		all = append(all, i["id"].(string))
	}
	return all
}

func firstOf[A, B any](a A, _ B) A { return a }

// TestMatrix is the table of nine cells, T-20 to T-28, at one second before,
// at, and after every deadline, and a day later.
func TestMatrix(t *testing.T) {
	s := virtual(t)
	written := []string{"none", "never", "short", "long"} // ttl: absent, -1, 5, 20
	rows := []struct {
		name       string
		defaultTTL *int32
		deadline   map[string]int // second at which an item is gone; absent: never
	}{
		{"off", nil, nil},
		{"on, no default", ptr(int32(-1)), map[string]int{"short": 5, "long": 20}},
		{"on, 10", ptr(int32(10)), map[string]int{"none": 10, "short": 5, "long": 20}},
	}
	boxes := make([]*box, len(rows))
	for i, row := range rows {
		boxes[i] = lives(t, s, row.defaultTTL)
		for id, ttl := range map[string]any{"none": nil, "never": -1, "short": 5, "long": 20} {
			body := item{"id": id, "ttl": ttl}
			if ttl == nil {
				delete(body, "ttl")
			}
			stored := boxes[i].create(t, body)
			if _, has := stored["ttl"]; has != (ttl != nil) {
				t.Errorf("%s: wrote %v, stored %v", row.name, body, stored)
			}
		}
	}
	elapsed := 0
	for _, second := range []int{0, 4, 5, 6, 9, 10, 11, 19, 20, 21, 86400} {
		if second > elapsed {
			s.advance(t, time.Duration(second-elapsed)*time.Second)
			elapsed = second
		}
		for i, row := range rows {
			var want []string
			for _, id := range written {
				if deadline, dies := row.deadline[id]; !dies || second < deadline {
					want = append(want, id)
				}
			}
			boxes[i].wantLiving(t, fmt.Sprintf("%s, second %d", row.name, second), written, want)
		}
	}
}

// TestPolicyChanges follows what a container replace does to items that are
// there. Items are written at second 0: "plain" without ttl, "own" with 30,
// "never" with -1.
func TestPolicyChanges(t *testing.T) {
	const off = -99
	type step struct {
		at     int // second
		policy int // set at that second; 0 leaves it
		want   string
	}
	stories := []struct {
		name  string
		first int
		steps []step
	}{
		{"off to n expires the overdue at once (T-46, T-78)", off,
			[]step{{20, 10, "never own"}, {29, 0, "never own"}, {30, 0, "never"}}},
		{"off to n brings dormant overrides into force (T-46)", off,
			[]step{{40, 100, "never plain"}, {100, 0, "never"}}},
		{"off to -1 expires only overdue overrides (T-25)", off,
			[]step{{40, -1, "never plain"}, {4000, 0, "never plain"}}},
		{"shorter expires more at once (T-10)", 100, []step{{20, 0, "never own plain"}, {20, 10, "never own"}}},
		{"longer lets the living live on (T-10)", 10,
			[]step{{9, 20, "never own plain"}, {19, 0, "never own plain"}, {20, 0, "never own"}}},
		{"longer brings nobody back (A-01)", 10, []step{{10, 1000, "never own"}, {30, 0, "never"}}},
		{"n to -1 stops the inheriting only (T-55)", 10,
			[]step{{9, -1, "never own plain"}, {29, 0, "never own plain"}, {30, 0, "never plain"}}},
		{"n to -1 brings nobody back (A-01)", 10, []step{{10, -1, "never own"}}},
		{"off stops everything (T-53, T-56)", 10, []step{{9, off, "never own plain"}, {4000, 0, "never own plain"}}},
		{"off brings nobody back (A-01)", 10, []step{{30, off, "never"}, {31, 0, "never"}}},
		{"off and on again counts from _ts", 10,
			[]step{{5, off, "never own plain"}, {50, 0, "never own plain"}, {50, 60, "never plain"},
				{59, 0, "never plain"}, {60, 0, "never"}}},
		{"off and on without a default", 10,
			[]step{{5, off, "never own plain"}, {29, -1, "never own plain"}, {30, 0, "never plain"}}},
	}
	s := virtual(t)
	policy := func(seconds int) *int32 {
		if seconds == off {
			return nil
		}
		return ptr(int32(seconds))
	}
	for _, story := range stories {
		t.Run(story.name, func(t *testing.T) {
			b := lives(t, s, policy(story.first))
			all := []string{"plain", "own", "never"}
			b.create(t, item{"id": "plain"})
			b.create(t, item{"id": "own", "ttl": 30})
			b.create(t, item{"id": "never", "ttl": -1})
			now := 0
			for _, st := range story.steps {
				s.advance(t, time.Duration(st.at-now)*time.Second)
				now = st.at
				if st.policy != 0 {
					b.setPolicy(t, policy(st.policy))
				}
				b.wantLiving(t, fmt.Sprintf("second %d, policy %d", st.at, st.policy), all, words(st.want))
			}
		})
	}
}

// Any successful write restarts the countdown; reads and failures do not (T-48).
func TestWritesRestartTheCountdown(t *testing.T) {
	s := virtual(t)
	b := lives(t, s, ptr(int32(10)))
	ctx := within(t, patience)
	stale := azcore.ETag(`"00000000-0000-0000-0000-000000000000"`)
	moves := map[string]func(id string) error{
		"replace": func(id string) error {
			_, err := b.ReplaceItem(ctx, partitionP, id, item{"id": id, "pk": "p"}.bytes(t), nil)
			return err
		},
		"upsert": func(id string) error {
			_, err := b.UpsertItem(ctx, partitionP, item{"id": id, "pk": "p"}.bytes(t), nil)
			return err
		},
		"patch": func(id string) error {
			var ops azcosmos.PatchOperations
			ops.AppendSet("/pk2", "same")
			_, err := b.PatchItem(ctx, partitionP, id, ops, nil)
			return err
		},
		"batch": func(id string) error {
			batch := b.NewTransactionalBatch(partitionP)
			batch.UpsertItem(item{"id": id, "pk": "p"}.bytes(t), nil)
			_, err := b.ExecuteTransactionalBatch(ctx, batch, nil)
			return err
		},
	}
	stays := map[string]func(id string) error{
		"nothing": func(string) error { return nil },
		"read": func(id string) error {
			_, err := b.ReadItem(ctx, partitionP, id, nil)
			return err
		},
		"failed guard": func(id string) error {
			_, err := b.ReplaceItem(ctx, partitionP, id, item{"id": id, "pk": "p"}.bytes(t),
				&azcosmos.ItemOptions{IfMatchEtag: &stale})
			wantStatus(t, "failed guard", err, http.StatusPreconditionFailed)
			return nil
		},
		"failed batch": func(id string) error {
			batch := b.NewTransactionalBatch(partitionP)
			batch.UpsertItem(item{"id": id, "pk": "p"}.bytes(t), nil)
			batch.ReadItem("absent", nil)
			_, err := b.ExecuteTransactionalBatch(ctx, batch, nil)
			return err
		},
		"container": func(string) error { b.setPolicy(t, ptr(int32(10))); return nil },
	}
	var all, moved []string
	for _, group := range []map[string]func(string) error{moves, stays} {
		for id := range group {
			all = append(all, id)
			b.create(t, item{"id": id})
		}
	}
	s.advance(t, 9*time.Second)
	for id, f := range moves {
		moved = append(moved, id)
		ok(t, id, f(id))
	}
	for id, f := range stays {
		ok(t, id, f(id))
	}
	b.wantLiving(t, "second 9", all, all)
	s.advance(t, time.Second)
	b.wantLiving(t, "second 10", all, moved)
	s.advance(t, 9*time.Second)
	b.wantLiving(t, "second 19", all, nil)
}

// An expired item answers every operation as one that never was (T-15, T-16).
func TestExpiredIsAbsent(t *testing.T) {
	s := virtual(t)
	ctx := within(t, patience)
	unique := &azcosmos.UniqueKeyPolicy{UniqueKeys: []azcosmos.UniqueKey{{Paths: []string{"/email"}}}}
	anyone := azcore.ETag("*")

	// Each operation works on an item called "x" whose ETag was once etag.
	operations := []struct {
		name string
		want int
		do   func(b *box, etag azcore.ETag) (int, error)
	}{
		{"read", 404, func(b *box, _ azcore.ETag) (int, error) {
			r, err := b.ReadItem(ctx, partitionP, "x", nil)
			return code(r.RawResponse), err
		}},
		{"read if changed", 404, func(b *box, etag azcore.ETag) (int, error) {
			return b.server.do(t, "GET", b.path+"/docs/x", nil, keyed("p"),
				header{"If-None-Match", string(etag)}).status, nil
		}},
		{"create", 201, func(b *box, _ azcore.ETag) (int, error) {
			r, err := b.CreateItem(ctx, partitionP, []byte(`{"id":"x","pk":"p"}`), nil)
			return code(r.RawResponse), err
		}},
		{"create another with its unique key", 201, func(b *box, _ azcore.ETag) (int, error) {
			r, err := b.CreateItem(ctx, partitionP, []byte(`{"id":"y","pk":"p","email":"taken"}`), nil)
			return code(r.RawResponse), err
		}},
		{"upsert", 201, func(b *box, _ azcore.ETag) (int, error) {
			r, err := b.UpsertItem(ctx, partitionP, []byte(`{"id":"x","pk":"p"}`), nil)
			return code(r.RawResponse), err
		}},
		{"upsert with its ETag", 201, func(b *box, etag azcore.ETag) (int, error) {
			r, err := b.UpsertItem(ctx, partitionP, []byte(`{"id":"x","pk":"p"}`),
				&azcosmos.ItemOptions{IfMatchEtag: &etag})
			return code(r.RawResponse), err
		}},
		{"replace", 404, func(b *box, _ azcore.ETag) (int, error) {
			r, err := b.ReplaceItem(ctx, partitionP, "x", []byte(`{"id":"x","pk":"p"}`), nil)
			return code(r.RawResponse), err
		}},
		{"replace with its ETag", 404, func(b *box, etag azcore.ETag) (int, error) {
			r, err := b.ReplaceItem(ctx, partitionP, "x", []byte(`{"id":"x","pk":"p"}`),
				&azcosmos.ItemOptions{IfMatchEtag: &etag})
			return code(r.RawResponse), err
		}},
		{"patch", 404, func(b *box, _ azcore.ETag) (int, error) {
			var ops azcosmos.PatchOperations
			ops.AppendSet("/ttl", -1)
			r, err := b.PatchItem(ctx, partitionP, "x", ops, nil)
			return code(r.RawResponse), err
		}},
		{"patch with a condition", 404, func(b *box, _ azcore.ETag) (int, error) {
			var ops azcosmos.PatchOperations
			ops.SetCondition("FROM c WHERE c.email = 'taken'")
			ops.AppendSet("/ttl", -1)
			r, err := b.PatchItem(ctx, partitionP, "x", ops, nil)
			return code(r.RawResponse), err
		}},
		{"delete", 404, func(b *box, _ azcore.ETag) (int, error) {
			r, err := b.DeleteItem(ctx, partitionP, "x", nil)
			return code(r.RawResponse), err
		}},
		{"delete with any ETag", 404, func(b *box, _ azcore.ETag) (int, error) {
			r, err := b.DeleteItem(ctx, partitionP, "x", &azcosmos.ItemOptions{IfMatchEtag: &anyone})
			return code(r.RawResponse), err
		}},
		{"read in a batch", 207, func(b *box, _ azcore.ETag) (int, error) {
			batch := b.NewTransactionalBatch(partitionP)
			batch.ReadItem("x", nil)
			batch.CreateItem([]byte(`{"id":"z","pk":"p"}`), nil)
			r, err := b.ExecuteTransactionalBatch(ctx, batch, nil)
			if err == nil && !slices.Equal(codes(r), []int32{404, 424}) {
				t.Errorf("batch: codes %v, want 404 424", codes(r))
			}
			return code(r.RawResponse), err
		}},
		{"create in a batch", 200, func(b *box, _ azcore.ETag) (int, error) {
			batch := b.NewTransactionalBatch(partitionP)
			batch.CreateItem([]byte(`{"id":"x","pk":"p","email":"taken"}`), nil)
			r, err := b.ExecuteTransactionalBatch(ctx, batch, nil)
			return code(r.RawResponse), err
		}},
	}
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			expired := newBox(t, s,
				azcosmos.ContainerProperties{DefaultTimeToLive: ptr(int32(10)), UniqueKeyPolicy: unique})
			never := newBox(t, s,
				azcosmos.ContainerProperties{DefaultTimeToLive: ptr(int32(10)), UniqueKeyPolicy: unique})
			old := expired.create(t, item{"id": "x", "email": "taken"})
			s.advance(t, 10*time.Second)
			etag := azcore.ETag(old["_etag"].(string))
			outcome := func(b *box) int {
				got, err := op.do(b, etag)
				if err != nil {
					return status(t, err)
				}
				return got
			}
			if got, base := outcome(expired), outcome(never); got != base || got != op.want {
				t.Errorf("expired: %d, never written: %d, want %d", got, base, op.want)
			}
			if _, now := expired.read(t, "x"); now != nil {
				if now["_rid"] == old["_rid"] || now["_etag"] == old["_etag"] {
					t.Errorf("the new item has the RID or the ETag of the old: %v, %v", now, old)
				}
				if now["email"] != nil && op.name != "create in a batch" {
					t.Errorf("the new item has the old content: %v", now)
				}
			}
		})
	}
}

func code(r *http.Response) int {
	if r == nil {
		return 0
	}
	return r.StatusCode
}
