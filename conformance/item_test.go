package conformance

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func TestItems(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	ctx := within(t, patience)
	body := item{"id": "1", "pk": "p", "n": 1, "deep": item{"list": []any{1, "two", nil, true, 2.5}}}

	silent, err := b.CreateItem(ctx, partitionP, body.bytes(t), nil)
	ok(t, "create", err)
	if len(silent.Value) != 0 || silent.RawResponse.StatusCode != http.StatusCreated {
		t.Errorf("create: status %d, body %q; the SDK asked for none", silent.RawResponse.StatusCode, silent.Value)
	}
	if silent.SessionToken == nil || silent.RequestCharge <= 0 || silent.ActivityID == "" || silent.ETag == "" {
		t.Errorf("create: session %v, charge %v, activity %q, etag %q", silent.SessionToken, silent.RequestCharge,
			silent.ActivityID, silent.ETag)
	}
	_, err = b.CreateItem(ctx, partitionP, body.bytes(t), nil)
	wantStatus(t, "create it twice", err, http.StatusConflict)

	read, err := b.ReadItem(ctx, partitionP, "1", nil)
	ok(t, "read", err)
	stored := parse(t, read.Value)
	for _, system := range []string{"_rid", "_self", "_etag", "_attachments", "_ts"} {
		if stored[system] == nil {
			t.Errorf("read: no %s in %s", system, read.Value)
		}
	}
	if stored["_etag"] != string(silent.ETag) || read.ETag != silent.ETag {
		t.Errorf("etags: written %s, header %s, body %v", silent.ETag, read.ETag, stored["_etag"])
	}

	body["n"] = 2
	replaced, err := b.ReplaceItem(ctx, partitionP, "1", body.bytes(t), withBody)
	ok(t, "replace", err)
	if replaced.RawResponse.StatusCode != http.StatusOK || parse(t, replaced.Value)["n"] != 2.0 {
		t.Errorf("replace: %d %s", replaced.RawResponse.StatusCode, replaced.Value)
	}
	if parse(t, replaced.Value)["_rid"] != stored["_rid"] || replaced.ETag == read.ETag {
		t.Error("replace must keep the RID and change the ETag")
	}

	for id, want := range map[string]int{"1": http.StatusOK, "2": http.StatusCreated} {
		body["id"] = id
		upserted, err := b.UpsertItem(ctx, partitionP, body.bytes(t), nil)
		ok(t, "upsert", err)
		if upserted.RawResponse.StatusCode != want {
			t.Errorf("upsert %s: %d, want %d", id, upserted.RawResponse.StatusCode, want)
		}
	}

	deleted, err := b.DeleteItem(ctx, partitionP, "1", nil)
	ok(t, "delete", err)
	if deleted.RawResponse.StatusCode != http.StatusNoContent {
		t.Errorf("delete: %d", deleted.RawResponse.StatusCode)
	}
	_, err = b.DeleteItem(ctx, partitionP, "1", nil)
	wantStatus(t, "delete twice", err, http.StatusNotFound)
	body["id"] = "1"
	_, err = b.ReplaceItem(ctx, partitionP, "1", body.bytes(t), nil)
	wantStatus(t, "replace a missing one", err, http.StatusNotFound)
	_, err = b.ReadItem(ctx, partitionP, "1", nil)
	wantStatus(t, "read a missing one", err, http.StatusNotFound)
}

func TestItemBytesAreKept(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	ctx := within(t, patience)
	const written = `{"zeta":1,"id":"order","alpha":{"y":[],"x":{}},"pk":"p","big":9007199254740993,"min":-9223372036854775808,` +
		`"half":0.5,"text":"tab\tquote\" é 😀","null":null,"yes":true`
	_, err := b.CreateItem(ctx, partitionP, []byte(written+"}"), nil)
	ok(t, "create", err)
	read, err := b.ReadItem(ctx, partitionP, "order", nil)
	ok(t, "read", err)
	if !bytes.HasPrefix(read.Value, []byte(written+`,"_rid":`)) {
		t.Errorf("wrote %s}\nread  %s", written, read.Value)
	}
}

