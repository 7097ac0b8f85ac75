package copying_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/mayflydb/mayfly/internal/copying"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/node"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// A box is a mayfly on a virtual clock, and its official client.
type box struct {
	testing.TB
	n      *node.Node
	client *azcosmos.Client
}

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newBox(t testing.TB) *box {
	t.Helper()
	return startBox(t, node.TLS{Off: true})
}

func startBox(t testing.TB, secure node.TLS) *box {
	t.Helper()
	return startDivided(t, secure, 1)
}

// startDivided starts a box whose new containers have so many ranges.
func startDivided(t testing.TB, secure node.TLS, partitions int) *box {
	t.Helper()
	b := &box{TB: t}
	engine, err := pebble.Open(pebble.Options{Memory: true})
	b.ok(err)
	b.n, err = node.Start(t.Context(), node.Options{
		Engine: engine, NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0",
		Mongo:   node.Mongo{Address: "127.0.0.1:0", TestCommands: true},
		Virtual: true, VirtualStart: begin, TLS: secure, Partitions: partitions,
	})
	b.ok(err)
	t.Cleanup(func() {
		if err := b.n.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	credential, err := azcosmos.NewKeyCredential(b.n.Key())
	b.ok(err)
	// A port with a certificate of its own accepts plain connections, too.
	plain := strings.Replace(b.n.Endpoint(), "https://", "http://", 1)
	b.client, err = azcosmos.NewClientWithKey(plain, credential, nil)
	b.ok(err)
	return b
}

func (b *box) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// advance moves the clocks of boxes together.
func advance(d time.Duration, boxes ...*box) {
	for _, b := range boxes {
		b.Helper()
		_, err := b.n.Move(b.Context(), func(now time.Time) time.Time { return now.Add(d) })
		b.ok(err)
	}
}

// admin sends requests to the admin API.
func (b *box) admin(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(b.n.AdminURL(), "/")+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode < 300 {
		return response, err
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return nil, fmt.Errorf("%s: %s", response.Status, text)
}

var _ transfer.Sender = (*box)(nil).admin

// nosql is an endpoint with these names.
func (b *box) nosql(names string) copying.Endpoint {
	b.Helper()
	e, err := copying.ParseEndpoint(strings.TrimSuffix(b.n.Endpoint(), "/") + "/" + names)
	b.ok(err)
	e.Key = b.n.Key()
	return e
}

// create makes a container with properties as the REST API has them.
func (b *box) create(db string, properties azcosmos.ContainerProperties) *azcosmos.ContainerClient {
	b.Helper()
	_, err := b.client.CreateDatabase(b.Context(), azcosmos.DatabaseProperties{ID: db}, nil)
	if err != nil && !strings.Contains(err.Error(), "409") {
		b.Fatal(err)
	}
	database, err := b.client.NewDatabase(db)
	b.ok(err)
	if properties.PartitionKeyDefinition.Paths == nil {
		properties.PartitionKeyDefinition = azcosmos.PartitionKeyDefinition{
			Kind: azcosmos.PartitionKeyKindHash, Paths: []string{"/pk"}, Version: 2,
		}
	}
	_, err = database.CreateContainer(b.Context(), properties, nil)
	b.ok(err)
	return b.container(db, properties.ID)
}

func (b *box) container(db, id string) *azcosmos.ContainerClient {
	b.Helper()
	c, err := b.client.NewContainer(db, id)
	b.ok(err)
	return c
}

func put(t testing.TB, c *azcosmos.ContainerClient, pk string, body string) {
	t.Helper()
	if _, err := c.UpsertItem(t.Context(), azcosmos.NewPartitionKeyString(pk), []byte(body), nil); err != nil {
		t.Fatal(err)
	}
}

// living gives the ids in a container, in order.
func living(t testing.TB, c *azcosmos.ContainerClient) string {
	t.Helper()
	var ids []string
	for pages := c.NewQueryItemsPager("SELECT VALUE c.id FROM c", azcosmos.NewPartitionKey(), nil); pages.More(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Items {
			var id string
			if err := json.Unmarshal(row, &id); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func seconds(n int32) *int32 { return &n }

// Every kind of life ends at its second on both sides, with new stamps and with those of the source.
func TestLivesOfItems(t *testing.T) {
	for _, admin := range []bool{false, true} {
		t.Run(fmt.Sprint("admin=", admin), func(t *testing.T) {
			from, to := newBox(t), newBox(t)
			days := from.create("shop", azcosmos.ContainerProperties{ID: "hundred", DefaultTimeToLive: seconds(100)})
			own := from.create("shop", azcosmos.ContainerProperties{ID: "own", DefaultTimeToLive: seconds(-1)})
			off := from.create("shop", azcosmos.ContainerProperties{ID: "off"})
			for _, c := range []*azcosmos.ContainerClient{days, own, off} {
				put(t, c, "k", `{"id":"default","pk":"k"}`)
				put(t, c, "k", `{"id":"shorter","pk":"k","ttl":50}`)
				put(t, c, "k", `{"id":"longer","pk":"k","ttl":150}`)
				put(t, c, "k", `{"id":"ever","pk":"k","ttl":-1}`)
				put(t, c, "k", `{"id":"gone","pk":"k","ttl":20}`)
			}
			advance(30*time.Second, from, to)
			for _, c := range []*azcosmos.ContainerClient{days, own, off} {
				put(t, c, "k", `{"id":"late","pk":"k"}`)
			}
			o := copying.Options{From: from.nosql("shop"), To: to.nosql("store"), Compare: true}
			if admin {
				o.ToAdmin = to.admin
			}
			advance(7*time.Second, from, to)
			result, err := copying.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range result.Containers {
				if p.Different > 0 || !p.Created || p.Written != p.Read || p.Compared != p.Read {
					t.Errorf("%+v", p)
				}
			}
			for second := 37; second <= 200; second++ {
				for _, c := range []string{"hundred", "own", "off"} {
					a, b := living(t, from.container("shop", c)), living(t, to.container("store", c))
					if a != b {
						t.Fatalf("%s after %d s: %s in the source, %s in the target", c, second, a, b)
					}
				}
				step := 1
				if second > 52 && second < 98 || second > 102 && second < 128 || second > 152 {
					step = 2
				}
				second += step - 1
				advance(time.Duration(step)*time.Second, from, to)
			}
			if got := living(t, to.container("store", "hundred")); got != "ever" {
				t.Errorf("at the end there is %q", got)
			}
		})
	}
}

// A target whose clock is ahead writes nothing that is over there.
func TestOverdue(t *testing.T) {
	from, to := newBox(t), newBox(t)
	c := from.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(60)})
	put(t, c, "k", `{"id":"a","pk":"k"}`)
	put(t, c, "k", `{"id":"b","pk":"k","ttl":61}`)
	advance(time.Minute, to)
	o := copying.Options{From: from.nosql("shop/carts"), To: to.nosql("shop/other")}
	result, err := copying.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if p := result.Containers[0]; p.Overdue != 1 || p.Written != 1 || p.To != "shop/other" {
		t.Errorf("%+v", p)
	}
	other := to.container("shop", "other")
	if got := living(t, other); got != "b" {
		t.Errorf("the target has %q", got)
	}
	advance(time.Second, to)
	if got := living(t, other); got != "" {
		t.Errorf("a second later it has %q", got)
	}
}

func TestLivesRestart(t *testing.T) {
	from, to := newBox(t), newBox(t)
	c := from.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(60)})
	put(t, c, "k", `{"id":"a","pk":"k"}`)
	advance(50*time.Second, from, to)
	o := copying.Options{
		From: from.nosql("shop/carts"), To: to.nosql("shop"), Lives: copying.RestartLives, Compare: true,
	}
	result, err := copying.Run(t.Context(), o)
	if err != nil || result.Differences() != 0 {
		t.Fatal(result, err)
	}
	advance(59*time.Second, to)
	if got := living(t, to.container("shop", "carts")); got != "a" {
		t.Errorf("before its new end: %q", got)
	}
	advance(time.Second, to)
	if got := living(t, to.container("shop", "carts")); got != "" {
		t.Errorf("at its new end: %q", got)
	}
}

// Partition keys of every kind arrive, with characters that a header cannot have.
func TestPartitionKeys(t *testing.T) {
	from, to := newBox(t), newBox(t)
	plain := from.create("d", azcosmos.ContainerProperties{ID: "plain"})
	put(t, plain, "k", `{"id":"1","pk":"k","n":9007199254740993,"b":1.50,"text":"<&> ü"}`)
	ctx := t.Context()
	for pk, body := range map[*azcosmos.PartitionKey]string{
		new(azcosmos.NewPartitionKeyNumber(1.5)): `{"id":"2","pk":1.5}`,
		new(azcosmos.NewPartitionKeyBool(true)):  `{"id":"3","pk":true}`,
		new(azcosmos.NullPartitionKey):           `{"id":"4","pk":null}`,
	} {
		_, err := plain.UpsertItem(ctx, *pk, []byte(body), nil)
		from.ok(err)
	}
	lines := `{"id":"5"}` + "\n" + `{"id":"6","pk":"😀 \" ü"}` + "\n"
	remote := &transfer.Remote{Send: from.admin, Database: "d", Container: "plain"}
	way := transfer.Way{Stamps: transfer.NewStamps, OnConflict: transfer.SkipExisting}
	_, err := remote.Import(ctx, []byte(lines), way)
	from.ok(err)
	hierarchy := azcosmos.PartitionKeyDefinition{
		Kind: azcosmos.PartitionKeyKindMultiHash, Paths: []string{"/a/b", "/c"}, Version: 2,
	}
	deep := from.create("d", azcosmos.ContainerProperties{ID: "deep", PartitionKeyDefinition: hierarchy})
	key := azcosmos.NewPartitionKeyString("x").AppendNumber(7)
	_, err = deep.UpsertItem(ctx, key, []byte(`{"id":"1","a":{"b":"x"},"c":7}`), nil)
	from.ok(err)
	o := copying.Options{From: from.nosql(""), To: to.nosql(""), Compare: true}
	result, err := copying.Run(ctx, o)
	from.ok(err)
	if result.Differences() != 0 || len(result.Containers) != 2 {
		t.Fatalf("%+v", result)
	}
	if got := living(t, to.container("d", "plain")); got != "1 2 3 4 5 6" {
		t.Errorf("the target has %q", got)
	}
	if got := living(t, to.container("d", "deep")); got != "1" {
		t.Errorf("the target has %q", got)
	}
}

// A copy that is interrupted again and again goes on, and writes nothing twice.
func TestInterrupted(t *testing.T) {
	for _, admin := range []bool{false, true} {
		t.Run(fmt.Sprint("admin=", admin), func(t *testing.T) {
			from, to := newBox(t), newBox(t)
			c := from.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(1000)})
			for n := range 120 {
				put(t, c, "k", fmt.Sprintf(`{"id":"%03d","pk":"k"}`, n))
			}
			file := filepath.Join(t.TempDir(), "checkpoint")
			o := copying.Options{
				From: from.nosql("shop"), To: to.nosql("shop"), Batch: 25, Checkpoint: file, Compare: true,
			}
			if admin {
				o.ToAdmin = to.admin
			}
			for runs := int64(0); ; runs++ {
				ctx, stop := context.WithCancel(t.Context())
				o.Progress = func(_ string, read, _ int64) {
					if read > runs*50 && read < 120 {
						stop()
					}
				}
				result, err := copying.Run(ctx, o)
				stop()
				if err == nil {
					p := result.Containers[0]
					if runs < 2 || p.Read != 120 || p.Written != 120 || p.Skipped != 0 || p.Different != 0 {
						t.Errorf("after %d interruptions: %+v", runs, p)
					}
					break
				}
				if !errors.Is(err, context.Canceled) || runs > 10 {
					t.Fatal(err)
				}
				if _, err := os.Stat(file); err != nil {
					t.Fatal("no checkpoint:", err)
				}
				advance(time.Second, from, to)
			}
			if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
				t.Error("the checkpoint is left:", err)
			}
		})
	}
}

