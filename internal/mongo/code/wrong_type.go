package code

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
)

// WrongType says that a field has a type that it must not have. want is the name of a type, or a list in brackets.
func WrongType(field string, v doc.Value, want string) *Error {
	form := "expected type '%s'"
	if list, ok := strings.CutSuffix(want, "]"); ok {
		form, want = "expected types '%s']", list // version 7.0 puts the quote there: src/mongo/idl/idl_parser.cpp
	}
	return New(TypeMismatch, "BSON field '%s' is the wrong type '%s', "+form, field, TypeName(v), want)
}