func TestETags(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	ctx := within(t, patience)
	first := b.create(t, item{"id": "1", "n": 1})
	stale := azcore.ETag(first["_etag"].(string))
	if !strings.HasPrefix(string(stale), `"`) {
		t.Errorf("etag %s is not quoted", stale)
	}
	body := item{"id": "1", "pk": "p", "n": 2}.bytes(t)
	second, err := b.ReplaceItem(ctx, partitionP, "1", body, &azcosmos.ItemOptions{IfMatchEtag: &stale})
	ok(t, "replace with the current etag", err)

	guarded := &azcosmos.ItemOptions{IfMatchEtag: &stale}
	_, err = b.ReplaceItem(ctx, partitionP, "1", body, guarded)
	wantStatus(t, "replace with a stale etag", err, http.StatusPreconditionFailed)
	_, err = b.UpsertItem(ctx, partitionP, body, guarded)
	wantStatus(t, "upsert with a stale etag", err, http.StatusPreconditionFailed)
	var ops azcosmos.PatchOperations
	ops.AppendSet("/n", 3)
	_, err = b.PatchItem(ctx, partitionP, "1", ops, guarded)
	wantStatus(t, "patch with a stale etag", err, http.StatusPreconditionFailed)
	_, err = b.DeleteItem(ctx, partitionP, "1", guarded)
	wantStatus(t, "delete with a stale etag", err, http.StatusPreconditionFailed)

	unchanged := b.server.do(t, "GET", b.path+"/docs/1", nil, keyed("p"), header{"If-None-Match", string(second.ETag)})
	if unchanged.status != http.StatusNotModified || len(unchanged.body) != 0 {
		t.Errorf("read unchanged: %d %s", unchanged.status, unchanged.body)
	}
	changed := b.server.do(t, "GET", b.path+"/docs/1", nil, keyed("p"), header{"If-None-Match", string(stale)})
	if changed.status != http.StatusOK {
		t.Errorf("read changed: %d", changed.status)
	}
	_, err = b.DeleteItem(ctx, partitionP, "1", &azcosmos.ItemOptions{IfMatchEtag: &second.ETag})
	ok(t, "delete with the current etag", err)
}

func TestPatch(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	ctx := within(t, patience)
	b.create(t, item{"id": "1", "n": 1, "name": "a", "list": []any{1, 2}, "old": true, "deep": item{"x": 1}})

	var ops azcosmos.PatchOperations
	ops.AppendSet("/set", "new")
	ops.AppendAdd("/list/1", "between")
	ops.AppendAdd("/list/-", "last")
	ops.AppendReplace("/name", "b")
	ops.AppendRemove("/old")
	ops.AppendIncrement("/n", 41)
	ops.AppendIncrement("/fresh", 5)
	ops.AppendSet("/deep/y", []int{1})
	patched, err := b.PatchItem(ctx, partitionP, "1", ops, withBody)
	ok(t, "patch", err)
	want := `{"deep":{"x":1,"y":[1]},"id":"1","list":[1,"between",2,"last"],"n":42,"name":"b",`
	if !strings.Contains(string(patched.Value), want) {
		t.Errorf("patched: %s\nwant in it: %s", patched.Value, want)
	}
	got := parse(t, patched.Value)
	if got["set"] != "new" || got["fresh"] != 5.0 || got["old"] != nil {
		t.Errorf("patched: %v", got)
	}

	t.Run("condition", func(t *testing.T) {
		for condition, want := range map[string]int{
			"FROM c WHERE c.n = 42":                  http.StatusOK,
			"from c where c.n = 41":                  http.StatusPreconditionFailed,
			"FROM c WHERE c.name = 'b' AND c.n > 40": http.StatusOK,
			"FROM c WHERE NOT IS_DEFINED(c.set)":     http.StatusPreconditionFailed,
		} {
			var ops azcosmos.PatchOperations
			ops.SetCondition(condition)
			ops.AppendSet("/seen", condition)
			r, err := b.PatchItem(ctx, partitionP, "1", ops, nil)
			got := 0
			if err != nil {
				got = status(t, err)
			} else {
				got = r.RawResponse.StatusCode
			}
			if got != want {
				t.Errorf("%s: %d, want %d", condition, got, want)
			}
		}
	})
	t.Run("refused", func(t *testing.T) {
		for name, apply := range map[string]func(*azcosmos.PatchOperations){
			"replace a missing path": func(p *azcosmos.PatchOperations) { p.AppendReplace("/absent", 1) },
			"remove a missing path":  func(p *azcosmos.PatchOperations) { p.AppendRemove("/absent") },
			"increment a string":     func(p *azcosmos.PatchOperations) { p.AppendIncrement("/name", 1) },
			"set the id":             func(p *azcosmos.PatchOperations) { p.AppendSet("/id", "2") },
			"set the partition key":  func(p *azcosmos.PatchOperations) { p.AppendSet("/pk", "q") },
			"set the stamp":          func(p *azcosmos.PatchOperations) { p.AppendSet("/_ts", 1) },
			"eleven operations": func(p *azcosmos.PatchOperations) {
				for range 11 {
					p.AppendSet("/x", 1)
				}
			},
		} {
			var ops azcosmos.PatchOperations
			apply(&ops)
			_, err := b.PatchItem(ctx, partitionP, "1", ops, nil)
			wantStatus(t, name, err, http.StatusBadRequest)
		}
	})
	t.Run("move", func(t *testing.T) {
		moved := b.server.do(t, "PATCH", b.path+"/docs/1",
			`{"operations":[{"op":"move","from":"/name","path":"/deep/name"}]}`, keyed("p"))
		if deep, _ := moved.object()["deep"].(map[string]any); moved.status != http.StatusOK || deep["name"] != "b" {
			t.Errorf("move: %d %s", moved.status, moved.body)
		}
	})
	_, err = b.PatchItem(ctx, partitionP, "absent", ops, nil)
	wantStatus(t, "patch a missing item", err, http.StatusNotFound)
}