func TestCheckpointOfAnotherCopy(t *testing.T) {
	from, to := newBox(t), newBox(t)
	from.create("shop", azcosmos.ContainerProperties{ID: "carts"})
	file := filepath.Join(t.TempDir(), "checkpoint")
	from.ok(os.WriteFile(file, []byte(`{"from":"https://a/b","to":"https://c/d","lives":"keep","containers":{}}`), 0o600))
	o := copying.Options{From: from.nosql("shop"), To: to.nosql("shop"), Checkpoint: file}
	if _, err := copying.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another copy") {
		t.Errorf("error %v", err)
	}
	o.Restart = true
	if _, err := copying.Run(t.Context(), o); err != nil {
		t.Error(err)
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	from, to := newBox(t), newBox(t)
	c := from.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(60)})
	put(t, c, "k", `{"id":"a","pk":"k"}`)
	o := copying.Options{From: from.nosql("shop"), To: to.nosql("shop"), DryRun: true, Compare: true}
	result, err := copying.Run(t.Context(), o)
	from.ok(err)
	if p := result.Containers[0]; !p.Created || p.Read != 1 || p.Written != 1 {
		t.Errorf("%+v", p)
	}
	for pages := to.client.NewQueryDatabasesPager("SELECT * FROM c", nil); pages.More(); {
		page, err := pages.NextPage(t.Context())
		to.ok(err)
		if len(page.Databases) > 0 {
			t.Errorf("the target has %v", page.Databases)
		}
	}
}

