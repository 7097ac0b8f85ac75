package cluster

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/mayflydb/mayfly/conformance/cluster/load"
	"github.com/mayflydb/mayfly/conformance/cluster/stand"
)

// BenchmarkCluster measures inserts and point reads of items of 1 KiB, with every path indexed, through one and three
// mayfly that share a cluster, and through one on its own disk, which is what sharing costs. Clients are spread over
// the processes, and items over the ranges. docs/performance.md has the figures.
//
// The store of the tests does not wait for its disk, so compare with the disk without sync as well.
func BenchmarkCluster(b *testing.B) {
	for _, disk := range []struct{ name, sync string }{{"disk", "on"}, {"disk-without-sync", "off"}} {
		b.Run(disk.name, func(b *testing.B) {
			m := stand.NewMayfly(b, "mayfly", "--data", b.TempDir(), "--sync", disk.sync, "--nosql-tls", "off")
			benchmarkRanges(b, []*stand.Mayfly{m}, 1)
		})
	}
	c := stand.NewCluster(b)
	for _, processes := range []int{1, 3} {
		b.Run(fmt.Sprintf("processes=%d", processes), func(b *testing.B) {
			var list []*stand.Mayfly
			for i := range processes {
				list = append(list, stand.NewMayfly(b, fmt.Sprintf("mayfly%d", i),
					"serve", "--engine", fmt.Sprintf("tikv://%s/bench%d", c.Address, processes),
					"--nosql-tls", "off", "--key", load.Key, "--allow-well-known-key", "--mongo", ""))
			}
			benchmarkRanges(b, list, 1, 4, 16)
		})
	}
}

// BenchmarkClusterReads measures reads of 1,000 items of 1 KiB through one mayfly on a cluster: a query in the order of
// an index, one that selects by it, a transactional batch of 100 reads, and one item.
func BenchmarkClusterReads(b *testing.B) {
	c := stand.NewCluster(b)
	m := stand.NewMayfly(b, "mayfly", "serve", "--engine", fmt.Sprintf("tikv://%s/reads", c.Address),
		"--nosql-tls", "off", "--key", load.Key, "--allow-well-known-key", "--mongo", "")
	container := speedContainers(b, []*stand.Mayfly{m}, 1)[0]
	const items = 1000
	for from := int64(0); from < items; from += 100 {
		batch := container.NewTransactionalBatch(azcosmos.NewPartitionKeyString("0"))
		for i := range int64(100) {
			n := (from + i) * 7 % items // in no order
			batch.CreateItem(fmt.Appendf(nil,
				`{"id":"%d","pk":"0","n":%d,"paid":%t,"text":"%0960d"}`, n, n, n%2 == 0, n), nil)
		}
		if done, err := container.ExecuteTransactionalBatch(b.Context(), batch, nil); err != nil || !done.Success {
			b.Fatal(err)
		}
	}
	query := func(text string, want int) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error {
			pages := container.NewQueryItemsPager(text, azcosmos.NewPartitionKey(), nil)
			got := 0
			for pages.More() {
				page, err := pages.NextPage(ctx)
				if err != nil {
					return err
				}
				got += len(page.Items)
			}
			if got != want {
				return fmt.Errorf("%d items, want %d", got, want)
			}
			return nil
		}
	}
	for _, way := range []struct {
		name string
		do   func(context.Context, int) error
	}{
		{"ordered query", query("SELECT * FROM c ORDER BY c.n", items)},
		{"query", query("SELECT * FROM c WHERE c.paid = true", items/2)},
		{"batch", func(ctx context.Context, _ int) error {
			batch := container.NewTransactionalBatch(azcosmos.NewPartitionKeyString("0"))
			for i := range 100 {
				batch.ReadItem(fmt.Sprint(i), nil)
			}
			done, err := container.ExecuteTransactionalBatch(ctx, batch, nil)
			if err == nil && !done.Success {
				err = fmt.Errorf("the batch has failed")
			}
			return err
		}},
		{"item", func(ctx context.Context, _ int) error {
			_, err := container.ReadItem(ctx, azcosmos.NewPartitionKeyString("0"), "77", nil)
			return err
		}},
	} {
		b.Run(way.name, func(b *testing.B) { measure(b, 1, way.do) })
	}
}

