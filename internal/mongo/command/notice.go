package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

// created tells change streams of a container that was made.
func (r *request) created(c *catalog.Container) error { return nil }

func isNotFound(err error) bool { return fault.KindOf(err) == fault.NotFound }

func isExists(err error) bool { return fault.KindOf(err) == fault.Exists }
