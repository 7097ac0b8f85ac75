package schema

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// A Validation is what a walk over a container has found.
type Validation struct {
	Documents    int64
	Invalid      int64            // documents that are not valid BSON
	NonCompliant int64            // documents that break the rules of the container
	Keys         map[string]int64 // by index; one that is not complete is missing
}

// Validate reads every document and every index of a container.
func Validate(r *call.Request, c *catalog.Container) (*Validation, error) {
	v, err := r.Enter(c)
	if err != nil {
		return nil, err
	}
	found, err := validateDocuments(r, v)
	if err != nil {
		return nil, err
	}
	return found, countKeys(r, v, found)
}

// validateDocuments reads every document.
func validateDocuments(r *call.Request, v catalog.View) (*Validation, error) {
	rules, err := write.RulesOf(r.Node, v.Container)
	if err != nil {
		return nil, err
	}
	var scope *expression.Scope
	if rules != nil {
		scope = rules.Scope(&r.Operation)
	}
	found := &Validation{}
	for d, err := range r.Scan(v, access.Access{}) {
		if err != nil {
			return nil, err
		}
		found.Documents++
		if bsoncore.Document(d.Body).Validate() != nil {
			found.Invalid++
			continue
		}
		if rules == nil {
			continue
		}
		ok, err := rules.Obeyed(d.Body, scope)
		if err != nil {
			return nil, err
		}
		if !ok {
			found.NonCompliant++
		}
	}
	return found, nil
}

// countKeys reads every index that is complete, and counts its entries.
func countKeys(r *call.Request, v catalog.View, found *Validation) error {
	indexes, err := r.Node.Store.Named(r.Context, v)
	if err != nil {
		return err
	}
	if v.Dialect != catalog.Mongo {
		indexes = nil
	}
	found.Keys = map[string]int64{"_id_": found.Documents}
	for _, x := range indexes {
		var stats access.Stats
		for _, err := range r.Scan(v, access.Access{Of: &access.IndexScans{{Index: x.Index}}, Stats: &stats}) {
			if err != nil {
				return err
			}
		}
		found.Keys[x.Name] = int64(stats.Keys)
	}
	return nil
}
