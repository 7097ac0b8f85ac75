package rest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/kv/memory"
)

// TestBulkWaitsOnce counts how often a bulk request waits for the disk: once, however many operations it has.
func TestBulkWaitsOnce(t *testing.T) {
	engine := &kvtest.SyncCounter{Engine: memory.New()}
	d := newTestAPIOn(t, engine)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash"}}`).want(201)
	operations := func(verb string, ids ...int) string {
		var list []string
		for _, id := range ids {
			list = append(list, fmt.Sprintf(`{"operationType":%q,"partitionKey":"[\"a\"]","id":"%d",
				"resourceBody":{"id":"%[2]d","pk":"a"}}`, verb, id))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	bulk := func(body string, headers ...string) answer {
		return d.do("POST", documents, body, append(headers, "x-ms-cosmos-is-batch-request", "True",
			"x-ms-cosmos-batch-atomic", "False", "x-ms-documentdb-partitionkeyrangeid", "0")...)
	}
	inOrder := []string{"x-ms-cosmos-batch-continue-on-error", "False"}
	engine.Forget()
	bulk(operations("Create", 1, 2, 3)).want(200)
	engine.Want(t, "creates", 0, 3, true)
	bulk(operations("Upsert", 2, 3, 4), inOrder...).want(200)
	engine.Want(t, "upserts in order", 0, 3, true)
	bulk(operations("Create", 5, 1, 6), inOrder...).want(207)
	engine.Want(t, "a create, then a conflict", 0, 1, true)
	bulk(operations("Read", 1, 2)).want(200)
	engine.Want(t, "reads", 0, 0, false)
	engine.Err = fault.Wrap(fault.Undetermined, errors.New("broken"), "The disk failed.")
	if a := bulk(operations("Create", 7, 8)); a.status < 400 || strings.Contains(a.text, "statusCode") {
		t.Errorf("creates that may be lost are acknowledged: %d %s", a.status, a.text)
	}
}
