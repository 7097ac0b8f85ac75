package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/mongo/schema"
)

func listDatabases(r *request, a *answer) error {
	nameOnly, mine := r.Bool("nameOnly", false), r.Bool("authorizedDatabases", !r.Allowed(account.List, ""))
	accepts, err := compileListFilter(r)
	if err != nil {
		return err
	}
	if !mine {
		if err := r.May(account.List, ""); err != nil {
			return err
		}
	}
	var total uint64
	a.Array("databases")
	for _, d := range schema.Databases(r.Node) {
		if mine && !r.Allowed(account.List, d.Name) {
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

func describeDatabase(r *request, d *catalog.Database, nameOnly bool) (row doc.Doc, size uint64, err error) {
	b := doc.NewWriter(nil)
	b.String("name", d.Name)
	if nameOnly {
		return b.End(), 0, nil
	}
	for _, c := range r.s.o.Catalog.Containers(d) {
		x, err := monitor.SizeOf(&r.Request, c)
		if err != nil {
			return nil, 0, err
		}
		size += x.Bytes
	}
	b.Int64("sizeOnDisk", int64(size))
	b.Bool("empty", false)
	return b.End(), size, nil
}
