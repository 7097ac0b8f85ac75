package plan

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// readHint finds the index that the hint names. scan reports that the hint forbids indexes.
// https://www.mongodb.com/docs/v7.0/reference/method/cursor.hint/
func (p *planner) readHint() (scan bool, err error) {
	var fits func(*access.NamedIndex) bool
	switch hint := p.query.Hint; hint.Type {
	case 0:
		return false, nil
	case bsoncore.TypeString:
		name, _ := doc.AsString(hint)
		fits = func(ix *access.NamedIndex) bool { return ix.Name == name }
	case bsoncore.TypeEmbeddedDocument:
		if doc.Lookup(hint.Data, "$natural").Type != 0 {
			return true, nil
		}
		empty := true
		for range doc.Members(hint.Data) {
			empty = false
		}
		if empty {
			return false, nil
		}
		fits = func(ix *access.NamedIndex) bool { return hasPattern(ix, hint.Data) }
	default:
		return false, code.New(code.FailedToParse, "Hint must be a string or an object")
	}
	for i := range p.indexes {
		ix := &p.indexes[i]
		switch {
		case ix.Hidden || !fits(ix):
		case p.hinted >= 0:
			return false, p.planError(code.IndexNotFound,
				"Hint matched multiple indexes, must hint by index name. Matched: "+
					p.indexes[p.hinted].Name+" and "+ix.Name)
		default:
			p.hinted = i
		}
	}
	if p.hinted < 0 {
		return false, p.planError(code.BadValue, "hint provided does not correspond to an existing index")
	}
	return false, nil
}

func (p *planner) planError(c code.Code, cause string) error {
	return code.New(c, "error processing query: ns=%s planner returned error :: caused by :: %s", p.query.Namespace,
		cause)
}

// hasPattern reports whether an index has the key pattern, such as {a: 1, b: -1} or {"a.$**": 1}.
func hasPattern(ix *access.NamedIndex, pattern doc.Doc) bool {
	i := 0
	for name, v := range doc.Members(pattern) {
		direction, number := doc.AsFloat(v)
		if i == len(ix.Columns) || !number {
			return false
		}
		path := ix.Columns[i].Path
		if ix.Wildcard {
			path = wildcardName(path)
		}
		if name != path || (direction < 0) != ix.Columns[i].Descending {
			return false
		}
		i++
	}
	return i == len(ix.Columns)
}

// wildcardName is MongoDB's notation for all paths below a path.
func wildcardName(path string) string { return strings.TrimPrefix(path+".$**", ".") }
