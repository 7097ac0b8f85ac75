package admin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A collection whose indexes cannot be made is not dropped: it may be another client's.
func TestCreateCollectionDropsNothing(t *testing.T) {
	var sent []string
	a := newAdmin(Options{Mongo: func(_ context.Context, command []byte) ([]byte, error) {
		first, err := bson.Raw(command).IndexErr(0)
		if err != nil {
			return nil, err
		}
		sent = append(sent, first.Key())
		if first.Key() == "createIndexes" {
			return bson.Marshal(bson.D{{Key: "ok", Value: 0.0}, {Key: "code", Value: 67},
				{Key: "errmsg", Value: "no such index"}})
		}
		return bson.Marshal(bson.D{{Key: "ok", Value: 1.0}})
	}})
	head := definitionHead{ID: "c", Options: []byte(`{"validator": {}}`),
		Indexes: []json.RawMessage{[]byte(`{"name": "x", "key": {"a": 1}}`)}}
	err := a.createCollection(t.Context(), "d", head)
	if fault.KindOf(err) != fault.Invalid ||
		!strings.Contains(fault.Message(err), "exists now, without its indexes: no such index") {
		t.Errorf("error %v", err)
	}
	if want := []string{"create", "createIndexes"}; !slices.Equal(sent, want) {
		t.Errorf("commands %v, want %v", sent, want)
	}
}
