package command

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

var validateFields = fieldSet(`full scandata repair metadata background checkBSONConformance fixMultikey logDiagnostics
	enforceFastCount`)

// A validation is what a walk over a container has found.
type validation struct {
	documents    int64
	invalid      int64 // documents that are not valid BSON
	nonCompliant int64 // documents that break the rules of the container
}

func validate(r *request, a *answer) error {
	name := r.collection()
	repair := r.bool("repair", false) || r.bool("fixMultikey", false)
	if r.err != nil {
		return r.err
	}
	if repair {
		return code.Unsupported("validate with repair")
	}
	c, err := existingContainer(r, name, code.New(code.NamespaceNotFound,
		"Collection '%s.%s' does not exist to validate.", r.db, name))
	if err != nil {
		return err
	}
	v, err := r.Enter(c)
	if err != nil {
		return err
	}
	found, err := validateDocuments(r, v)
	if err != nil {
		return err
	}
	a.String("ns", r.db+"."+name)
	a.Value("uuid", write.UUIDOf(c))
	a.Count("nInvalidDocuments", found.invalid)
	a.Count("nNonCompliantDocuments", found.nonCompliant)
	a.Count("nrecords", found.documents)
	if err := validateIndexes(r, a, v, found); err != nil {
		return err
	}
	a.Bool("valid", found.invalid == 0)
	a.Bool("repaired", false)
	a.Strings("warnings", found.warnings())
	for _, list := range []string{"errors", "extraIndexEntries", "missingIndexEntries", "corruptRecords"} {
		a.Strings(list, nil)
	}
	return nil
}

func (f *validation) warnings() []string {
	if f.nonCompliant == 0 {
		return nil
	}
	return []string{"Detected one or more documents not compliant with the collection's schema. Check logs for log id 5363500."}
}

// validateDocuments reads every document.
func validateDocuments(r *request, v catalog.View) (*validation, error) {
	rules, err := write.RulesOf(r.Node, v.Container)
	if err != nil {
		return nil, err
	}
	var scope *expression.Scope
	if rules != nil {
		scope = rules.Scope(&r.Operation)
	}
	found := &validation{}
	for d, err := range r.Scan(v, access.Access{}) {
		if err != nil {
			return nil, err
		}
		found.documents++
		if bsoncore.Document(d.Body).Validate() != nil {
			found.invalid++
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
			found.nonCompliant++
		}
	}
	return found, nil
}

// validateIndexes reads every index that is complete, and writes how many entries it has.
func validateIndexes(r *request, a *answer, v catalog.View, found *validation) error {
	indexes, err := r.s.o.Store.Named(v)
	if err != nil {
		return err
	}
	if v.Dialect != catalog.Mongo {
		indexes = nil
	}
	counts := map[string]int64{"_id_": found.documents}
	for _, x := range indexes {
		var stats access.Stats
		for _, err := range r.Scan(v, access.Access{Of: &access.IndexScans{{Index: x.Index}}, Stats: &stats}) {
			if err != nil {
				return err
			}
		}
		counts[x.Name] = int64(stats.Keys)
	}
	specs := indexSpecs(v.Container)
	a.Int32("nIndexes", len(specs))
	a.Object("keysPerIndex")
	for _, spec := range specs {
		name, _ := doc.AsString(doc.Lookup(spec, "name"))
		if n, complete := counts[name]; complete {
			a.Count(name, n)
		}
	}
	a.Close()
	a.Object("indexDetails")
	for _, spec := range specs {
		name, _ := doc.AsString(doc.Lookup(spec, "name"))
		a.Object(name)
		a.Bool("valid", true)
		a.Close()
	}
	a.Close()
	return nil
}
