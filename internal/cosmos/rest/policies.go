package rest

import (
	"math"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Policies of a container that are validated, stored and returned. Those for vectors, full text, change feed
// retention and client encryption have no other effect.
var (
	conflictShape = object(
		property{"mode", oneOf("LastWriterWins", "Custom"), false},
		property{"conflictResolutionPath", text, false},
		property{"conflictResolutionProcedure", text, false},
	)
	geospatialShape = object(property{"type", oneOf("Geography", "Geometry"), true})
	computedShape   = list(0, 20, object(
		property{"name", text, true},
		property{"query", text, true},
	))
	vectorShape = object(property{"vectorEmbeddings", list(0, 100, object(
		property{"path", memberPath, true},
		property{"dataType", oneOf("float32", "float16", "uint8", "int8"), true},
		property{"distanceFunction", oneOf("cosine", "euclidean", "dotproduct"), true},
		property{"dimensions", whole(1, 65_536), true},
	)), true})
	fullTextShape = object(
		property{"defaultLanguage", text, false},
		property{"fullTextPaths", list(0, 100, object(
			property{"path", memberPath, true},
			property{"language", text, false},
		)), false},
	)
	feedShape = object(
		property{"retentionDuration", whole(0, math.MaxInt32), false},
	)
	encryptionShape = object(
		property{"includedPaths", list(0, 100, object(
			property{"path", memberPath, true},
			property{"clientEncryptionKeyId", text, true},
			property{"encryptionType", oneOf("Deterministic", "Randomized"), true},
			property{"encryptionAlgorithm", text, true},
		)), true},
		property{"policyFormatVersion", whole(1, 2), false},
	)
)

var (
	defaultConflict = objectOf(doc.With(doc.With(doc.With(nil,
		"mode", doc.String("LastWriterWins")),
		"conflictResolutionPath", doc.String("/_ts")),
		"conflictResolutionProcedure", doc.String("")))
	defaultGeospatial = objectOf(doc.With(nil, "type", doc.String("Geography")))
)

// conflictPolicy fills in the defaults of a conflict resolution policy.
func conflictPolicy(at string, v doc.Value) (doc.Value, error) {
	v, err := conflictShape(at, v)
	if err != nil {
		return v, err
	}
	d, _ := doc.AsDoc(v)
	path := "/_ts"
	if textOf(d, "mode") == "Custom" {
		path = ""
	} else if p := textOf(d, "conflictResolutionPath"); p != "" {
		path = p
	}
	mode := textOf(d, "mode")
	if mode == "" {
		mode = "LastWriterWins"
	}
	kept := doc.With(nil, "mode", doc.String(mode))
	kept = doc.With(kept, "conflictResolutionPath", doc.String(path))
	return doc.Object(doc.With(kept, "conflictResolutionProcedure",
		doc.String(textOf(d, "conflictResolutionProcedure")))), nil
}

// systemNames are names that a computed property cannot have.
var systemNames = []string{"id", "_rid", "_ts", "_self", "_etag", "_attachments"}

// computedProperties checks that names are unique and not those of system properties, and that each query returns a
// single value.
func computedProperties(at string, v doc.Value) (doc.Value, error) {
	v, err := computedShape(at, v)
	if err != nil {
		return v, err
	}
	var names []string
	for element := range doc.Elements(v) {
		d, _ := doc.AsDoc(element)
		name, query := textOf(d, "name"), strings.Fields(strings.ToUpper(textOf(d, "query")))
		switch {
		case name == "" || slices.Contains(systemNames, name) || slices.Contains(names, name):
			return v, fault.New(fault.Invalid, "The computed property name '%s' is invalid. Use a name that is not "+
				"empty, used once, and not a system property.", clip(name))
		case len(query) < 3 || query[0] != "SELECT" || query[1] != "VALUE":
			return v, fault.New(fault.Invalid,
				"The query of the computed property '%s' is invalid. It must begin with SELECT VALUE.", clip(name))
		}
		if tree, err := syntax.Parse(textOf(d, "query")); err != nil {
			return v, err
		} else if tree.Where != nil || tree.GroupBy != nil || tree.OrderBy != nil || tree.Limit != nil ||
			tree.Select.Distinct || tree.Select.Top != nil || len(tree.From) > 1 {
			return v, fault.New(fault.Invalid, "The query of the computed property '%s' is invalid. Use SELECT VALUE "+
				"with an expression, and FROM with one name.", clip(name))
		}
		names = append(names, name)
	}
	return v, nil
}
