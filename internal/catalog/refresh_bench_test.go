package catalog_test

import (
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// BenchmarkRefresh brings a process up to date after another one has changed one container of many.
func BenchmarkRefresh(b *testing.B) {
	for _, containers := range []int{10, 1_000, 10_000} {
		s := newStreet(b, 2)
		changing, following := s.houses[0], s.houses[1]
		db := changing.database("d")
		for i := range containers {
			changing.container(db, fmt.Sprint("c", i))
		}
		ct, err := changing.find("d", "c0")
		changing.ok(err)
		following.ok(following.Refresh(ctx))
		b.Run(fmt.Sprintf("containers=%d", containers), func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				b.StopTimer()
				changing.replace(100, ct, func(d *catalog.Definition) { d.TTL = expiry.TTL(1 + i) })
				b.StartTimer()
				following.ok(following.Refresh(ctx))
			}
		})
	}
}
