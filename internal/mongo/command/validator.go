package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
)

// validator is the check that a container's documents must pass, nil when there is none.
func (r *request) validator(c *catalog.Container) (func(doc.Doc) error, error) { return nil, nil }
