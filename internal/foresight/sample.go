package foresight

import (
	"context"
	"encoding/json"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Sample names a document that a policy ends.
type Sample struct {
	Identity
	Deadline Instant `json:"deadline"`
}

// An Identity is what tells a document apart, as JSON: its id and partition key, or its _id in relaxed extended JSON.
type Identity struct {
	ID           string            `json:"id,omitempty"`
	PartitionKey []json.RawMessage `json:"partitionKey,omitempty"` // absent values are {}
	MongoID      json.RawMessage   `json:"_id,omitempty"`
}

// maxIdentity is how many bytes of an _id or of a value of a partition key an answer repeats.
const maxIdentity = 1 << 10

func identityOf(st *catalog.State, body doc.Doc) (id Identity) {
	if !st.Identity().Partitioned() {
		id.MongoID = identityValue(st.Identity().Value(body))
		return id
	}
	text, _ := doc.AsString(st.Identity().Value(body))
	id.ID = string(append([]byte(nil), text...)) // the body belongs to the engine
	for _, path := range st.PartitionPaths() {
		v := path.Lookup(body)
		if doc.IsUndefined(v) {
			id.PartitionKey = append(id.PartitionKey, json.RawMessage("{}"))
			continue
		}
		id.PartitionKey = append(id.PartitionKey, identityValue(v))
	}
	return id
}

func identityValue(v doc.Value) json.RawMessage {
	text := doc.AppendJSONValue(nil, v)
	if len(text) > maxIdentity {
		return json.RawMessage(`"(too long to show)"`)
	}
	return text
}

// samplesOf reads the documents of samples.
func samplesOf(ctx context.Context, o *store.Outlook, q *expiry.Policy, numbers []uint64) ([]Sample, error) {
	list := []Sample{}
	for _, number := range numbers {
		err := o.Document(ctx, number, func(d access.Document) error {
			s := Sample{Identity: identityOf(o.View.State, d.Body)}
			at, _ := q.Deadline(expiry.Document{
				Wrote: d.Version.Stamp, TTL: d.TTL, Sequence: d.Version.Sequence, Body: d.Body,
			})
			s.Deadline = At(at)
			list = append(list, s)
			return nil
		})
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return nil, err
		}
	}
	return list, nil
}
