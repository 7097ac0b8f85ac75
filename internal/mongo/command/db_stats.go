package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/schema"
)

func dbStats(r *request, a *answer) error {
	scale := monitor.ReadScale(&r.Request, "dbStats.scale", r.Get("scale"))
	if r.Err != nil {
		return r.Err
	}
	containers, err := schema.Containers(r.Node, r.DB)
	if err != nil {
		return err
	}
	free := r.Int("freeStorage", 0, 0) != 0
	if r.Err != nil {
		return r.Err
	}
	var collections, views, objects, bytes, indexes, entries int64
	for _, c := range containers {
		if query.ViewOf(c) != nil {
			views++
			continue
		}
		size, err := monitor.SizeOf(&r.Request, c)
		if err != nil {
			return err
		}
		collections++
		objects, bytes = objects+int64(size.Documents), bytes+int64(size.Bytes)
		list, total, err := monitor.SizesOfIndexes(&r.Request, c, size.Documents)
		if err != nil {
			return err
		}
		indexes, entries = indexes+int64(len(list)), entries+total
	}
	average := 0.0
	if objects > 0 {
		average = float64(bytes) / float64(objects)
	}
	scaled := float64(bytes) / float64(scale)
	a.String("db", r.DB)
	a.Int64("collections", collections)
	a.Int64("views", views)
	a.Int64("objects", objects)
	a.Double("avgObjSize", average)
	a.Double("dataSize", scaled)
	a.Double("storageSize", scaled)
	if free {
		a.Double("freeStorageSize", 0)
	}
	a.Int64("indexes", indexes)
	a.Double("indexSize", float64(entries)/float64(scale))
	if free {
		a.Double("indexFreeStorageSize", 0)
	}
	a.Double("totalSize", float64(bytes+entries)/float64(scale))
	if free {
		a.Double("totalFreeStorageSize", 0)
	}
	a.Int64("scaleFactor", scale)
	return nil
}
