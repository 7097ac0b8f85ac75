package command

func init() {
	register("dbStats", command{run: dbStats, help: "Tells how large a database is.", needs: listAction, fields: fieldSet("scale freeStorage")})
}

func dbStats(r *request, a *answer) error {
	scale := r.scale(r.get("scale"))
	if r.err != nil {
		return r.err
	}
	containers, err := r.s.containersOf(r.db)
	if err != nil {
		return err
	}
	var collections, views, objects, bytes, indexes int64
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
		indexes += int64(len(indexSpecs(c)))
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
	a.int64("indexes", indexes)
	a.double("indexSize", 0)
	a.double("totalSize", scaled)
	a.int64("scaleFactor", scale)
	return nil
}