func TestSessionTokens(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	ctx := within(t, patience)
	written, err := b.CreateItem(ctx, partitionP, item{"id": "1", "pk": "p"}.bytes(t), nil)
	ok(t, "create", err)
	if written.SessionToken == nil || !strings.HasPrefix(*written.SessionToken, "0:") {
		t.Fatalf("session token: %v", written.SessionToken)
	}
	read, err := b.ReadItem(ctx, partitionP, "1", &azcosmos.ItemOptions{
		SessionToken:     written.SessionToken,
		ConsistencyLevel: azcosmos.ConsistencyLevelSession.ToPtr(),
	})
	ok(t, "read in the session", err)
	if read.SessionToken == nil {
		t.Error("a read without a session token")
	}
	_, err = b.ReadItem(ctx, partitionP, "1",
		&azcosmos.ItemOptions{ConsistencyLevel: azcosmos.ConsistencyLevelEventual.ToPtr()})
	ok(t, "read with a weaker level", err)
	_, err = b.ReadItem(ctx, partitionP, "1",
		&azcosmos.ItemOptions{ConsistencyLevel: azcosmos.ConsistencyLevelStrong.ToPtr()})
	wantStatus(t, "read with a stronger level", err, http.StatusBadRequest)

	missing := b.server.do(t, "GET", b.path+"/docs/absent", nil, keyed("p"))
	if missing.status != http.StatusNotFound || missing.header.Get("x-ms-session-token") == "" {
		t.Errorf("a 404 must carry the session token: %d %v", missing.status, missing.header)
	}
}

func TestReadFeedPages(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	for _, id := range []string{"e", "d", "c", "b", "a"} {
		b.create(t, item{"id": id, "pk": id})
	}
	if got := strings.Join(listed(t, b.server, b.path+"/docs", "Documents"), ""); got != "edcba" {
		t.Errorf("read feed: %s, want the order of creation, edcba", got)
	}
	one := b.server.do(t, "GET", b.path+"/docs", nil, keyed("c"))
	if got := one.items(); len(got) != 1 || got[0]["id"] != "c" {
		t.Errorf("feed of one partition: %s", one.body)
	}
	if one.header.Get("x-ms-item-count") != "1" || one.header.Get("x-ms-continuation") != "" {
		t.Errorf("headers of a last page: %v", one.header)
	}
}
