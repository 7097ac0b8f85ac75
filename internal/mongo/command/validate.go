package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/schema"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

var validateFields = call.FieldSet(`full scandata repair metadata background checkBSONConformance
	fixMultikey logDiagnostics enforceFastCount`)

func validate(r *request, a *answer) error {
	name := r.Collection()
	repair := r.Bool("repair", false) || r.Bool("fixMultikey", false)
	if r.Err != nil {
		return r.Err
	}
	if repair {
		return code.Unsupported("validate with repair")
	}
	c, err := query.Existing(&r.Request, name, code.New(code.NamespaceNotFound,
		"Collection '%s.%s' does not exist to validate.", r.DB, name))
	if err != nil {
		return err
	}
	found, err := schema.Validate(&r.Request, c)
	if err != nil {
		return err
	}
	a.String("ns", r.DB+"."+name)
	a.Value("uuid", write.UUIDOf(c))
	a.Count("nInvalidDocuments", found.Invalid)
	a.Count("nNonCompliantDocuments", found.NonCompliant)
	a.Count("nrecords", found.Documents)
	writeKeys(a, schema.Specs(c), found.Keys)
	a.Bool("valid", found.Invalid == 0)
	a.Bool("repaired", false)
	a.Strings("warnings", validationWarnings(found))
	for _, list := range []string{"errors", "extraIndexEntries", "missingIndexEntries", "corruptRecords"} {
		a.Strings(list, nil)
	}
	return nil
}

func validationWarnings(found *schema.Validation) []string {
	if found.NonCompliant == 0 {
		return nil
	}
	return []string{"Detected one or more documents not compliant with the collection's schema. " +
		"Check logs for log id 5363500."}
}

// writeKeys writes how many entries the indexes have.
func writeKeys(a *answer, specs []doc.Doc, counts map[string]int64) {
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
}
