package rest

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// computed returns the computed properties of a container by name, or nil if it has none.
func computed(st *catalog.State) map[string]*syntax.Query {
	list := doc.Lookup(st.Echo, "computedProperties")
	if !doc.IsArray(list) {
		return nil
	}
	properties := map[string]*syntax.Query{}
	for element := range doc.Elements(list) {
		d, _ := doc.AsDoc(element)
		if tree, err := syntax.Parse(textOf(d, "query")); err == nil && tree.Select.Value != nil {
			properties[strings.Clone(textOf(d, "name"))] = tree
		}
	}
	return properties
}
