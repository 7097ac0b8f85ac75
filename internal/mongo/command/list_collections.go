package command

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/mongo/schema"
)

func listCollections(r *request, a *answer) error {
	nameOnly := r.Bool("nameOnly", false)
	r.Bool("authorizedCollections", false)
	accepts, err := compileListFilter(r)
	if err != nil {
		return err
	}
	size := r.BatchSize("cursor", doc.Lookup(r.Document("cursor"), "batchSize"), maxBatchCount)
	if r.Err != nil {
		return r.Err
	}
	containers, err := schema.Containers(r.Node, r.DB)
	if err != nil {
		return err
	}
	var all, rows []doc.Doc
	for _, c := range containers {
		all = append(all, schema.Describe(c, nameOnly))
	}
	if r.s.monitor.Profiler.Has(r.DB, account.ProfileContainer) {
		all = append(all, monitor.DescribeProfile(nameOnly))
	}
	all = append(all, r.localCollections(nameOnly)...)
	for _, row := range all {
		ok, err := accepts(row)
		if err != nil {
			return err
		}
		if ok {
			rows = append(rows, row)
		}
	}
	return r.reply(a, r.DB+".$cmd.listCollections", &listed{documents: rows}, size, nil)
}

// compileListFilter compiles the member filter of a command that lists containers or databases; without one, everything
// passes.
func compileListFilter(r *request) (func(doc.Doc) (bool, error), error) {
	query := bytes.Clone(r.Document("filter"))
	if r.Err != nil {
		return nil, r.Err
	}
	if doc.IsEmpty(query) {
		return func(doc.Doc) (bool, error) { return true, nil }, nil
	}
	f, err := filter.Compile(query, filter.Options{Meter: r.Work()})
	if err != nil {
		return nil, err
	}
	scope := r.Scope(nil, nil)
	return func(d doc.Doc) (bool, error) {
		scope.Reset(doc.Object(d))
		return f.Match(d, scope)
	}, nil
}