// A container that differs is refused, and used with IntoExisting: lives still end when they end at the source.
func TestTargetThatDiffers(t *testing.T) {
	from, to := newBox(t), newBox(t)
	c := from.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(60)})
	put(t, c, "k", `{"id":"a","pk":"k"}`)
	put(t, c, "k", `{"id":"ever","pk":"k","ttl":-1}`)
	to.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(5)})
	o := copying.Options{From: from.nosql("shop"), To: to.nosql("shop"), Compare: true}
	_, err := copying.Run(t.Context(), o)
	different, ok := errors.AsType[*copying.DifferentError](err)
	if !ok || len(different.What) != 1 || !strings.HasPrefix(different.What[0], "defaultTtl:") {
		t.Fatalf("error %v", err)
	}
	if got := living(t, to.container("shop", "carts")); got != "" {
		t.Errorf("the target has %q", got)
	}
	o.IntoExisting = true
	result, err := copying.Run(t.Context(), o)
	if err != nil || result.Differences() != 0 {
		t.Fatal(result, err)
	}
	advance(59*time.Second, to)
	if got := living(t, to.container("shop", "carts")); got != "a ever" {
		t.Errorf("a second before the end the target has %q", got)
	}
	advance(time.Second, to)
	if got := living(t, to.container("shop", "carts")); got != "ever" {
		t.Errorf("at the end the target has %q", got)
	}
}