func benchmarkRanges(b *testing.B, list []*stand.Mayfly, ranges ...int) {
	for _, n := range ranges {
		b.Run(fmt.Sprintf("ranges=%d", n), func(b *testing.B) {
			containers := speedContainers(b, list, n)
			var made atomic.Int64
			for _, clients := range []int{1, 8, 32, 128} {
				b.Run(fmt.Sprintf("insert/clients=%d", clients), func(b *testing.B) {
					measure(b, clients, func(ctx context.Context, client int) error {
						i := made.Add(1)
						_, err := containers[client%len(containers)].CreateItem(ctx, speedKey(i), speedItem(i), nil)
						return err
					})
				})
			}
			if made.Load() == 0 { // the inserts were left out
				made.Add(1)
				if _, err := containers[0].CreateItem(b.Context(), speedKey(1), speedItem(1), nil); err != nil {
					b.Fatal(err)
				}
			}
			for _, clients := range []int{1, 8, 32, 128} {
				b.Run(fmt.Sprintf("read/clients=%d", clients), func(b *testing.B) {
					var next atomic.Int64
					measure(b, clients, func(ctx context.Context, client int) error {
						i := next.Add(1)%made.Load() + 1
						_, err := containers[client%len(containers)].ReadItem(ctx, speedKey(i), fmt.Sprint(i), nil)
						return err
					})
				})
			}
		})
	}
}

// speedContainers makes a container, and a client of it for each process.
func speedContainers(b *testing.B, list []*stand.Mayfly, ranges int) (containers []*azcosmos.ContainerClient) {
	b.Helper()
	name := fmt.Sprintf("ranges%d-%d", ranges, time.Now().UnixNano())
	for i, m := range list {
		key, err := azcosmos.NewKeyCredential(load.Key)
		if err != nil {
			b.Fatal(err)
		}
		options := azcosmos.ClientOptions{}
		options.Transport = &http.Client{Transport: partitioned{
			ranges, &http.Transport{MaxIdleConnsPerHost: 128},
		}}
		client, err := azcosmos.NewClientWithKey("http://"+m.NoSQL, key, &options)
		if err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			if _, err := client.CreateDatabase(b.Context(), azcosmos.DatabaseProperties{ID: name}, nil); err != nil {
				b.Fatal(err)
			}
			db, err := client.NewDatabase(name)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := db.CreateContainer(b.Context(), azcosmos.ContainerProperties{
				ID: "items", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}},
			}, nil); err != nil {
				b.Fatal(err)
			}
		}
		container, err := client.NewContainer(name, "items")
		if err != nil {
			b.Fatal(err)
		}
		containers = append(containers, container)
	}
	return containers
}

// partitioned asks for so many ranges, which azcosmos has no option for.
type partitioned struct {
	ranges int
	next   http.RoundTripper
}

func (p partitioned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/colls") {
		r.Header.Set("x-mayfly-partitions", fmt.Sprint(p.ranges))
	}
	return p.next.RoundTrip(r)
}

// speedPartitions are how many partition keys the items have.
const speedPartitions = 1000

func speedKey(i int64) azcosmos.PartitionKey {
	return azcosmos.NewPartitionKeyString(fmt.Sprint(i % speedPartitions))
}

// speedItem has seven members and 1 KiB.
func speedItem(i int64) []byte {
	return fmt.Appendf(nil, `{"id":"%d","pk":"%d","n":%d,"kind":"kind%d","at":%d,"paid":%t,"text":"%0900d"}`,
		i, i%speedPartitions, i, i%10, i*7, i%2 == 0, i)
}

// measure does b.N operations by so many clients, and reports how many a second there were and how long they took.
func measure(b *testing.B, clients int, do func(ctx context.Context, client int) error) {
	b.Helper()
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var running sync.WaitGroup
	b.ResetTimer()
	began := time.Now()
	for client := range clients {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				from := time.Now()
				if err := do(b.Context(), client); err != nil {
					b.Error(err)
					return
				}
				took[i] = time.Since(from)
			}
		})
	}
	running.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "op/s")
	b.ReportMetric(float64(took[b.N/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[b.N*99/100].Microseconds()), "p99-µs")
}
