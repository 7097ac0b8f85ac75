package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
)

// A containerState is a container as the API shows it: its definition in the form of its own API, and its size.
type containerState struct {
	ID       string `json:"id"`
	Database string `json:"database"`
	Dialect  string `json:"dialect"`
	View     bool   `json:"view,omitempty"` // of MongoDB

	Items uint64 `json:"items"` // living ones
	Bytes uint64 `json:"bytes"` // of their bodies

	DefaultTTL  *int64 `json:"defaultTtl,omitempty"`
	TTLProperty string `json:"ttlPropertyPath,omitempty"`
	Partitions  int    `json:"partitions,omitempty"` // ranges of partition keys; 0 for MongoDB

	Policies

	Options json.RawMessage   `json:"options,omitempty"` // of MongoDB
	Indexes []json.RawMessage `json:"indexes,omitempty"` // of MongoDB

	// Identity is random and stays for as long as the container: two servers may give out the same numbers and stamps.
	Identity string `json:"identity,omitempty"`

	ETag  string `json:"_etag"`
	Stamp int64  `json:"_ts"`

	// What an answer to a change says besides.
	Effect string `json:"effect,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// Policies are the parts of a definition that only the API for NoSQL knows, as it shows them.
type Policies struct {
	PartitionKey             json.RawMessage `json:"partitionKey,omitempty"`
	IndexingPolicy           json.RawMessage `json:"indexingPolicy,omitempty"`
	UniqueKeyPolicy          json.RawMessage `json:"uniqueKeyPolicy,omitempty"`
	ConflictResolutionPolicy json.RawMessage `json:"conflictResolutionPolicy,omitempty"`
	GeospatialConfig         json.RawMessage `json:"geospatialConfig,omitempty"`
	ComputedProperties       json.RawMessage `json:"computedProperties,omitempty"`
	VectorEmbeddingPolicy    json.RawMessage `json:"vectorEmbeddingPolicy,omitempty"`
	FullTextPolicy           json.RawMessage `json:"fullTextPolicy,omitempty"`
	ChangeFeedPolicy         json.RawMessage `json:"changeFeedPolicy,omitempty"`
	ClientEncryptionPolicy   json.RawMessage `json:"clientEncryptionPolicy,omitempty"`
	AnalyticalStorageTTL     json.RawMessage `json:"analyticalStorageTtl,omitempty"`
}

// stateOf asks both APIs for the definition of a container, and counts what is in it.
func (a *admin) stateOf(ctx context.Context, c *catalog.Container) (s containerState, err error) {
	answer, err := a.nosql(ctx, nosqlCall{method: http.MethodGet, steps: stepsOf(c)})
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(answer.body, &s); err != nil {
		return s, err
	}
	s.Database, s.Dialect, s.Identity = c.Database.Name, dialectNoSQL, c.State().Birth
	s.Partitions = len(c.State().Ranges())
	if c.State().Dialect == catalog.Mongo {
		s.Dialect, s.Policies, s.Partitions = dialectMongo, Policies{}, 0
		if err := a.collectionOf(ctx, c, &s); err != nil || s.View {
			return s, err
		}
	}
	s.Items, s.Bytes, err = a.Usage(ctx, c)
	return s, err
}

// collectionOf adds what the API for MongoDB knows of a container.
func (a *admin) collectionOf(ctx context.Context, c *catalog.Container, s *containerState) error {
	answer, err := a.mongo(ctx, s.Database, bson.D{{Key: "listCollections", Value: 1},
		{Key: "filter", Value: bson.D{{Key: "name", Value: c.State().Name}}}})
	if err != nil {
		return err
	}
	page, err := cursorOf(answer)
	if err != nil || len(page.Batch) == 0 {
		return err
	}
	kind, _ := page.Batch[0].Lookup("type").StringValueOK()
	s.View = kind == "view"
	if options, ok := page.Batch[0].Lookup("options").DocumentOK(); ok && len(options) > len(bson.Raw{5, 0, 0, 0, 0}) {
		if s.Options, err = extendedJSON(options, false); err != nil {
			return err
		}
	}
	if s.View {
		return nil
	}
	return a.indexesOf(ctx, c, s)
}

func (a *admin) indexesOf(ctx context.Context, c *catalog.Container, s *containerState) error {
	answer, err := a.mongo(ctx, s.Database, bson.D{{Key: "listIndexes", Value: c.State().Name}})
	if err != nil {
		return err
	}
	page, err := cursorOf(answer)
	if err != nil {
		return err
	}
	for _, index := range page.Batch {
		text, err := extendedJSON(index, false)
		if err != nil {
			return err
		}
		s.Indexes = append(s.Indexes, text)
	}
	return nil
}