func TestTargetWithoutTTL(t *testing.T) {
	from, to := newBox(t), newBox(t)
	from.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(60)})
	to.create("shop", azcosmos.ContainerProperties{ID: "carts"})
	o := copying.Options{From: from.nosql("shop"), To: to.nosql("shop"), IntoExisting: true}
	if _, err := copying.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "TTL is off") {
		t.Errorf("error %v", err)
	}
}

// One range is what a source has by itself, so the target decides, as when data moves from one machine to a cluster.
// Several ranges are what somebody wanted.
func TestRangesOfTheTarget(t *testing.T) {
	for _, c := range []struct{ source, target, want int }{{1, 8, 8}, {4, 8, 4}, {4, 1, 4}} {
		from, to := startDivided(t, node.TLS{Off: true}, c.source), startDivided(t, node.TLS{Off: true}, c.target)
		from.create("shop", azcosmos.ContainerProperties{ID: "carts"})
		o := copying.Options{From: from.nosql("shop/carts"), To: to.nosql("shop/carts")}
		o.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
		if _, err := copying.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		answer, err := to.container("shop", "carts").Read(t.Context(), nil)
		to.ok(err)
		if got := answer.RawResponse.Header.Get("x-mayfly-partitions"); got != strconv.Itoa(c.want) {
			t.Errorf("%+v: %s ranges", c, got)
		}
	}
}

