package command

import (
	"cmp"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
)

func listDatabases(r *request, a *answer) error {
	nameOnly, mine := r.bool("nameOnly", false), r.bool("authorizedDatabases", !r.allowed(account.List, ""))
	accepts, err := r.listFilter()
	if err != nil {
		return err
	}
	if !mine {
		if err := r.may(account.List, ""); err != nil {
			return err
		}
	}
	var total uint64
	a.array("databases")
	for _, d := range r.s.databases() {
		if mine && !r.allowed(account.List, d.Name) {
			continue
		}
		row, size, err := r.describeDatabase(d, nameOnly)
		if err != nil {
			return err
		}
		ok, err := accepts(row)
		if err != nil {
			return err
		}
		if ok {
			total += size
			a.element(row)
		}
	}
	a.close()
	if nameOnly {
		return nil
	}
	a.int64("totalSize", int64(total))
	a.int64("totalSizeMb", int64(total>>20))
	return nil
}

// databases lists the databases that have containers, by name. In MongoDB an empty database does not exist.
func (s *Server) databases() []*catalog.Database {
	list := slices.DeleteFunc(s.o.Catalog.Databases(), func(d *catalog.Database) bool {
		return len(s.o.Catalog.Containers(d)) == 0
	})
	slices.SortFunc(list, func(x, y *catalog.Database) int { return cmp.Compare(x.Name, y.Name) })
	return list
}

func (r *request) describeDatabase(d *catalog.Database, nameOnly bool) (row doc.Doc, size uint64, err error) {
	b := newAnswer(nil)
	b.string("name", d.Name)
	if nameOnly {
		return b.end(), 0, nil
	}
	for _, c := range r.s.o.Catalog.Containers(d) {
		x, err := r.sizeOf(c)
		if err != nil {
			return nil, 0, err
		}
		size += x.Bytes
	}
	b.int64("sizeOnDisk", int64(size))
	b.bool("empty", false)
	return b.end(), size, nil
}
