package rest

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits of an indexing policy.
const (
	maxIndexPaths       = 1000
	maxCompositeIndexes = 100
	maxCompositePaths   = 8
)

// everything is the path of all properties. etagPath is the path that the service excludes from every index.
const (
	everything = "/*"
	etagPath   = `/"_etag"/?`
)

var indexingShape = object(
	property{"indexingMode", oneOf("consistent", "lazy", "none"), false},
	property{"automatic", boolean, false},
	property{"includedPaths", list(0, maxIndexPaths, includedPath), false},
	property{"excludedPaths", list(0, maxIndexPaths, object(
		property{"path", indexPath, true},
	)), false},
	property{"compositeIndexes", list(0, maxCompositeIndexes, list(2, maxCompositePaths, object(
		property{"path", elementPath, true},
		property{"order", oneOf("ascending", "descending"), false},
	))), false},
	property{"spatialIndexes", list(0, 100, spatialIndex), false},
	property{"vectorIndexes", list(0, 100, object(
		property{"path", memberPath, true},
		property{"type", oneOf("flat", "quantizedFlat", "diskANN"), true},
		property{"quantizationByteSize", whole(1, 512), false},
		property{"indexingSearchListSize", whole(10, 500), false},
		property{"vectorIndexShardKey", list(0, 10, memberPath), false},
		property{"quantizerType", text, false},
	)), false},
	property{"fullTextIndexes", list(0, 100, object(
		property{"path", memberPath, true},
	)), false},
)

var includedShape = object(
	property{"path", indexPath, true},
	property{"indexes", list(0, 10, object(
		property{"kind", oneOf("Hash", "Range", "Spatial"), true},
		property{"dataType", oneOf("String", "Number", "Point", "Polygon", "LineString", "MultiPolygon"), false},
		property{"precision", whole(-1, 100), false},
	)), false},
)

// includedPath drops the index kinds that old clients send: every path has the same kind of index, and the service
// has not returned kinds since API version 2018-09-17.
func includedPath(at string, v doc.Value) (doc.Value, error) {
	v, err := includedShape(at, v)
	if err != nil {
		return v, err
	}
	d, _ := doc.AsDoc(v)
	return pathObject(textOf(d, "path")), nil
}

var spatialTypes = []string{"Point", "LineString", "Polygon", "MultiPolygon"}

var spatialShape = object(
	property{"path", indexPath, true},
	property{"types", list(0, 10, oneOf(spatialTypes...)), false},
	property{"boundingBox", object(
		property{"xmin", anyNumber, true}, property{"ymin", anyNumber, true},
		property{"xmax", anyNumber, true}, property{"ymax", anyNumber, true},
	), false},
)

// spatialIndex expands a list of spatial types to all types, because the service indexes all of them or none.
func spatialIndex(at string, v doc.Value) (doc.Value, error) {
	v, err := spatialShape(at, v)
	if err != nil {
		return v, err
	}
	d, _ := doc.AsDoc(v)
	path := textOf(d, "path")
	if len(elements(d, "types")) == 0 {
		return v, fault.New(fault.Invalid, "The spatial data types array cannot be empty. Assign at least one spatial "+
			"type for the 'types' array for the path '%s'.", clip(path))
	}
	var types []doc.Value
	for _, name := range spatialTypes {
		types = append(types, doc.String(name))
	}
	kept := doc.With(doc.With(nil, "path", doc.String(path)), "types", arrayOf(types...))
	if present(d, "boundingBox") {
		kept = doc.With(kept, "boundingBox", doc.Lookup(d, "boundingBox"))
	}
	return doc.Object(kept), nil
}

var (
	errNoRoot = fault.New(fault.Invalid, "The special mandatory indexing path \"/\" is not provided in any of the "+
		"path type sets. Please provide this path in one of the sets.")
	errAuto = fault.New(fault.Invalid,
		"The indexing mode 'none' cannot be used when 'automatic' is true. Set automatic to false.")
)

// indexingPolicy checks a policy and fills in the defaults. Lazy is accepted and treated as consistent.
func indexingPolicy(at string, v doc.Value) (doc.Value, error) {
	v, err := indexingShape(at, v)
	if err != nil {
		return v, err
	}
	d, _ := doc.AsDoc(v)
	none := textOf(d, "indexingMode") == "none"
	automatic, told := doc.AsBool(doc.Lookup(d, "automatic"))
	if none && told && automatic {
		return v, errAuto
	}
	kept := doc.With(nil, "indexingMode", doc.String(modeOf(d)))
	kept = doc.With(kept, "automatic", doc.Bool(!none && (automatic || !told)))
	if kept, err = addPaths(kept, d, none); err != nil {
		return v, err
	}
	for name, value := range doc.Members(d) {
		if doc.IsUndefined(doc.Lookup(kept, name)) {
			kept = doc.With(kept, name, value)
		}
	}
	return doc.Object(kept), nil
}

func modeOf(d doc.Doc) string {
	if textOf(d, "indexingMode") == "none" {
		return "none"
	}
	return "consistent"
}

// addPaths adds included and excluded paths. One of them must be the root. The service includes the root if the
// client includes nothing, and always excludes _etag.
func addPaths(kept, d doc.Doc, none bool) (doc.Doc, error) {
	included, excluded := elements(d, "includedPaths"), elements(d, "excludedPaths")
	if !none {
		if !names(included, everything) && !names(excluded, everything) {
			if present(d, "includedPaths") && len(included) > 0 {
				return nil, errNoRoot
			}
			included = append(included, pathObject(everything))
		}
		if !names(included, etagPath) && !names(excluded, etagPath) {
			excluded = append(excluded, pathObject(etagPath))
		}
	}
	kept = doc.With(kept, "includedPaths", arrayOf(included...))
	return doc.With(kept, "excludedPaths", arrayOf(excluded...)), nil
}

func elements(d doc.Doc, name string) []doc.Value {
	return slices.Collect(doc.Elements(doc.Lookup(d, name)))
}

func names(paths []doc.Value, path string) bool {
	return slices.Contains(pathsOf(paths), path)
}

// pathsOf is the member `path` of each object.
func pathsOf(objects []doc.Value) (paths []string) {
	for _, o := range objects {
		d, _ := doc.AsDoc(o)
		paths = append(paths, textOf(d, "path"))
	}
	return paths
}

func pathObject(path string) doc.Value {
	return doc.Object(doc.With(nil, "path", doc.String(path)))
}

// indexingOf converts a checked policy to the catalog's form.
func indexingOf(d doc.Doc) catalog.Indexing {
	x := catalog.Indexing{
		None:     textOf(d, "indexingMode") == "none",
		Included: pathsOf(elements(d, "includedPaths")),
		Excluded: pathsOf(elements(d, "excludedPaths")),
	}
	for _, index := range elements(d, "compositeIndexes") {
		var columns []catalog.CompositePath
		for column := range doc.Elements(index) {
			c, _ := doc.AsDoc(column)
			columns = append(columns, catalog.CompositePath{Path: textOf(c, "path"), Descending: textOf(c,
				"order") == "descending"})
		}
		x.Composite = append(x.Composite, columns)
	}
	return x
}