// Where the target's own rule would decide when items end, or merge partitions, there is no copy.
func TestTargetThatWouldChangeItems(t *testing.T) {
	from, to := newBox(t), newBox(t)
	from.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(60)})
	to.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(5)})
	o := copying.Options{From: from.nosql("shop"), To: to.nosql("shop"), IntoExisting: true, ToAdmin: to.admin}
	if _, err := copying.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another defaultTtl") {
		t.Errorf("another defaultTtl: error %v", err)
	}
	from.create("keys", azcosmos.ContainerProperties{ID: "carts"})
	to.create("keys", azcosmos.ContainerProperties{
		ID: "carts", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/id"}},
	})
	o = copying.Options{From: from.nosql("keys"), To: to.nosql("keys"), IntoExisting: true}
	if _, err := copying.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another partition key") {
		t.Errorf("another partition key: error %v", err)
	}
}

func TestCompareFindsDifferences(t *testing.T) {
	from, to := newBox(t), newBox(t)
	c := from.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(60)})
	put(t, c, "k", `{"id":"a","pk":"k"}`)
	d := to.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(60)})
	put(t, d, "k", `{"id":"mine","pk":"k"}`)
	o := copying.Options{From: from.nosql("shop"), To: to.nosql("shop"), Compare: true}
	result, err := copying.Run(t.Context(), o)
	from.ok(err)
	want := `["k"] mine: only the target has it`
	if p := result.Containers[0]; !p.Checked || p.Different != 1 || p.Differences[0] != want {
		t.Errorf("%+v", p)
	}
	// A dry run compares both sides as they are, and takes the clock of the target.
	put(t, c, "k", `{"id":"b","pk":"k"}`)
	o.DryRun = true
	result, err = copying.Run(t.Context(), o)
	from.ok(err)
	if p := result.Containers[0]; !p.Checked || p.Overdue != 0 || p.Written != 2 || p.Different != 2 {
		t.Errorf("%+v", p)
	}
	advance(time.Minute, to)
	result, err = copying.Run(t.Context(), o)
	from.ok(err)
	if p := result.Containers[0]; p.Overdue != 2 || p.Different != 0 {
		t.Errorf("a minute later: %+v", p)
	}
}

func TestRefused(t *testing.T) {
	parse := func(text string) copying.Endpoint {
		e, err := copying.ParseEndpoint(text)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, c := range []struct{ from, to, want string }{
		{"https://a/d", "mongodb://b/d", "use mayfly export"},
		{"https://a/d", "https://b/d/c", "names more than the source"},
		{"https://a/d", "https://a/d", "the same"},
		{"mongodb://u:p@a/d", "mongodb://u:p@a/", "the same"},
	} {
		_, err := copying.Run(t.Context(), copying.Options{From: parse(c.from), To: parse(c.to)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %s: error %v", c.from, c.to, err)
		}
	}
	for _, text := range []string{
		"", "ftp://a/b", "https:///d", "https://user:secret@a/d", "mongodb://u:secret@a/%zz",
	} {
		if _, err := copying.ParseEndpoint(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
