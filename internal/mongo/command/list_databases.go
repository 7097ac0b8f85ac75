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
	accepts, err := compileListFilter(r)
	if err != nil {
		return err
	}
	if !mine {
		if err := r.may(account.List, ""); err != nil {
			return err
		}
	}
	var total uint64
	a.Array("databases")
	for _, d := range r.s.databases() {
		if mine && !r.allowed(account.List, d.Name) {
			continue
		}
		row, size, err := describeDatabase(r, d, nameOnly)
		if err != nil {
			return err
		}
		ok, err := accepts(row)
		if err != nil {
			return err
		}
		if ok {
			total += size
			a.Element(row)
		}
	}
	a.Close()
	if nameOnly {
		return nil
	}
	a.Int64("totalSize", int64(total))
	a.Int64("totalSizeMb", int64(total>>20))
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

func describeDatabase(r *request, d *catalog.Database, nameOnly bool) (row doc.Doc, size uint64, err error) {
	b := doc.NewWriter(nil)
	b.String("name", d.Name)
	if nameOnly {
		return b.End(), 0, nil
	}
	for _, c := range r.s.o.Catalog.Containers(d) {
		x, err := sizeOfContainer(r, c)
		if err != nil {
			return nil, 0, err
		}
		size += x.Bytes
	}
	b.Int64("sizeOnDisk", int64(size))
	b.Bool("empty", false)
	return b.End(), size, nil
}
