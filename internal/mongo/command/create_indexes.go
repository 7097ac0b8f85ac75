package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/schema"
)

func createIndexes(r *request, a *answer) error {
	name := r.Collection()
	documents := r.Documents("indexes")
	ignoreUnknown := r.Bool("ignoreUnknownIndexOptions", false)
	if r.Err != nil {
		return r.Err
	}
	if len(documents) == 0 {
		return code.New(code.BadValue, "Must specify at least one index to create")
	}
	s := r.schema()
	specs, err := s.ReadIndexes(documents, ignoreUnknown)
	if err != nil {
		return err
	}
	x, err := s.CreateIndexes(name, specs)
	if err != nil {
		return err
	}
	// The answer has the members of Cosmos DB's too where its index is meant (T-76).
	if s.CosmosTTL || slices.ContainsFunc(specs, (*schema.Index).OfStamp) {
		a.String("_t", "CreateIndexesResponse")
	}
	a.Int32("numIndexesBefore", x.Before)
	a.Int32("numIndexesAfter", x.After)
	if x.Built > 0 || x.Created {
		a.Bool("createdCollectionAutomatically", x.Created)
	}
	switch {
	case x.Built == 0:
		a.String("note", "all indexes already exist")
	case x.Built < len(specs):
		a.String("note", "index already exists")
	default:
		s.WriteNote(&a.Writer)
	}
	return nil
}

// schema is the request as one that may change definitions.
func (r *request) schema() *schema.Request {
	return &schema.Request{
		Request: &r.Request, CosmosTTL: r.s.o.CosmosTTL, Expired: r.s.monitor.Requests.Meter.ExpiredByPolicy,
	}
}
