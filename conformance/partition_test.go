package conformance

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// One id may live once in every partition; each of these keys is its own.
func TestPartitionKeysOfEveryKind(t *testing.T) {
	for _, version := range []int{1, 2} {
		t.Run(map[int]string{1: "version 1", 2: "version 2"}[version], func(t *testing.T) {
			b := newBox(t, shared(t), azcosmos.ContainerProperties{
				PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Version: version},
			})
			ctx := within(t, patience)
			keys := []struct {
				name string
				key  azcosmos.PartitionKey
				body string
			}{
				{"string", azcosmos.NewPartitionKeyString("1"), `{"id":"x","pk":"1"}`},
				{"empty string", azcosmos.NewPartitionKeyString(""), `{"id":"x","pk":""}`},
				{"number", azcosmos.NewPartitionKeyNumber(1), `{"id":"x","pk":1}`},
				{"fraction", azcosmos.NewPartitionKeyNumber(-1.5), `{"id":"x","pk":-1.5}`},
				{"true", azcosmos.NewPartitionKeyBool(true), `{"id":"x","pk":true}`},
				{"false", azcosmos.NewPartitionKeyBool(false), `{"id":"x","pk":false}`},
				{"null", azcosmos.NullPartitionKey, `{"id":"x","pk":null}`},
				{"unicode", azcosmos.NewPartitionKeyString("\a \u007f 鱀 😀"), `{"id":"x","pk":"\u0007 \u007f 鱀 😀"}`},
			}
			for _, k := range keys {
				_, err := b.CreateItem(ctx, k.key, []byte(k.body), nil)
				ok(t, "create with "+k.name, err)
			}
			for _, k := range keys {
				_, err := b.ReadItem(ctx, k.key, "x", nil)
				ok(t, "read with "+k.name, err)
				_, err = b.DeleteItem(ctx, k.key, "x", nil)
				ok(t, "delete with "+k.name, err)
				_, err = b.ReadItem(ctx, k.key, "x", nil)
				wantStatus(t, "read after delete with "+k.name, err, http.StatusNotFound)
			}
			_, err := b.CreateItem(ctx, azcosmos.NewPartitionKeyString("other"), []byte(`{"id":"y","pk":"1"}`), nil)
			wantStatus(t, "header and body differ", err, http.StatusBadRequest)
		})
	}
}

func TestPartitionKeyAbsent(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	none := header{"x-ms-documentdb-partitionkey", "[{}]"}
	made := b.server.do(t, "POST", b.path+"/docs", `{"id":"x"}`, none)
	if made.status != http.StatusCreated {
		t.Fatalf("create without a key value: %d %s", made.status, made.body)
	}
	if got := b.server.do(t, "GET", b.path+"/docs/x", nil, none); got.status != http.StatusOK {
		t.Errorf("read: %d %s", got.status, got.body)
	}
	if got := b.server.do(t, "GET", b.path+"/docs/x", nil,
		header{"x-ms-documentdb-partitionkey", "[null]"}); got.status != http.StatusNotFound {
		t.Errorf("null is another partition than absent: %d", got.status)
	}
	missing := b.server.do(t, "GET", b.path+"/docs/x", nil)
	if missing.status != http.StatusBadRequest || missing.header.Get("x-ms-substatus") != "1001" {
		t.Errorf("no key header: %d/%s, want 400/1001", missing.status, missing.header.Get("x-ms-substatus"))
	}
}

func TestHierarchicalPartitionKeys(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
			Paths: []string{"/tenant", "/user", "/session"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2,
		},
	})
	ctx := within(t, patience)
	key := func(tenant, user string, session float64) azcosmos.PartitionKey {
		return azcosmos.NewPartitionKeyString(tenant).AppendString(user).AppendNumber(session)
	}
	for _, k := range []struct {
		tenant, user string
		session      float64
	}{{"t1", "u1", 1}, {"t1", "u1", 2}, {"t1", "u2", 1}, {"t2", "u1", 1}} {
		_, err := b.CreateItem(ctx, key(k.tenant, k.user, k.session),
			item{"id": "x", "tenant": k.tenant, "user": k.user, "session": k.session}.bytes(t), nil)
		ok(t, "create", err)
	}
	_, err := b.ReadItem(ctx, key("t1", "u1", 2), "x", nil)
	ok(t, "read", err)
	_, err = b.ReadItem(ctx, key("t2", "u2", 1), "x", nil)
	wantStatus(t, "read in another partition", err, http.StatusNotFound)
	_, err = b.ReadItem(ctx, azcosmos.NewPartitionKeyString("t1"), "x", nil)
	wantStatus(t, "point read by a prefix", err, http.StatusBadRequest)

	for prefix, want := range map[string]int{`["t1"]`: 3, `["t1","u1"]`: 2, `["t1","u1",2]`: 1, `["t3"]`: 0} {
		feed := b.server.do(t, "GET", b.path+"/docs", nil, header{"x-ms-documentdb-partitionkey", prefix})
		if got := len(feed.items()); feed.status != http.StatusOK || got != want {
			t.Errorf("feed of prefix %s: %d with %d items, want %d", prefix, feed.status, got, want)
		}
	}
}

func TestDeleteByPartitionKey(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	for _, pk := range []string{"p", "q"} {
		for _, id := range []string{"1", "2", "3"} {
			b.create(t, item{"id": id, "pk": pk})
		}
	}
	gone := b.server.do(t, "POST", b.path+"/operations/partitionkeydelete", "", keyed("p"))
	if gone.status != http.StatusOK {
		t.Fatalf("delete by partition key: %d %s", gone.status, gone.body)
	}
	if left := b.server.do(t, "GET", b.path+"/docs", nil).items(); len(left) != 3 {
		t.Errorf("%d items left, want the 3 of the other partition", len(left))
	}
	if got, _ := b.read(t, "1"); got != http.StatusNotFound {
		t.Errorf("read after: %d", got)
	}
	b.create(t, item{"id": "1"})
}
