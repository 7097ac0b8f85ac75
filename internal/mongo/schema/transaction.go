package schema

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

// mayDefine refuses the commands that make collections and indexes in a transaction with the
// read concern snapshot. What a write makes by itself is allowed.
// mongodb/mongo: jstests/core/txns/commands_in_txns_read_concern.js
func mayDefine(r *Request) error {
	if !r.Transaction.Snapshot {
		return nil
	}
	return code.New(code.InvalidOptions,
		"Command %s does not support { readConcern: { level: \"snapshot\", provenance: \"clientSupplied\" } } :: "+
			"caused by :: read concern not supported", r.Name)
}

// mayIndex refuses indexes of a collection that the transaction has not made, or that has documents.
// mongodb/mongo: src/mongo/db/commands/create_indexes_cmd.cpp
func mayIndex(r *Request, c *catalog.Container) error {
	kind := "existing"
	if r.Transaction.Makes(c) {
		n, err := query.Count(&r.Operation, &query.Selection{Container: c, Limit: 1})
		if n == 0 || err != nil {
			return err
		}
		kind = "non-empty"
	}
	return code.New(code.OperationNotSupportedInTransaction,
		"Cannot create new indexes on %s collection %s.%s in a multi-document "+
			"transaction.", kind, c.Database.Name, c.State().Name)
}
