package rest

import (
	"context"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/script"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Stored procedures, triggers and user-defined functions are stored and returned here, and run in procedure.go,
// trigger.go and udf.go.
var (
	procedures = &namedKind{
		kind: catalog.Procedure, feed: "StoredProcedures", owner: scriptOwner("sprocs"),
		content: scriptContent, system: none, rid: scriptRID(procedureRID),
	}
	triggers = &namedKind{
		kind: catalog.Trigger, feed: "Triggers", owner: scriptOwner("triggers"),
		content: triggerContent, system: none, rid: scriptRID(triggerRID),
	}
	functions = &namedKind{
		kind: catalog.Function, feed: "UserDefinedFunctions", owner: scriptOwner("udfs"),
		content: scriptContent, system: none, rid: scriptRID(functionRID),
	}
)

func scriptOwner(segment string) func(e *exchange) (ownerLinks, error) {
	return func(e *exchange) (ownerLinks, error) {
		r := containerRID(e.container)
		return ownerLinks{
			owner: e.containerOwner(), rid: r, segment: segment,
			links: []link{{"dbs", databaseRID(e.database)}, {"colls", r}},
		}, nil
	}
}

func scriptRID(kind ridType) func(of ownerLinks, r *catalog.Resource) rid {
	return func(of ownerLinks, r *catalog.Resource) rid {
		id := of.rid
		id.kind, id.number, id.hasNumber = kind, r.Number, true
		return id
	}
}

// maxScript is the longest body of a script in bytes.
const maxScript = 256 << 10

// scriptContent stores the body of a script if it compiles. Other mistakes in it show when it runs.
func scriptContent(e *exchange, _ ownerLinks, d doc.Doc, _ *catalog.Resource) (doc.Doc, error) {
	if !present(d, "body") {
		return nil, required("body")
	}
	body, ok := doc.AsString(doc.Lookup(d, "body"))
	if !ok {
		return nil, invalidProperty("body", "a string, the text of the script")
	}
	if len(body) > maxScript {
		return nil, fault.New(fault.Invalid,
			"The body of the script has %d bytes, more than the limit of %d. Split the script.", len(body), maxScript)
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

// triggerContent stores type and operation in the letter case in which they were sent.
func triggerContent(e *exchange, of ownerLinks, d doc.Doc, old *catalog.Resource) (doc.Doc, error) {
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
