package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func typeName(v doc.Value) string { return code.TypeName(v) }

func show(v doc.Value) string { return code.Show(v) }
