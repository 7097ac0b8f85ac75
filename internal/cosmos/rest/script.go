package rest

import (
	"context"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/script"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Stored procedures, triggers and user-defined functions: kept and given back
// here, run in procedure.go, trigger.go and udf.go.
var (
	procedures = &named{
		kind: catalog.Procedure, feed: "StoredProcedures", owner: scriptOwner("sprocs"),
		content: scriptContent, system: none, rid: scriptRID(procedureRID),
	}
	triggers = &named{
		kind: catalog.Trigger, feed: "Triggers", owner: scriptOwner("triggers"),
		content: triggerContent, system: none, rid: scriptRID(triggerRID),
	}
	functions = &named{
		kind: catalog.Function, feed: "UserDefinedFunctions", owner: scriptOwner("udfs"),
		content: scriptContent, system: none, rid: scriptRID(functionRID),
	}
)

func scriptOwner(segment string) func(e *exchange) (family, error) {
	return func(e *exchange) (family, error) {
		r := containerRID(e.container)
		return family{
			owner: e.containerOwner(), rid: r, segment: segment,
			links: []link{{"dbs", databaseRID(e.database)}, {"colls", r}},
		}, nil
	}
}

func scriptRID(kind ridType) func(of family, r *catalog.Resource) rid {
	return func(of family, r *catalog.Resource) rid {
		id := of.rid
		id.kind, id.number, id.hasNumber = kind, r.Number, true
		return id
	}
}

// maxScript is the longest body of a script in bytes.
const maxScript = 256 << 10

// scriptContent keeps the body of a script that can be compiled. What else is wrong with it shows when it is run.
func scriptContent(e *exchange, _ family, d doc.Doc, _ *catalog.Resource) (doc.Doc, error) {
	if !present(d, "body") {
		return nil, required("body")
	}
	body, ok := doc.AsString(doc.Lookup(d, "body"))
	if !ok {
		return nil, misshapen("body", "a string, the text of the script")
	}
	if len(body) > maxScript {
		return nil, fault.New(fault.Invalid, "The body of the script has %d bytes, more than the limit of %d. Split the script.", len(body), maxScript)
	}
	ctx, cancel := context.WithTimeout(e.Context(), scriptTime)
	defer cancel()
	if _, err := script.Compile(ctx, textOf(d, "id"), strings.Clone(body)); err != nil {
		return nil, err
	}
	return doc.With(nil, "body", doc.String(body)), nil
}

var (
	triggerType      = oneOf("Pre", "Post")
	triggerOperation = oneOf("All", "Create", "Update", "Delete", "Replace", "Upsert")
)

// triggerContent keeps type and operation as they came, in upper or lower case.
func triggerContent(e *exchange, of family, d doc.Doc, old *catalog.Resource) (doc.Doc, error) {
	kept, err := scriptContent(e, of, d, old)
	if err != nil {
		return nil, err
	}
	for _, m := range []property{{"triggerType", triggerType, true}, {"triggerOperation", triggerOperation, true}} {
		if !present(d, m.name) {
			return nil, required(m.name)
		}
		v := doc.Lookup(d, m.name)
		if _, err := m.shape(m.name, v); err != nil {
			return nil, err
		}
		kept = doc.With(kept, m.name, v)
	}
	return kept, nil
}
