package command

func dbStats(r *request, a *answer) error {
	scale := r.scale("dbStats.scale", r.get("scale"))
	if r.err != nil {
		return r.err
	}
	containers, err := r.s.containersOf(r.db)
	if err != nil {
		return err
	}
	free := r.int("freeStorage", 0, 0) != 0
	if r.err != nil {
		return r.err
	}
	var collections, views, objects, bytes, indexes, entries int64
	for _, c := range containers {
		if viewOf(c) != nil {
			views++
			continue
		}
		size, err := r.sizeOf(c)
		if err != nil {
			return err
		}
		collections++
		objects, bytes = objects+int64(size.Documents), bytes+int64(size.Bytes)
		list, total, err := r.indexSizes(c, size.Documents)
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
	a.string("db", r.db)
	a.int64("collections", collections)
	a.int64("views", views)
	a.int64("objects", objects)
	a.double("avgObjSize", average)
	a.double("dataSize", scaled)
	a.double("storageSize", scaled)
	if free {
		a.double("freeStorageSize", 0)
	}
	a.int64("indexes", indexes)
	a.double("indexSize", float64(entries)/float64(scale))
	if free {
		a.double("indexFreeStorageSize", 0)
	}
	a.double("totalSize", float64(bytes+entries)/float64(scale))
	if free {
		a.double("totalFreeStorageSize", 0)
	}
	a.int64("scaleFactor", scale)
	return nil
}
