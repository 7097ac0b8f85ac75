package update

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Limits of a stored document.
const (
	MaxBytes = 16 << 20 // maxBsonObjectSize
	MaxDepth = 100      // levels of members; {a: {b: 1}} has two
)

// Check returns an error if a document may not be stored because of its size, its depth or its _id. It allows names at
// the root that begin with $; the caller refuses them where MongoDB does. Errors are *code.Error: 17420, Overflow,
// InvalidIDField and DollarPrefixedFieldName.
func Check(d doc.Doc) error {
	if len(d) > MaxBytes {
		return code.New(17420, "Document to upsert is larger than %d", MaxBytes)
	}
	if depthOf(doc.Object(d)) > MaxDepth {
		return tooDeep()
	}
	return CheckID(doc.Lookup(d, idName))
}

// CheckID returns an error if a value may not be an _id. Undefined, which stands for no _id, may.
func CheckID(id doc.Value) error {
	switch id.Type {
	case bsoncore.TypeArray, bsoncore.TypeRegex, bsoncore.TypeUndefined:
		return code.New(code.InvalidIDField, "The '_id' value cannot be of type %s", code.TypeName(id))
	case bsoncore.TypeEmbeddedDocument:
		for name := range doc.Members(id.Data) {
			if strings.HasPrefix(name, "$") {
				return code.New(code.DollarPrefixedFieldName, "_id fields may not contain '$'-prefixed fields: "+
					"The dollar ($) prefixed field '%s' in '%s' is not valid for storage.", name, name)
			}
		}
	}
	return nil
}

func tooDeep() error {
	return code.New(code.Overflow, "Document exceeds maximum nesting depth of %d", MaxDepth)
}

// depthOf counts the levels of members below a value, up to one more than MaxDepth.
func depthOf(v doc.Value) int { return depthWithin(v, MaxDepth+1) }

func depthWithin(v doc.Value, levels int) int {
	if levels == 0 || v.Type != bsoncore.TypeEmbeddedDocument && v.Type != bsoncore.TypeArray {
		return 0
	}
	deepest := 0
	for _, m := range doc.Members(v.Data) {
		if deepest == 0 {
			deepest = 1
		}
		if m.Type == bsoncore.TypeEmbeddedDocument || m.Type == bsoncore.TypeArray {
			deepest = max(deepest, 1+depthWithin(m, levels-1))
		}
	}
	return deepest
}

// checkDollarNames refuses names at the root that begin with $, except those of a DBRef: $ref, $id and optionally $db,
// in this order.
// https://www.mongodb.com/docs/v7.0/core/dot-dollar-considerations/
func checkDollarNames(d doc.Doc) error {
	before := ""
	pending := false // after $ref, which $id has to follow
	for name, v := range doc.Members(d) {
		if pending && name != "$id" {
			break
		}
		pending = false
		switch {
		case !strings.HasPrefix(name, "$"):
		case name == "$ref":
			if v.Type != bsoncore.TypeString {
				return code.New(code.InvalidDBRef, "The DBRef $ref field must be a String, not a %s", code.TypeName(v))
			}
			pending = true
		case name == "$id":
			if before != "$ref" {
				return code.New(code.InvalidDBRef, "Found $id field without a $ref before it, which is invalid.")
			}
		case name == "$db":
			if v.Type != bsoncore.TypeString {
				return code.New(code.InvalidDBRef, "The DBRef $db field must be a String, not a %s", code.TypeName(v))
			}
			if before != "$id" {
				return code.New(code.InvalidDBRef, "Found $db field without a $id before it, which is invalid.")
			}
		default:
			return code.New(code.DollarPrefixedFieldName,
				"The dollar ($) prefixed field '%s' in '%s' is not allowed in the context of "+
					"an update's replacement document. Consider using an aggregation pipeline with $replaceWith.", name,
				name)
		}
		before = name
	}
	if pending {
		return code.New(code.InvalidDBRef, "The DBRef $ref field must be followed by a $id field")
	}
	return nil
}
